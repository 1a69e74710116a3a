"""A person's decision about a task that waits, relayed to the engine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db import transaction

from executions import engines
from executions.engines import Engine, EngineError
from executions.engines.base import RELAY
from executions.errors import (
    ApprovalAlreadyDecided,
    EngineSignalFailed,
    EngineUnavailable,
    FailedPrecondition,
    TaskNotFound,
)
from executions.kinds import WORKFLOW
from executions.operations.signals import envelope_of
from executions.operations.writing import Message, audit, json_text, log, tell_runner, update
from executions.queries import rows
from executions.queries.rows import ExecutionRow
from executions.states import Decision, InboxKind, Phase, TaskStatus
from organizations.authorization import Permission
from stigmer.core.callers import HUMAN, Act, Caller
from stigmer.core.errors import PermissionDenied

PEOPLE_ONLY = "only a person may decide about a task"


@dataclass(frozen=True, slots=True)
class Decided:
    """The execution, and whether this request is the one that decided."""

    execution: ExecutionRow
    new: bool


def deciding(caller: Caller, execution: str, task: str = "") -> ExecutionRow:
    """The execution, if the caller is a person who may write on it.

    Raises ExecutionNotFound, PermissionDenied.
    """
    row = rows.writable(caller, WORKFLOW, execution)
    if caller.kind != HUMAN:
        raise PermissionDenied(PEOPLE_ONLY)
    return row


def decide_task(
    *, execution: str, task: str, decision: Decision, comment: str, by: Act, now: datetime
) -> Decided:
    """Approve or reject a waiting task; the same decision again has no second effect.

    Raises ExecutionNotFound, PermissionDenied, EngineUnavailable, TaskNotFound,
    FailedPrecondition, ApprovalAlreadyDecided, EngineSignalFailed.
    """
    row = deciding(by.caller, execution)
    engine = engines.engine_of(row.engine)
    if not engine.connected:
        raise EngineUnavailable(f"workflow creator not configured for task '{task}'")
    payload = {"decision": decision.value, "comment": comment or None, "decided_by": by.actor}
    envelope = envelope_of(f"human_input_{task}", payload)
    decided = _record(execution, task, decision, engine, envelope, by=by, now=now)
    if decided.new and not engine.pull:
        _relay(engine, decided.execution, task, envelope)
    return decided


@transaction.atomic
def _record(
    execution: str,
    task: str,
    decision: Decision,
    engine: Engine,
    envelope: dict[str, Any],
    *,
    by: Act,
    now: datetime,
) -> Decided:
    found = rows.lock(WORKFLOW, execution)
    row = rows.check(by.caller, WORKFLOW, execution, found, Permission.WRITE)
    _need_waiting(row, task)
    gates = msgspec.json.decode(row.gates)
    gate = gates.setdefault(task, {"since": now.isoformat()})
    known = gate.get("decision")
    if known is not None:
        if known != decision:
            raise ApprovalAlreadyDecided(f"this task was decided: {known}", decision=known)
        # A push that failed is repeated; the engine takes it once.
        return Decided(row, new=not gate.get("relayed", False))
    gates[task] = {
        **gate, "decision": decision.value, "decided_by": by.actor, "relayed": engine.pull,
    }  # fmt: skip
    row = update(row, {"gates": json_text(gates)})
    if engine.pull:
        row = tell_runner(row, Message(InboxKind.APPROVAL, RELAY, json_text(envelope)), now)
    log.info("execution", event_kind="approval_decided", execution=execution, **audit(by))
    return Decided(row, new=True)


def _need_waiting(row: ExecutionRow, task: str) -> None:
    tasks = {each["name"]: each["status"] for each in msgspec.json.decode(row.tasks)}
    if task not in tasks:
        raise TaskNotFound(f"task not found: {task}")
    if tasks[task] != TaskStatus.WAITING_APPROVAL or row.phase != Phase.IN_PROGRESS:
        raise FailedPrecondition(f"task '{task}' is not waiting for approval", phase=row.phase)


def _relay(engine: Engine, row: ExecutionRow, task: str, envelope: dict[str, Any]) -> None:
    since = msgspec.json.decode(row.gates)[task]["since"]
    try:
        engine.signal(row, RELAY, envelope, request=f"{row.id}/{task}/{since}")
    except EngineError as cause:
        log.warning("engine_signal_failed", execution=row.id, cause=str(cause))
        raise EngineSignalFailed from cause
    _relayed(row.id, task, since)


@transaction.atomic
def _relayed(execution: str, task: str, since: str) -> None:
    row = rows.lock(WORKFLOW, execution)
    if row is None:
        return
    gates = msgspec.json.decode(row.gates)
    if gates.get(task, {}).get("since") == since:
        gates[task]["relayed"] = True
        update(row, {"gates": json_text(gates)})
