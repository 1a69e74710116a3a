"""Lists of executions: every filter, every sort, in both directions, nulls last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, F, IntegerField, Q, QuerySet, TextField, Value, When
from django.db.models.expressions import RawSQL

from executions.kinds import Kind
from executions.models.execution import Execution
from executions.queries.as_json import ENVELOPE
from executions.queries.rows import MODELS
from executions.states import RANK
from organizations.authorization import restrict
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


_COLUMN = {
    "started_at": "started_at",
    "created_at": "created_at",
    "duration": "duration_us",
    "cost": "cost_micros",
    "status": "rank",
}
SORTS = tuple(_COLUMN)
# Index scans at any size; the others sort what one organization has.
ANYWHERE = ("started_at", "created_at")
_NULLABLE = ("started_at", "duration")


def executions(viewer: Caller, kind: Kind, filters: Filters) -> QuerySet[Execution]:
    """The executions that the viewer sees and that pass the filters, in no order yet."""
    found: QuerySet[Execution] = MODELS[kind.noun].objects.filter(
        organization__retired_at__isnull=True
    )
    found = restrict(found, viewer, kind.noun)
    if filters.org is not None:
        found = found.filter(organization=filters.org)
    return found.filter(_condition(filters))


def _condition(filters: Filters) -> Q:
    exact: dict[str, Any] = {
        "started_at__gte": filters.started_after,
        "started_at__lte": filters.started_before,
        "duration_us__gte": _micros(filters.min_duration),
        "duration_us__lte": _micros(filters.max_duration),
        "cost_micros__gte": filters.min_cost_micros,
        "cost_micros__lte": filters.max_cost_micros,
        "has_retries": filters.has_retries,
        "phase__in": filters.phase or None,
    }
    condition = Q(**{name: value for name, value in exact.items() if value is not None})
    if filters.failed_task_name is not None:
        # Spelled as the partial index has it, so that the planner may use that.
        condition &= ~Q(failed_tasks=[]) & Q(failed_tasks__contains=[filters.failed_task_name])
    if filters.target is not None:
        condition &= Q(target=filters.target) | Q(instance=filters.target)
    if filters.labels:
        condition &= ~Q(labels={})
    for key, value in filters.labels:
        condition &= Q(labels__contains={key: value})
    return condition


def _micros(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND)


def after(
    found: QuerySet[Execution], kind: Kind, sort: Sort, position: Position | None, limit: int
) -> list[Shown]:
    """At most `limit` executions behind this position.

    Those without the sort key come last in both directions, so a page is at most two index scans:
    those that have it, then the rest.
    """
    reader = _Reader(kind, _COLUMN[sort.key], whole=sort.key in ANYWHERE)
    if sort.key == "status":
        found = found.annotate(rank=_rank())
    if sort.key not in _NULLABLE:
        return reader.read(_behind(found, sort, position), limit)
    rows: list[Shown] = []
    if position is None or position.value is not None:
        having = found.filter(**{f"{reader.column}__isnull": False})
        rows = reader.read(_behind(having, sort, position), limit)
        position = None
    if len(rows) < limit:
        without = found.filter(**{f"{reader.column}__isnull": True})
        sign = "-" if sort.descending else ""
        if position is not None:
            without = without.filter(**{f"id__{_side(sort)}": position.id})
        rows += reader.read(without.order_by(f"{sign}id"), limit - len(rows))
    return rows


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the first rows of an ordered queryset.

    `whole` is for what an index gives in order; elsewhere it is first asked which rows they are,
    from an index alone, so that whole ones are not sorted.
    """

    kind: Kind
    column: str
    whole: bool

    def read(self, ordered: QuerySet[Execution], limit: int) -> list[Shown]:
        envelope = RawSQL(ENVELOPE[self.kind.noun], (), output_field=TextField())
        if self.whole:
            rows = ordered.values_list(envelope, "pk", self.column)[:limit]
            return [Shown._make(row) for row in rows]
        keys = list(ordered.values_list("pk", self.column)[:limit])
        these = MODELS[self.kind.noun].objects.filter(pk__in=[id for id, _ in keys])
        found = dict(these.values_list("pk", envelope))
        return [Shown(found[id], id, value) for id, value in keys if id in found]


def _rank() -> Case:
    whens = [When(phase=phase, then=Value(rank)) for phase, rank in RANK.items()]
    return Case(*whens, output_field=IntegerField())


def _side(sort: Sort) -> str:
    return "lt" if sort.descending else "gt"


def _behind(
    found: QuerySet[Execution], sort: Sort, position: Position | None
) -> QuerySet[Execution]:
    column, sign = _COLUMN[sort.key], "-" if sort.descending else ""
    if position is not None and position.value is not None:
        value, id = position
        side = _side(sort)
        # The first bound is what an index scan starts from.
        found = found.filter(
            Q(**{f"{column}__{side}e": value})
            & (Q(**{f"{column}__{side}": value}) | Q(**{f"id__{side}": id}))
        )
    return found.order_by(F(column).desc() if sign else F(column).asc(), f"{sign}id")
