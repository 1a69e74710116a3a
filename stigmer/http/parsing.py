"""The strict parser: bytes to a typed body, or the first fault with its place."""

from __future__ import annotations

import json
import math
import re
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

import msgspec
from django.http import HttpRequest

from stigmer.core.errors import ActorNotAccepted, InvalidRequest
from stigmer.http.errors import BodyTooLarge, LengthRequired, UnsupportedMediaType
from stigmer.http.fields import UnsetType
from stigmer.http.schemas import ACTOR_FIELDS

MAX_DEPTH = 32
MAX_NUMBER = 2**53 - 1
Schema = TypeVar("Schema")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>\$.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"^Object (contains unknown|missing required) field `(.*)`$", re.DOTALL)


def _fail(detail: str, pointer: str = "", fault: str = "invalid") -> NoReturn:
    raise InvalidRequest(detail, pointer=pointer, fault=fault)


# Bytes --------------------------------------------------------------------------------------------


def read_json(request: HttpRequest, limit: int) -> Any:
    """The body of at most `limit` bytes as plain data; refused while reading when it is larger.

    Raises LengthRequired, BodyTooLarge, UnsupportedMediaType, InvalidRequest.
    """
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isascii() or not length.isdigit():
        raise LengthRequired("a body needs a Content-Length")
    if int(length) > limit:
        raise BodyTooLarge(f"the body is larger than {limit} bytes", limit=limit)
    if request.content_type != "application/json":
        raise UnsupportedMediaType("send the body as application/json")
    if request.content_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType("send the body as application/json in UTF-8")
    return loads(request.read(int(length)))


def loads(raw: bytes) -> Any:
    """JSON as plain data: no duplicate key, no NaN, no NUL, no lone surrogate, at most 32 deep.

    Raises InvalidRequest.
    """
    _check_depth(raw)
    try:
        data = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except UnicodeDecodeError:
        _fail("the body is not valid UTF-8", fault="not_utf8")
    except ValueError as cause:
        _fail(f"the body is not valid JSON: {cause}", fault="not_json")
    # Only an escape can bring a NUL or a surrogate past the decoder.
    if b"\\u" in raw:
        check_characters(data)
    return data


def _check_depth(raw: bytes) -> None:
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH:
        return
    depth = 0
    for byte in _STRING.sub(b"", raw):
        if byte in b"{[":
            depth += 1
            if depth > MAX_DEPTH:
                _fail(f"more than {MAX_DEPTH} nested containers", fault="too_deep")
        elif byte in b"}]":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                shown = key.encode("ascii", "backslashreplace").decode()
                _fail(f"the key {shown!r} appears twice", _pointer(shown), "duplicate_key")
            seen.add(key)
    return found


def _constant(name: str) -> NoReturn:
    _fail(f"{name} is not a JSON number", fault="number_out_of_range")


def _integer(digits: str) -> int:
    if len(digits) > 17 or not -MAX_NUMBER <= (number := int(digits)) <= MAX_NUMBER:
        _fail("an integer is beyond ±(2^53−1)", fault="number_out_of_range")
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number) or abs(number) > MAX_NUMBER:
        _fail("a number is beyond ±(2^53−1)", fault="number_out_of_range")
    return number


def check_characters(data: Any, path: tuple[str, ...] = ()) -> None:
    """Refuse NUL and lone surrogates in any key or text, naming the place.

    Raises InvalidRequest.
    """
    if isinstance(data, str):
        if "\x00" in data or any("\ud800" <= character <= "\udfff" for character in data):
            _fail("a text has a NUL or a lone surrogate", "/".join(("", *path)), "not_utf8")
    elif isinstance(data, dict):
        for key, value in data.items():
            shown = key.encode("ascii", "backslashreplace").decode()
            check_characters(key, (*path, _escape(shown)))
            check_characters(value, (*path, _escape(shown)))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            check_characters(value, (*path, str(place)))


# Types --------------------------------------------------------------------------------------------


def convert(data: Any, schema: type[Schema]) -> Schema:
    """Plain data as a typed body. An empty text for an optional text or enum means absent.

    Raises ActorNotAccepted, before any other fault of the fields, and InvalidRequest.
    """
    if isinstance(data, dict):
        refuse_actor(data)
        data = _without_blanks(data, schema)
    try:
        body = msgspec.convert(data, schema, strict=True)
    except msgspec.ValidationError as error:
        raise fault_of(str(error)) from None
    check_rules(body)
    return body


def refuse_actor(data: Mapping[str, Any]) -> None:
    """Refuse a body that names who acts. Raises ActorNotAccepted."""
    for field in ACTOR_FIELDS:
        if field in data:
            raise ActorNotAccepted(
                f"{field} is not accepted: who acts is who is authenticated", field=field
            )


def fault_of(message: str) -> InvalidRequest:
    """What msgspec says of a value, as our refusal with its place."""
    match = _PLACE.match(message)
    assert match is not None
    what, path = match["what"], match["path"] or "$"
    pointer = "".join(
        _pointer(part)
        for part in re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", path)
        for part in part
        if part
    )
    field = _FIELD.match(what)
    if field is None:
        return InvalidRequest(what.replace("`", ""), pointer=pointer, fault="wrong_type")
    name = field[2]
    if field[1].startswith("missing"):
        return InvalidRequest(
            f"{name} is required", pointer=pointer + _pointer(name), fault="missing"
        )
    return InvalidRequest(
        f"{name!r} is not a field of this request",
        pointer=pointer + _pointer(name),
        fault="unknown_field",
    )


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _pointer(part: str) -> str:
    return f"/{_escape(part)}"


class _Plan(typing.NamedTuple):
    blanks: frozenset[str]
    rules: tuple[tuple[str, Any], ...]
    nested: tuple[tuple[str, type[Any]], ...]


@lru_cache(maxsize=512)
def plan(schema: type[Any]) -> _Plan:
    """What a struct's fields ask for beyond their types, worked out once."""
    blanks, rules, nested = set(), [], []
    for name, hint in typing.get_type_hints(schema, include_extras=True).items():
        options = _options(hint)
        if UnsetType in options and any(_is_text(option) for option in options):
            blanks.add(name)
        for option in options:
            for extra in getattr(option, "__metadata__", ()):
                if isinstance(extra, msgspec.Meta) and (extra.extra or {}).get("rule"):
                    rules.append((name, (extra.extra or {})["rule"]))
            if isinstance(option, type) and issubclass(option, msgspec.Struct):
                nested.append((name, option))
    return _Plan(frozenset(blanks), tuple(rules), tuple(nested))


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, type(int | str)):
        return tuple(inner for option in typing.get_args(hint) for inner in _options(option))
    return (hint,)


def _is_text(option: Any) -> bool:
    if typing.get_origin(option) is typing.Literal:
        return True
    bare = getattr(option, "__origin__", option) if hasattr(option, "__metadata__") else option
    return isinstance(bare, type) and issubclass(bare, str)


def _without_blanks(data: dict[str, Any], schema: Any) -> dict[str, Any]:
    if not (isinstance(schema, type) and issubclass(schema, msgspec.Struct)):
        return data
    found = plan(schema)
    kept = {k: v for k, v in data.items() if not (v == "" and k in found.blanks)}
    for name, inner in found.nested:
        if isinstance(kept.get(name), dict):
            kept[name] = _without_blanks(kept[name], inner)
    return kept


def check_rules(body: Any, at: str = "") -> None:
    """Apply the text rules of a struct and of the structs in it. Raises InvalidRequest."""
    found = plan(type(body))
    for name, rule in found.rules:
        value = getattr(body, name)
        if isinstance(value, str):
            rule(value, f"{at}/{name}")
    for name, _ in found.nested:
        value = getattr(body, name)
        if isinstance(value, msgspec.Struct):
            check_rules(value, f"{at}/{name}")
