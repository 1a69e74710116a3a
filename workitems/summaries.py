"""What the dashboard tells about work; the first argument is whose eyes see."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.db import connection
from django.db.models import Count, QuerySet, TextField, Value
from django.db.models.functions import TruncDate
from psycopg import sql

from stigmer.core.callers import Caller
from workitems.models import WorkItem
from workitems.states import LIFECYCLE, Visibility, WorkItemState

SHOWN = 8
DAYS = 7
EXACT_UP_TO = 10_000


@dataclass(slots=True)
class Load:
    """Open work of one organization."""

    organization: str
    active: int = 0
    waiting: int = 0

    @property
    def open(self) -> int:
        """Everything that is not terminal."""
        return self.active + self.waiting


@dataclass(frozen=True, slots=True)
class Day:
    """What ended on one day (UTC)."""

    day: date
    ended: int


@dataclass(frozen=True, slots=True)
class Work:
    """The dashboard's view of work; `oldest` waits longest, `newest` changed last."""

    loads: list[Load]
    oldest: list[WorkItem]
    newest: list[WorkItem]
    ended: list[Day] = field(default_factory=list)

    @property
    def active(self) -> int:
        """Active items of every organization."""
        return sum(load.active for load in self.loads)

    @property
    def waiting(self) -> int:
        """Waiting items of every organization."""
        return sum(load.waiting for load in self.loads)


def work(viewer: Caller, now: datetime) -> Work:
    """Open work by organization, the oldest waiting, the newest changed, what ended lately."""
    seen = _seen(viewer)
    oldest, newest = _edges(seen)
    return Work(_loads(seen), oldest, newest, _ended(seen, now))


def _seen(viewer: Caller) -> QuerySet[WorkItem]:
    # The console shows staff every organization, and private items to platform admins alone.
    found = WorkItem.objects.order_by()
    return found if viewer.sees_all else found.filter(visibility=Visibility.TENANT)


def _live(seen: QuerySet[WorkItem]) -> QuerySet[WorkItem]:
    # Open work has a live organization; what has ended may have outlived its own.
    return seen.filter(organization__retired_at__isnull=True)


def _loads(seen: QuerySet[WorkItem]) -> list[Load]:
    states = sorted(str(state) for state in LIFECYCLE.open)
    counted = (
        seen.filter(state__in=states).values("organization_id", "state").annotate(n=Count("*"))
    )
    loads: dict[str, Load] = {}
    for row in counted:
        load = loads.setdefault(row["organization_id"], Load(row["organization_id"]))
        setattr(load, row["state"], row["n"])
    return sorted(loads.values(), key=lambda load: (-load.open, load.organization))


def _edges(seen: QuerySet[WorkItem]) -> tuple[list[WorkItem], list[WorkItem]]:
    waiting = seen.filter(state=WorkItemState.WAITING).order_by("updated_at", "id")[:SHOWN]
    changed = _live(seen).order_by("-updated_at", "-id")[:SHOWN]
    both = [
        part.annotate(edge=Value(name, output_field=TextField()))
        for name, part in (("oldest", waiting), ("newest", changed))
    ]
    rows = sorted(both[0].union(both[1], all=True), key=lambda row: (row.updated_at, row.id))
    oldest: list[WorkItem] = [row for row in rows if row.edge == "oldest"]
    return oldest, [row for row in reversed(rows) if row.edge == "newest"]


def _ended(seen: QuerySet[WorkItem], now: datetime) -> list[Day]:
    first = (now - timedelta(days=DAYS - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    counted = dict(
        _live(seen)
        .filter(completed_at__gte=first)
        .annotate(day=TruncDate("completed_at"))
        .values_list("day")
        .annotate(n=Count("*"))
    )
    days = [first.date() + timedelta(days=number) for number in range(DAYS)]
    return [Day(day, counted.get(day, 0)) for day in days]


_SIZE = """
SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = {name}::regclass)
FROM (SELECT 1 FROM {table} LIMIT {most}) AS counted
"""


def sizes(tables: dict[str, str]) -> dict[str, tuple[int, bool]]:
    """How many rows each table has, and whether that is exact: estimated beyond 10,000 rows."""
    most = sql.Literal(EXACT_UP_TO + 1)
    parts = [
        sql.SQL(_SIZE).format(name=sql.Literal(table), table=sql.Identifier(table), most=most)
        for table in tables.values()
    ]
    found = {}
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(" UNION ALL ").join(parts))
        for name, (counted, estimated) in zip(tables, cursor.fetchall(), strict=True):
            exact = counted <= EXACT_UP_TO
            found[name] = (counted if exact else max(counted, estimated), exact)
    return found
