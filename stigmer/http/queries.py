"""Query parameters as typed values: unknown, repeated or malformed ones are refused."""

from __future__ import annotations

import typing
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from django.http import HttpRequest

from stigmer.core.errors import InvalidRequest
from stigmer.http import parsing
from stigmer.http.schemas import Query

MAX_PARAMETERS = 100


@lru_cache(maxsize=256)
def _choices(schema: type[Query]) -> frozenset[str]:
    """The parameters that take one of some words; an empty one counts as absent."""
    hints = typing.get_type_hints(schema)
    return frozenset(name for name, hint in hints.items() if "Literal[" in str(hint))


@lru_cache(maxsize=256)
def _lists(schema: type[Query]) -> frozenset[str]:
    hints = typing.get_type_hints(schema)
    return frozenset(name for name, hint in hints.items() if "list[" in str(hint))


def read_query(request: HttpRequest, schema: type[Query] | None) -> Any:
    """The query string as this struct; without one no parameter is known.

    Raises InvalidRequest.
    """
    raw = request.META.get("QUERY_STRING", "")
    if not raw:
        return None if schema is None else schema()
    lists = frozenset[str]() if schema is None else _lists(schema)
    known = () if schema is None else schema.__struct_fields__
    data: dict[str, Any] = {}
    for name, value in _pairs(raw):
        if name not in known:
            shown = name.replace("\x00", "\\x00")
            detail = f"{shown!r} is not a query parameter of this route"
            raise InvalidRequest(detail, pointer=shown, fault="unknown_field")
        if "\x00" in value:
            raise InvalidRequest(f"{name} has a NUL", pointer=name, fault="not_utf8")
        if name in lists:
            data.setdefault(name, []).append(value)
        elif name in data:
            raise InvalidRequest(f"{name} is given twice", pointer=name, fault="repeated")
        else:
            data[name] = value
    return None if schema is None else _convert(_chosen(data, schema), schema)


def _chosen(data: dict[str, Any], schema: type[Query]) -> dict[str, Any]:
    # An empty text stays: as a filter it matches nothing, and a forgotten value shows no more.
    blank = [name for name, value in data.items() if value == "" and name in _choices(schema)]
    return {name: value for name, value in data.items() if name not in blank}


def _pairs(raw: str) -> list[tuple[str, str]]:
    """Never by way of `request.GET`, which replaces bytes that are not UTF-8."""
    try:
        if not raw.isascii():
            raise InvalidRequest("the query must be percent-encoded", fault="not_ascii")
        return parse_qsl(
            raw, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS
        )
    except UnicodeDecodeError:
        raise InvalidRequest("the query is not valid UTF-8", fault="not_utf8") from None
    except ValueError:
        detail = f"a query has at most {MAX_PARAMETERS} parameters"
        raise InvalidRequest(detail, fault="too_many") from None


def _convert(data: dict[str, Any], schema: type[Query]) -> Any:
    try:
        found = msgspec.convert(data, schema, strict=False)
    except msgspec.ValidationError as error:
        fault = parsing.fault_of(str(error))
        raise InvalidRequest(
            fault.detail, pointer=fault.pointer.lstrip("/"), fault=fault.fault
        ) from None
    for name, shape in parsing.plan(schema).shapes:
        value = getattr(found, name)
        for rule in shape.rules if isinstance(value, str) else ():
            rule(value, name)
    return found
