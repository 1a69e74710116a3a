"""How the lists of `workitem/v1` go on: cursors and counters."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from stigmer.core.errors import InvalidRequest
from stigmer.http import pagination
from stigmer.http.fields import UNSET, UnsetType
from stigmer.http.views import Call

MOST_DIGITS = 18


def _limit(value: str, _pointer: str) -> None:
    pagination.limit_from(value)


def _counter(value: str, pointer: str) -> None:
    if not (value.isascii() and value.isdigit()):
        raise InvalidRequest(
            f"{pointer} must be an integer of at least 0", pointer=pointer, fault="out_of_range"
        )


# Rules of the query, so that a wrong one is judged behind the item's own 404.
Limit = Annotated[str, Meta(extra={"rule": _limit})]
Counter = Annotated[str, Meta(extra={"rule": _counter})]


def limit_of(call: Call) -> int:
    """The page size that the query asks for."""
    return pagination.limit_from(None if call.query.limit is UNSET else call.query.limit)


def behind(raw: str | UnsetType) -> int:
    """A counter to go on behind, in the form that `Counter` asks for; absent is 0."""
    digits = "0" if raw is UNSET else str(raw).lstrip("0") or "0"
    # Longer ones are behind everything, and no number for the column or for Python's int().
    return int(digits) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS


def filters_of(call: Call, **more: str) -> dict[str, Any]:
    """What a cursor is bound to: every filter, and not where the page begins or how long it is."""
    found: dict[str, Any] = msgspec.to_builtins(call.query)
    return {k: v for k, v in found.items() if k not in ("cursor", "limit")} | more


def moment_and_id(call: Call, filters: dict[str, Any]) -> tuple[datetime, str] | None:
    """Where a list by (time, id) goes on. Raises InvalidRequest."""
    if call.query.cursor is UNSET:
        return None
    shape = tuple[datetime, str]
    found: tuple[datetime, str] = pagination.position_of(call.query.cursor, filters, shape)
    return found


def texts(call: Call, item: str, filters: dict[str, Any]) -> tuple[str, str] | None:
    """Where a list of an item by two texts goes on.

    Raises InvalidRequest, and before it what the gate refuses.
    """
    if call.query.cursor is UNSET:
        return None
    assert call.spec.gate is not None
    call.spec.gate(call.caller, item)
    found: tuple[str, str] = pagination.position_of(call.query.cursor, filters, tuple[str, str])
    return found
