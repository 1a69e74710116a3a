"""How the lists of `workitem/v1` go on: cursors and counters."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from stigmer.core.errors import InvalidRequest
from stigmer.http import pagination
from stigmer.http.fields import UNSET, UnsetType
from stigmer.http.views import Call


def limit_of(call: Call) -> int:
    """The page size that the query asks for."""
    return pagination.limit_from(None if call.query.limit is UNSET else call.query.limit)


def behind(name: str, raw: str | UnsetType) -> int:
    """A counter to go on behind; absent is 0. Raises InvalidRequest."""
    if raw is UNSET:
        return 0
    assert isinstance(raw, str)
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 18):
        raise InvalidRequest(
            f"{name} must be an integer of at least 0", pointer=name, fault="out_of_range"
        )
    return int(raw)


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


def texts(call: Call, filters: dict[str, Any]) -> tuple[str, str] | None:
    """Where a list by two texts goes on. Raises InvalidRequest."""
    if call.query.cursor is UNSET:
        return None
    found: tuple[str, str] = pagination.position_of(call.query.cursor, filters, tuple[str, str])
    return found
