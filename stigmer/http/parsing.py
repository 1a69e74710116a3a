"""The strict parser: a request's body as a typed value, or the first fault with its place."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest

from stigmer.core.errors import ActorNotAccepted, InvalidRequest
from stigmer.http.errors import BodyTooLarge, LengthRequired, UnsupportedMediaType
from stigmer.http.fields import UNSET, UnsetType
from stigmer.http.json_text import check_characters, loads, step
from stigmer.http.schemas import ACTOR_FIELDS

__all__ = ["check_characters", "check_rules", "convert", "fault_of", "loads", "read_json"]

Schema = TypeVar("Schema")
Rule = Callable[[Any, str], Any]
_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>\$.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"^Object (contains unknown|missing required) field `(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def read_json(request: HttpRequest, limit: int) -> Any:
    """The body of at most `limit` bytes as plain data; a larger one is refused unread.

    Raises LengthRequired, BodyTooLarge, UnsupportedMediaType, InvalidRequest.
    """
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isascii() or not length.isdigit():
        raise LengthRequired("a body needs a Content-Length")
    # Python itself refuses to read a number of thousands of digits.
    if len(length) > 18 or int(length) > limit:
        raise BodyTooLarge(f"the body is larger than {limit} bytes", limit=limit)
    if request.content_type != "application/json":
        raise UnsupportedMediaType("send the body as application/json")
    charset = (request.content_params or {}).get("charset", "utf-8")
    if charset.lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType("send the body as application/json in UTF-8")
    return loads(request.read(int(length)))


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
    pointer = "".join(step(field or place) for field, place in _STEP.findall(path))
    field = _FIELD.match(what)
    if field is None:
        return InvalidRequest(what.replace("`", ""), pointer=pointer, fault="wrong_type")
    name = field[2]
    if field[1] == "missing required":
        return InvalidRequest(f"{name} is required", pointer=pointer + step(name), fault="missing")
    detail = f"{name!r} is not a field of this request"
    return InvalidRequest(detail, pointer=pointer + step(name), fault="unknown_field")


# What a type asks for beyond what msgspec checks --------------------------------------------------


class _Shape(typing.NamedTuple):
    rules: tuple[Rule, ...] = ()
    struct: type[msgspec.Struct] | None = None
    inner: _Shape | None = None


class _Plan(typing.NamedTuple):
    blanks: frozenset[str]
    shapes: tuple[tuple[str, _Shape], ...]


@lru_cache(maxsize=512)
def plan(schema: Any) -> _Plan:
    """What a struct's fields ask for beyond their types, worked out once."""
    hints = typing.get_type_hints(schema, include_extras=True)
    shapes = [(name, shape) for name, hint in hints.items() if (shape := _shape(hint)) != _Shape()]
    return _Plan(frozenset(n for n, hint in hints.items() if _may_be_blank(hint)), tuple(shapes))


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(inner for option in typing.get_args(hint) for inner in _options(option))
    return (hint,)


def _bare(option: Any) -> Any:
    return option.__origin__ if hasattr(option, "__metadata__") else option


def _may_be_blank(hint: Any) -> bool:
    options = [_bare(option) for option in _options(hint)]
    return UnsetType in options and any(
        typing.get_origin(option) is typing.Literal
        or (isinstance(option, type) and issubclass(option, str))
        for option in options
    )


def _shape(hint: Any) -> _Shape:
    rules: list[Rule] = []
    struct, inner = None, None
    for option in _options(hint):
        metas = [m for m in getattr(option, "__metadata__", ()) if isinstance(m, msgspec.Meta)]
        rules += [meta.extra["rule"] for meta in metas if meta.extra and "rule" in meta.extra]
        bare = _bare(option)
        if typing.get_origin(bare) in (list, dict):
            of = _shape(typing.get_args(bare)[-1])
            inner = None if of == _Shape() else of
        elif isinstance(bare, type) and issubclass(bare, msgspec.Struct):
            struct = bare
    return _Shape(tuple(rules), struct, inner)


def _without_blanks(data: dict[str, Any], schema: Any) -> dict[str, Any]:
    if not (isinstance(schema, type) and issubclass(schema, msgspec.Struct)):
        return data
    found = plan(schema)
    kept = {k: v for k, v in data.items() if not (v == "" and k in found.blanks)}
    for name, shape in found.shapes:
        if name in kept and (shape.struct or shape.inner):
            kept[name] = _emptied(kept[name], shape)
    return kept


def _emptied(value: Any, shape: _Shape) -> Any:
    if isinstance(value, list) and shape.inner:
        return [_emptied(item, shape.inner) for item in value]
    if isinstance(value, dict):
        if shape.struct:
            return _without_blanks(value, shape.struct)
        if shape.inner:
            return {key: _emptied(item, shape.inner) for key, item in value.items()}
    return value


def check_rules(body: Any, at: str = "") -> None:
    """Apply the text rules of a struct and of the structs in it. Raises InvalidRequest."""
    kind: Any = type(body)
    for name, shape in plan(kind).shapes:
        value = getattr(body, name)
        if value is not UNSET and value is not None:
            _check(value, shape, at + step(name))


def _check(value: Any, shape: _Shape, at: str) -> None:
    for rule in shape.rules:
        rule(value, at)
    if isinstance(value, msgspec.Struct):
        check_rules(value, at)
    elif shape.inner and isinstance(value, list):
        for place, item in enumerate(value):
            _check(item, shape.inner, f"{at}/{place}")
    elif shape.inner and isinstance(value, dict):
        for key, item in value.items():
            _check(item, shape.inner, at + step(key))
