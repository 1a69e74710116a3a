"""What ran, how it went and what it cost: one statement, no execution is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import connection

from executions.kinds import Kind
from executions.queries.lists import Filters, executions
from executions.states import ENDED, Phase
from stigmer.core.callers import Caller

WINDOWS = {
    "LAST_24H": timedelta(hours=24),
    "LAST_7D": timedelta(days=7),
    "LAST_30D": timedelta(days=30),
    "ALL_TIME": None,
}
NOTHING_ENDED = -1


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers; `cost` is absent in the default shape of an empty scope."""

    total: int
    active: int
    phases: dict[str, int]
    success_rate: float
    average_seconds: float | None
    cost: dict[str, int] | None
    top_failing: list[dict[str, Any]]
    cost_by_target: list[dict[str, Any]]


_ENDED = ", ".join(f"'{phase}'" for phase in ENDED)
# Two grouped reads of the few rows that the first grouping leaves; the executions are read once.
_SUMMARY = f"""
WITH grouped AS MATERIALIZED (
    SELECT phase, target_slug AS slug, count(*) AS n, sum(cost_micros) AS cost,
        sum(input_tokens) AS input, sum(output_tokens) AS output,
        count(duration_us) AS timed, sum(duration_us) AS duration
    FROM ({{narrowed}}) narrowed GROUP BY phase, target_slug
), failing AS (
    SELECT slug, sum(n)::bigint AS n FROM grouped WHERE phase = '{Phase.FAILED}' AND {{by_slug}}
    GROUP BY slug ORDER BY n DESC, slug LIMIT 10
), costly AS (
    SELECT slug, sum(cost)::bigint AS cost, sum(n)::bigint AS n FROM grouped WHERE {{by_slug}}
    GROUP BY slug HAVING sum(cost) > 0 ORDER BY cost DESC, slug LIMIT 10
)
SELECT jsonb_build_object(
    'total', coalesce(sum(n), 0)::bigint,
    'ended', coalesce(sum(n) FILTER (WHERE phase IN ({_ENDED})), 0)::bigint,
    'completed', coalesce(sum(n) FILTER (WHERE phase = '{Phase.COMPLETED}'), 0)::bigint,
    'timed', coalesce(sum(timed) FILTER (WHERE phase = '{Phase.COMPLETED}'), 0)::bigint,
    'duration', coalesce(sum(duration) FILTER (WHERE phase = '{Phase.COMPLETED}'), 0)::bigint,
    'cost', coalesce(sum(cost), 0)::bigint,
    'input', coalesce(sum(input), 0)::bigint,
    'output', coalesce(sum(output), 0)::bigint,
    'phases', (SELECT coalesce(jsonb_object_agg(phase, n), '{{{{}}}}') FROM (
        SELECT phase, sum(n)::bigint AS n FROM grouped GROUP BY phase) p),
    'failing', (SELECT coalesce(jsonb_agg(
        jsonb_build_object('slug', slug, 'n', n) ORDER BY n DESC, slug), '[]') FROM failing),
    'costly', (SELECT coalesce(jsonb_agg(
        jsonb_build_object('slug', slug, 'cost', cost, 'n', n) ORDER BY cost DESC, slug), '[]')
        FROM costly)
) FROM grouped
"""
_USED = "phase, target_slug, cost_micros, input_tokens, output_tokens, duration_us"


def summary(
    viewer: Caller,
    kind: Kind,
    *,
    org: str | None,
    window: str,
    target: str | None,
    now: datetime,
) -> Summary:
    """What the viewer may read of the requested organization, created within the window.

    Without a read scope it is every organization's, and `org` is not consulted.
    """
    scoped = bool(settings.STIGMER_LIST_READ_SCOPE)
    found = executions(viewer, kind, Filters(org=org if scoped else None, target=target))
    span = WINDOWS[window]
    if span is not None:
        found = found.and_also("e.created_at >= %s", now - span)
    sql = _SUMMARY.format(
        narrowed=f"SELECT {_USED} FROM {kind.table} e WHERE {found.where}",
        by_slug="true" if kind.target == "workflow" else "false",
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, found.params)
        raw = msgspec.json.decode(cursor.fetchone()[0])
    return _shaped(raw, scoped=scoped)


def _shaped(raw: dict[str, Any], *, scoped: bool) -> Summary:
    total, ended = raw["total"], raw["ended"]
    nothing = scoped and not total
    rate: float = 0 if nothing else NOTHING_ENDED
    if ended:
        rate = raw["completed"] / ended
    return Summary(
        total=total,
        active=total - ended,
        phases=raw["phases"],
        success_rate=rate,
        average_seconds=raw["duration"] / raw["timed"] / 1_000_000 if raw["timed"] else None,
        cost=None if nothing else {name: raw[name] for name in ("cost", "input", "output")},
        top_failing=raw["failing"],
        cost_by_target=raw["costly"],
    )
