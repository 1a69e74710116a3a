"""Lists of executions: every filter, every sort, in both directions, nulls last.

Written out: building a page's statement by the ORM took a third of the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from django.db import connection

from executions.kinds import Kind
from executions.queries.as_json import ENVELOPE
from executions.queries.rows import LIVE_SQL, MODELS
from executions.states import RANK
from organizations.authorization import scope_clause
from stigmer.core.callers import Caller

SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows a list of executions; all that are given hold together, bounds included."""

    org: str | None = None
    phase: tuple[str, ...] = ()
    started_after: datetime | None = None
    started_before: datetime | None = None
    min_duration: float | None = None
    max_duration: float | None = None
    min_cost_micros: int | None = None
    max_cost_micros: int | None = None
    failed_task_name: str | None = None
    has_retries: bool | None = None
    target: str | None = None
    labels: tuple[tuple[str, str], ...] = ()


class Sort(NamedTuple):
    """A sort key and its direction; ties are broken by the id in the same direction."""

    key: str = "started_at"
    descending: bool = True


class Position(NamedTuple):
    """Where a walk stands: the sort key (null behind all others) and the id of the last row."""

    value: Any
    id: str


class Shown(NamedTuple):
    """An execution as JSON text, its id, and what it is sorted by."""

    json: str
    id: str
    value: Any

    @property
    def position(self) -> Position:
        """Where a walk stands behind it."""
        return Position(self.value, self.id)


_RANK = " ".join(f"WHEN '{phase}' THEN {rank}" for phase, rank in RANK.items())
_KEY = {
    "started_at": "e.started_at",
    "created_at": "e.created_at",
    "duration": "e.duration_us",
    "cost": "e.cost_micros",
    "status": f"CASE e.phase {_RANK} END",
}
SORTS = tuple(_KEY)
# Index scans at any size; the others sort what one organization has.
ANYWHERE = ("started_at", "created_at")
_NULLABLE = ("started_at", "duration")


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Executions of a kind, as a condition over `e` with its parameters."""

    kind: Kind
    where: str
    params: list[Any]

    def and_also(self, clause: str, *params: Any) -> Narrowed:
        """Fewer of them."""
        return replace(self, where=f"{self.where} AND {clause}", params=[*self.params, *params])

    def select(self, columns: str, rest: str = "", *params: Any) -> list[Any]:
        """The rows of one statement."""
        sql = f"SELECT {columns} FROM {self.kind.table} e WHERE {self.where} {rest}"
        with connection.cursor() as cursor:
            cursor.execute(sql, [*self.params, *params])
            rows: list[Any] = cursor.fetchall()
        return rows


def executions(viewer: Caller, kind: Kind, filters: Filters) -> Narrowed:
    """The executions that the viewer sees and that pass the filters."""
    scope, params = scope_clause(viewer, kind.noun, MODELS[kind.noun], "e")
    found = Narrowed(kind, f"{LIVE_SQL} AND {scope}", list(params))
    for clause, *values in _clauses(filters):
        found = found.and_also(clause, *values)
    return found


def _clauses(filters: Filters) -> Iterator[tuple[Any, ...]]:
    for clause, value in (
        ("e.organization = %s", filters.org),
        ("e.started_at >= %s", filters.started_after),
        ("e.started_at <= %s", filters.started_before),
        ("e.duration_us >= %s", _micros(filters.min_duration)),
        ("e.duration_us <= %s", _micros(filters.max_duration)),
        ("e.cost_micros >= %s", filters.min_cost_micros),
        ("e.cost_micros <= %s", filters.max_cost_micros),
    ):
        if value is not None:
            yield clause, value
    # Spelled as the indexes have it, so that the planner may use those.
    if filters.has_retries is not None:
        yield ("e.has_retries" if filters.has_retries else "NOT e.has_retries",)
    if len(filters.phase) == 1:
        yield "e.phase = %s", filters.phase[0]
    elif filters.phase:
        yield "e.phase = ANY(%s)", list(filters.phase)
    if filters.failed_task_name is not None:
        yield ("NOT e.failed_tasks = '[]'::jsonb",)
        yield "e.failed_tasks @> %s::jsonb", _json([filters.failed_task_name])
    if filters.target is not None:
        yield "(e.target = %s OR e.instance = %s)", filters.target, filters.target
    if filters.labels:
        yield ("NOT e.labels = '{}'::jsonb",)
    for key, value in filters.labels:
        yield "e.labels @> %s::jsonb", _json({key: value})


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _micros(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND)


def after(found: Narrowed, sort: Sort, position: Position | None, limit: int) -> list[Shown]:
    """At most `limit` executions behind this position.

    Those without the sort key come last in both directions, so a page is at most two index scans:
    those that have it, then the rest.
    """
    key = _KEY[sort.key]
    read = _read if sort.key in ANYWHERE else _read_by_id
    down, side = ("DESC", "<") if sort.descending else ("ASC", ">")
    order = f"ORDER BY {key} {down}, e.id {down}"
    if sort.key not in _NULLABLE:
        return read(_behind(found, key, side, position), key, order, limit)
    rows: list[Shown] = []
    if position is None or position.value is not None:
        having = _behind(found.and_also(f"{key} IS NOT NULL"), key, side, position)
        rows = read(having, key, order, limit)
        position = None
    if len(rows) < limit:
        without = found.and_also(f"{key} IS NULL")
        if position is not None:
            without = without.and_also(f"e.id {side} %s", position.id)
        rows += read(without, key, f"ORDER BY e.id {down}", limit - len(rows))
    return rows


def _behind(found: Narrowed, key: str, side: str, position: Position | None) -> Narrowed:
    if position is None:
        return found
    return found.and_also(f"({key}, e.id) {side} (%s, %s)", *position)


def _read(found: Narrowed, key: str, order: str, limit: int) -> list[Shown]:
    columns = f"{ENVELOPE[found.kind.noun]}, e.id, {key}"
    return [Shown._make(row) for row in found.select(columns, f"{order} LIMIT %s", limit)]


def _read_by_id(found: Narrowed, key: str, order: str, limit: int) -> list[Shown]:
    """First which rows, from an index alone, then those rows: whole ones are not sorted."""
    keys = found.select(f"e.id, {key}", f"{order} LIMIT %s", limit)
    these = Narrowed(found.kind, "e.id = ANY(%s)", [[id for id, _ in keys]])
    shown = dict(these.select(f"e.id, {ENVELOPE[found.kind.noun]}"))
    return [Shown(shown[id], id, value) for id, value in keys if id in shown]
