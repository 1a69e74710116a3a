"""Status updates: what a runner reports, merged under the row lock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from django.db import connection, transaction

from executions.kinds import AGENT, Kind
from executions.operations.holding import need_claim
from executions.operations.writing import (
    assignments,
    audit,
    changed,
    json_text,
    log,
    tell_ended,
    wake_waiters,
)
from executions.queries import rows
from executions.queries.rows import ExecutionRow
from executions.states import PHASES, Phase, TaskStatus
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidTransition

Gates = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that an execution did, as its runner numbers it."""

    sequence_number: int
    event_type: str
    event_id: str = ""
    task_name: str = ""
    occurred_at: datetime | None = None
    data: Any = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a runner says; whatever is empty, zero or None leaves what is stored.

    `approvals` and `reviews` are given when their switch is set, and replace the entries of
    `child` alone; without a child they replace every entry.
    """

    phase: str = ""
    tasks: list[dict[str, Any]] = field(default_factory=list)
    output: Any = None
    error: str = ""
    started_at: datetime | None = None
    completed_at: datetime | None = None
    engine_ref: str = ""
    cost_micros: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    approvals: Gates | None = None
    reviews: Gates | None = None
    child: str = ""
    events: tuple[Event, ...] = ()


class Reported(NamedTuple):
    """The execution after a report, and how many events were new."""

    execution: ExecutionRow
    appended: int
    skipped: int


@transaction.atomic
def report_status(
    *, kind: Kind, id: str, report: Report, claim_token: str | None, by: Act, now: datetime
) -> Reported:
    """Merge what the holder of the claim reports and append its events, first writer wins.

    Raises ExecutionNotFound, PermissionDenied for anybody but a service, InvalidRequest without a
    token, ClaimLost, InvalidTransition.
    """
    row = rows.check_service(by.caller, kind, id, rows.lock(kind, id))
    need_claim(row, claim_token, by=by, now=now)
    changes = _phase(kind, row, report, now) | _plain(report) | _merged(row, report, now)
    if report.events and not row.has_events:
        changes["has_events"] = True
    appended = _write(row, changes, report.events, now)
    after = changed(row, changes)
    if changes or appended:
        wake_waiters(id)
    if "phase" in changes:
        log.info("execution", event_kind="phase", execution=id, phase=after.phase, **audit(by))
        tell_ended(after, now)
    return Reported(after, appended, len(report.events) - appended)


def _phase(kind: Kind, row: ExecutionRow, report: Report, now: datetime) -> dict[str, Any]:
    wanted = report.phase
    if not wanted or wanted == row.phase:
        return {}
    # Only `resume` brings a paused execution back; the rest of the report is taken.
    if row.phase == Phase.PAUSED and wanted == Phase.IN_PROGRESS:
        return {}
    target = PHASES.move(row.phase, wanted)
    if target is None or (target is Phase.WAITING_FOR_APPROVAL and kind is not AGENT):
        raise InvalidTransition(
            f"the {kind.words} in phase {row.phase} cannot become {wanted}", phase=row.phase
        )
    moved: dict[str, Any] = {"phase": target.value, "updated_at": max(now, row.updated_at)}
    if target in PHASES.terminal:
        moved["ended_at"] = moved["updated_at"]
    return moved


def _plain(report: Report) -> dict[str, Any]:
    given = {
        "error": report.error,
        "started_at": report.started_at,
        "completed_at": report.completed_at,
        "engine_ref": report.engine_ref,
        "cost_micros": report.cost_micros,
        "input_tokens": report.input_tokens,
        "output_tokens": report.output_tokens,
        "output": json_text(report.output) if report.output else None,
    }
    return {column: value for column, value in given.items() if value}


def _merged(row: ExecutionRow, report: Report, now: datetime) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if report.tasks:
        changes["tasks"] = json_text(report.tasks)
        gates = _gates(msgspec.json.decode(row.gates), report.tasks, now)
        if gates != row.gates:
            changes["gates"] = gates
    if report.approvals is not None:
        changes["pending_approvals"] = _entries(
            row.pending_approvals, report.approvals, report.child
        )
    if report.reviews is not None:
        changes["pending_file_reviews"] = _entries(
            row.pending_file_reviews, report.reviews, report.child
        )
    return changes


def _gates(known: dict[str, Any], tasks: list[dict[str, Any]], now: datetime) -> str:
    """Since when each waiting task waits, and what was decided; forgotten when it goes on."""
    waiting = [task["name"] for task in tasks if task["status"] == TaskStatus.WAITING_APPROVAL]
    return json_text({name: known.get(name) or {"since": now.isoformat()} for name in waiting})


def _entries(stored: str, given: Gates, child: str) -> str:
    if not child:
        return json_text(given)
    kept = [e for e in msgspec.json.decode(stored) if e.get(_CHILD) != child]
    mine = [{**e, _CHILD: child} for e in given if e.get(_CHILD, child) in (child, "")]
    return json_text(kept + mine)


_CHILD = "child_agent_execution_id"
_EVENTS = """
appended AS (
    INSERT INTO executions_workflowexecutionevent (
        execution, sequence_number, event_id, event_type, task_name, occurred_at, data, created_at
    )
    SELECT %(id)s, e.sequence_number, e.event_id, e.event_type, e.task_name, e.occurred_at,
        e.data::jsonb, %(now)s
    FROM unnest(
        %(sequences)s::bigint[], %(event_ids)s::text[], %(types)s::text[], %(task_names)s::text[],
        %(occurred)s::timestamptz[], %(datas)s::text[]
    ) AS e (sequence_number, event_id, event_type, task_name, occurred_at, data)
    ON CONFLICT (execution, sequence_number) DO NOTHING RETURNING 1
)
"""


def _write(
    row: ExecutionRow, changes: dict[str, Any], events: tuple[Event, ...], now: datetime
) -> int:
    """The row and every event in one statement; answers how many events were new."""
    parts = []
    if changes:
        parts.append(
            f"moved AS (UPDATE {row.kind.table} SET {assignments(changes)} WHERE id = %(id)s)"
        )
    if events:
        parts.append(_EVENTS)
    if not parts:
        return 0
    count = "(SELECT count(*) FROM appended)" if events else "0"
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH {', '.join(parts)} SELECT {count}",
            {**changes, **_columns(events), "id": row.id, "now": now},
        )
        return int(cursor.fetchone()[0])


def _columns(events: tuple[Event, ...]) -> dict[str, list[Any]]:
    if not events:
        return {}
    return {
        "sequences": [event.sequence_number for event in events],
        "event_ids": [event.event_id for event in events],
        "types": [event.event_type for event in events],
        "task_names": [event.task_name for event in events],
        "occurred": [event.occurred_at for event in events],
        "datas": [json_text({} if event.data is None else event.data) for event in events],
    }
