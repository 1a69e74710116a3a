"""Query parameters as typed values: unknown, repeated or malformed ones are refused."""

from __future__ import annotations

import typing
from functools import lru_cache
from typing import Any

import msgspec
from django.http import HttpRequest

from stigmer.core.errors import InvalidRequest
from stigmer.http import parsing
from stigmer.http.schemas import Query


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
    known = () if schema is None else schema.__struct_fields__
    data: dict[str, Any] = {}
    for name, values in request.GET.lists():
        if name not in known:
            raise InvalidRequest(
                f"{name!r} is not a query parameter of this route",
                pointer=name,
                fault="unknown_field",
            )
        assert schema is not None
        if name not in _lists(schema) and len(values) > 1:
            raise InvalidRequest(f"{name} is given twice", pointer=name, fault="repeated")
        data[name] = values if name in _lists(schema) else values[0]
    parsing.check_characters(data)
    return None if schema is None else _convert(data, schema)


def _convert(data: dict[str, Any], schema: type[Query]) -> Any:
    try:
        found = msgspec.convert(data, schema, strict=False)
        parsing.check_rules(found)
    except msgspec.ValidationError as error:
        fault = parsing.fault_of(str(error))
        raise InvalidRequest(
            fault.detail, pointer=fault.pointer.lstrip("/"), fault=fault.fault
        ) from None
    return found
