"""The strict parser: a request's body as a typed value, or the first fault with its place."""

from __future__ import annotations

import re
import types
import typing
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest

from stigmer.core.errors import ActorNotAccepted, InvalidRequest
from stigmer.http.errors import BodyTooLarge, LengthRequired, UnsupportedMediaType
from stigmer.http.fields import EMPTY_IS_A_VALUE, UNSET
from stigmer.http.json_text import check_characters, loads, step
from stigmer.http.schemas import ACTOR_FIELDS

__all__ = ["check_characters", "convert", "fault_of", "loads", "read_json", "typed"]

Schema = TypeVar("Schema")
Rule = Callable[[Any, str], Any]
_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>\$.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"^Object (contains unknown|missing required) field `(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


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
    return typed(data, schema)


def typed(data: Any, schema: type[Schema]) -> Schema:
    """As `convert`, for data that is a part of a body. Raises InvalidRequest."""
    if isinstance(data, dict):
        data = _without_blanks(data, schema)
    try:
        body = msgspec.convert(data, schema, strict=True)
    except msgspec.ValidationError as error:
        raise fault_of(str(error), _keys_to_fault(data, schema, str(error))) from None
    check_rules(body)
    return body


def refuse_actor(data: Mapping[str, Any]) -> None:
    """Refuse a body that names who acts. Raises ActorNotAccepted."""
    for field in ACTOR_FIELDS:
        if field in data:
            raise ActorNotAccepted(
                f"{field} is not accepted: who acts is who is authenticated", field=field
            )


def fault_of(message: str, keys: Sequence[str] = ()) -> InvalidRequest:
    """What msgspec says of a value, as our refusal with its place.

    Of a map it does not say the key; `keys` are those on the way.
    """
    match = _PLACE.match(message)
    assert match is not None
    what, path = match["what"], match["path"] or "$"
    named = iter(keys)
    found = _STEP.findall(path)
    steps = [field or (next(named, None) if at == "..." else at) for field, at in found]
    pointer = "".join(step(one) for one in steps if one is not None)
    field = _FIELD.match(what)
    if field is None:
        return InvalidRequest(what.replace("`", ""), pointer=pointer, fault="wrong_type")
    name = field[2]
    if field[1] == "missing required":
        return InvalidRequest(f"{name} is required", pointer=pointer + step(name), fault="missing")
    detail = f"{name!r} is not a field of this request"
    return InvalidRequest(detail, pointer=pointer + step(name), fault="unknown_field")


def _keys_to_fault(data: Any, schema: Any, message: str) -> list[str]:
    """The keys of the maps on the way to the fault, which msgspec does not tell.

    It stops at the first fault: the key is the last of the fewest entries that have it.
    """
    match = _PLACE.match(message)
    path = _STEP.findall((match and match["path"]) or "")
    keys: list[str] = []
    way: list[Any] = []
    for field, at in path:
        if at == "...":
            entries = list(_map_at(data, way))
            if not entries:
                break
            faulty = partial(_has_fault, data, way, entries, schema, message)
            last = bisect_left(range(len(entries)), True, key=faulty)
            way.append(entries[min(last, len(entries) - 1)])
            keys.append(way[-1])
        else:
            way.append(field or int(at))
    return keys


def _map_at(data: Any, way: list[Any]) -> dict[str, Any]:
    """The map at the end of the way; empty when the name of a field only looked like a way."""
    for one in way:
        try:
            data = data[one]
        except (LookupError, TypeError):
            return {}
    return data if isinstance(data, dict) else {}


def _has_fault(
    data: Any, way: list[Any], entries: list[str], schema: Any, message: str, last: int
) -> bool:
    """Whether the fault is there already with the entries up to this one in the map."""
    try:
        msgspec.convert(_cut(data, way, entries[: last + 1]), schema, strict=True)
    except msgspec.ValidationError as error:
        return str(error) == message
    return False


def _cut(data: Any, way: list[Any], entries: list[str]) -> Any:
    """The data with these entries alone in the map at the end of the way."""
    if not way:
        return {key: data[key] for key in entries}
    changed = copy(data)
    changed[way[0]] = _cut(data[way[0]], way[1:], entries)
    return changed


# What a type asks for beyond what msgspec checks --------------------------------------------------


class _Shape(typing.NamedTuple):
    rules: tuple[tuple[type, Rule], ...] = ()
    structs: tuple[type[msgspec.Struct], ...] = ()
    inner: _Shape | None = None


class _Plan(typing.NamedTuple):
    """The fields that may be blank and those with shapes, by their names in JSON."""

    blanks: frozenset[str]
    shapes: tuple[tuple[str, str, _Shape], ...]


@lru_cache(maxsize=512)
def plan(schema: Any) -> _Plan:
    """What a struct's fields ask for beyond their types, worked out once."""
    hints = typing.get_type_hints(schema, include_extras=True)
    fields = msgspec.structs.fields(schema)
    shapes = [(field.encode_name, field.name, _shape(hints[field.name])) for field in fields]
    optional = [field for field in fields if not field.required]
    return _Plan(
        frozenset(field.encode_name for field in optional if _may_be_blank(hints[field.name])),
        tuple(one for one in shapes if one[2] != _Shape()),
    )


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(inner for option in typing.get_args(hint) for inner in _options(option))
    return (hint,)


def _bare(option: Any) -> Any:
    return option.__origin__ if hasattr(option, "__metadata__") else option


def _may_be_blank(hint: Any) -> bool:
    if any(meta is EMPTY_IS_A_VALUE for o in _options(hint) for meta in _metas(o)):
        return False
    options = [_bare(option) for option in _options(hint)]
    return any(
        typing.get_origin(option) is typing.Literal
        or (isinstance(option, type) and issubclass(option, str))
        for option in options
    )


def _metas(option: Any) -> list[msgspec.Meta]:
    return [m for m in getattr(option, "__metadata__", ()) if isinstance(m, msgspec.Meta)]


def _shape(hint: Any) -> _Shape:
    rules: list[tuple[type, Rule]] = []
    structs: list[type[msgspec.Struct]] = []
    inner = None
    for option in _options(hint):
        bare = _bare(option)
        of_type = bare if isinstance(bare, type) else object
        # A rule is its own option's: a text's rule must not meet the object it may be instead.
        rules += [
            (of_type, m.extra["rule"]) for m in _metas(option) if m.extra and "rule" in m.extra
        ]
        if typing.get_origin(bare) in (list, dict):
            of = _shape(typing.get_args(bare)[-1])
            inner = None if of == _Shape() else of
        elif isinstance(bare, type) and issubclass(bare, msgspec.Struct):
            structs.append(bare)
    return _Shape(tuple(rules), tuple(structs), inner)


def _without_blanks(data: dict[str, Any], schema: Any) -> dict[str, Any]:
    if not (isinstance(schema, type) and issubclass(schema, msgspec.Struct)):
        return data
    found = plan(schema)
    kept = {k: v for k, v in data.items() if not (v == "" and k in found.blanks)}
    for name, _, shape in found.shapes:
        if name in kept and (shape.structs or shape.inner):
            kept[name] = _emptied(kept[name], shape)
    return kept


def _emptied(value: Any, shape: _Shape) -> Any:
    if isinstance(value, list) and shape.inner:
        return [_emptied(item, shape.inner) for item in value]
    if isinstance(value, dict):
        if shape.structs:
            meant = _meant(value, shape.structs)
            return value if meant is None else _without_blanks(value, meant)
        if shape.inner:
            return {key: _emptied(item, shape.inner) for key, item in value.items()}
    return value


def _meant(value: dict[str, Any], structs: tuple[type[Any], ...]) -> type[Any] | None:
    """Which of these structs the value says it is, by its tag."""
    if len(structs) == 1:
        return structs[0]
    configs = [(struct, struct.__struct_config__) for struct in structs]
    return next((s for s, c in configs if c.tag_field and value.get(c.tag_field) == c.tag), None)


def check_rules(body: Any, at: str = "") -> None:
    """Apply the text rules of a struct and of the structs in it. Raises InvalidRequest."""
    kind: Any = type(body)
    for name, attribute, shape in plan(kind).shapes:
        value = getattr(body, attribute)
        if value is not UNSET and value is not None:
            _check(value, shape, at + step(name))


def _check(value: Any, shape: _Shape, at: str) -> None:
    for of_type, rule in shape.rules:
        if isinstance(value, of_type):
            rule(value, at)
    if isinstance(value, msgspec.Struct):
        check_rules(value, at)
    elif shape.inner and isinstance(value, list):
        for place, item in enumerate(value):
            _check(item, shape.inner, f"{at}/{place}")
    elif shape.inner and isinstance(value, dict):
        for key, item in value.items():
            _check(item, shape.inner, at + step(key))
