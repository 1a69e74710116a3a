"""Rows as plain values: what reads answer and operations decide on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple


class ItemRow(NamedTuple):
    """A work item as plain values; the last two say what its successor lets be seen."""

    id: str
    organization: str
    owner: str
    visibility: str
    origin_surface: str
    title: str
    external_key: str
    state: str
    waiting_reason: str
    superseded_by: str | None
    state_version: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    last_event_seq: int
    successor_visibility: str | None = None
    successor_owner: str | None = None


class ExecutionRow(NamedTuple):
    """An execution of an item as plain values."""

    id: str
    work_item: str
    engine: str
    engine_ref: str
    attempt: int
    resumed_from: str | None
    phase: str
    started_at: datetime
    ended_at: datetime | None


class EventRow(NamedTuple):
    """An event of an item as plain values."""

    work_item: str
    seq: int
    kind: str
    from_state: str | None
    to_state: str | None
    actor: str
    acting_principal: str | None
    surface: str
    request_id: str
    detail: dict[str, Any]
    created_at: datetime


class IntentRow(NamedTuple):
    """An intent as plain values; a null text is redacted."""

    id: int
    work_item: str
    actor: str
    surface: str
    text: str | None
    params: dict[str, Any] | None
    created_at: datetime


class RefRow(NamedTuple):
    """A surface reference as plain values."""

    work_item: str
    surface: str
    external_id: str
    actor_external_id: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class ItemView:
    """What answers about one item show."""

    item: ItemRow
    latest_execution: ExecutionRow | None = None


OWN_COLUMNS = ItemRow._fields[:-2]


def columns(names: tuple[str, ...], table: str = "") -> str:
    """A select list of these columns."""
    return ", ".join(f"{table}.{name}" if table else name for name in names)


EXECUTION_SQL = columns(ExecutionRow._fields)
