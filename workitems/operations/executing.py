"""Executions of an item: resume starts the next one, attach correlates what an engine runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction

from stigmer.core.callers import Act
from stigmer.core.errors import InvalidRequest, InvalidTransition
from stigmer.core.idempotency import keyed
from stigmer.core.ids import new_id
from workitems.errors import ExecutionActive
from workitems.operations.writing import (
    Change,
    Note,
    Under,
    keep_receipt,
    lock,
    move,
    record,
    tell,
)
from workitems.queries import EXECUTION_SQL, ExecutionRow, ItemView
from workitems.states import PHASES, Engine, EventKind, Phase, WorkItemState

_KNOWN = f"""
SELECT {EXECUTION_SQL} FROM workitems_workitemexecution
WHERE work_item = %s AND engine = %s AND engine_ref = %s
"""
_BY_ID = f"SELECT {EXECUTION_SQL} FROM workitems_workitemexecution WHERE work_item = %s AND id = %s"
_INSERT = f"""
INSERT INTO workitems_workitemexecution ({EXECUTION_SQL})
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_REPORT = "UPDATE workitems_workitemexecution SET phase = %s, ended_at = %s WHERE id = %s"


class Run(NamedTuple):
    """How an engine names one run."""

    engine: Engine
    engine_ref: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """The item after a resume and the execution it started."""

    view: ItemView
    execution: ExecutionRow
    created: bool


@dataclass(frozen=True, slots=True)
class Attached:
    """The execution as it is now, and whether it is new."""

    execution: ExecutionRow
    created: bool


@transaction.atomic
def resume(
    *,
    item: str,
    expected_state_version: int,
    run: Run,
    resumed_from: str | None,
    by: Act,
    now: datetime,
    facts: dict[str, Any],
    unchanged: Callable[[ItemView], bool] | None = None,
) -> Resumed:
    """Start the next execution of an item, which continues the named or else the latest one.

    Raises WorkItemNotFound, PermissionDenied, IdempotencyKeyReused, PreconditionFailed,
    StateVersionConflict, InvalidTransition on a terminal item, ExecutionActive, InvalidRequest for
    a wrong reference.
    """
    request = keyed(operation="resume", target=item, body=facts, by=by)
    under = lock(item, by=by)
    if under.replays(request):
        return Resumed(under.view, _kept(under), created=False)
    under.need_unchanged(unchanged)
    under.need_version(expected_state_version)
    under.need_open("resume")
    _need_idle(under)
    execution = _next(under, run, Phase.PENDING, _continued(under, run, resumed_from), now)
    note = Note(
        EventKind.RESUMED,
        under.item.state,
        WorkItemState.ACTIVE.value,
        {"execution_id": execution.id},
    )
    moved = move(
        under, Change(WorkItemState.ACTIVE), note,
        by=by, now=now, request=request, result_id=execution.id,
    )  # fmt: skip
    # Behind the version check: whoever lost it meets that refusal, not a unique index.
    _insert(execution)
    return Resumed(ItemView(moved, execution), execution, created=True)


def _continued(under: Under, run: Run, resumed_from: str | None) -> str | None:
    if _find(_KNOWN, under.item.id, *run) is not None:
        raise InvalidRequest(
            "this item already has an execution with this engine and engine_ref",
            pointer="/engine_ref",
            fault="taken",
        )
    if resumed_from is not None:
        if _find(_BY_ID, under.item.id, resumed_from) is None:
            raise InvalidRequest(
                "resumed_from_execution_id is not an execution of this item",
                pointer="/resumed_from_execution_id",
                fault="not_found",
            )
        return resumed_from
    if under.latest is not None:
        return under.latest.id
    if under.item.state == WorkItemState.ACTIVE:
        raise InvalidRequest(
            "an active item that never ran has nothing to resume; attach its first execution",
            fault="nothing_to_resume",
        )
    return None


@transaction.atomic
def attach_execution(
    *, item: str, run: Run, phase: Phase, by: Act, now: datetime, facts: dict[str, Any]
) -> Attached:
    """Correlate an item with a run of an engine, or record the run's later phase.

    Raises WorkItemNotFound, PermissionDenied, IdempotencyKeyReused, InvalidTransition,
    ExecutionActive.
    """
    request = keyed(operation="attach_execution", target=item, body=facts, by=by)
    under = lock(item, by=by)
    if under.replays(request):
        return Attached(_kept(under), created=False)
    known = _find(_KNOWN, item, *run)
    if known is not None:
        execution = _report(under, known, phase, by=by, now=now)
        keep_receipt(under.item, by=by, now=now, request=request, result_id=execution.id)
        return Attached(execution, created=False)
    under.need_open("attach an execution")
    if phase not in PHASES.terminal:
        _need_idle(under)
    execution = _next(under, run, phase, None, now)
    _insert(execution)
    detail = {"execution_id": execution.id, "attempt": execution.attempt}
    note = Note(EventKind.EXECUTION_ATTACHED, detail=detail)
    record(under.item, note, by=by, now=now, request=request, result_id=execution.id)
    return Attached(execution, created=True)


def _need_idle(under: Under) -> None:
    if under.running:
        raise under.conflict(ExecutionActive, "an execution of this item has not ended")


def _report(
    under: Under, known: ExecutionRow, phase: Phase, *, by: Act, now: datetime
) -> ExecutionRow:
    later = PHASES.move(known.phase, phase.value)
    if later is None:
        if known.phase in PHASES.terminal and phase in PHASES.terminal and phase != known.phase:
            raise under.conflict(
                InvalidTransition, f"the execution ended as {known.phase}, it cannot be {phase}"
            )
        return known
    ended = max(now, known.started_at) if later in PHASES.terminal else None
    with connection.cursor() as cursor:
        cursor.execute(_REPORT, [later.value, ended, known.id])
    tell("execution_reported", under.item.id, by=by, execution=known.id)
    return known._replace(phase=later.value, ended_at=ended)


def _next(
    under: Under, run: Run, phase: Phase, resumed_from: str | None, now: datetime
) -> ExecutionRow:
    attempt = under.latest.attempt + 1 if under.latest else 1
    ended = now if phase in PHASES.terminal else None
    return ExecutionRow(
        new_id("we"), under.item.id, run.engine.value, run.engine_ref, attempt, resumed_from,
        phase.value, now, ended,
    )  # fmt: skip


def _insert(row: ExecutionRow) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, row)


def _kept(under: Under) -> ExecutionRow:
    """What the receipt of a replay names; it lives and dies with its item."""
    found = _find(_BY_ID, under.item.id, under.result_id)
    assert found is not None
    return found


def _find(sql: str, *params: str) -> ExecutionRow | None:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    return None if row is None else ExecutionRow._make(row)
