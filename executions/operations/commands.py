"""Lifecycle commands: cancel, terminate, pause, resume, recover."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from django.db import connection, transaction

from executions import engines
from executions.engines import Engine, EngineError, WorkflowNotFoundError
from executions.errors import EngineCommandFailed, ExecutionNotFound, FailedPrecondition
from executions.kinds import AGENT, Kind
from executions.operations.writing import (
    Message,
    audit,
    log,
    tell_ended,
    tell_runner,
    update,
    wake_runners,
)
from executions.queries import rows
from executions.queries.rows import ExecutionRow
from executions.states import COMMANDS, PHASES, Command, InboxKind, Phase
from organizations.authorization import Permission
from organizations.operations.holding import hold
from stigmer.core.callers import Act

NO_ENGINE = "engine is not available"
TERMINATED = "Terminated by user"


def command_execution(
    *, kind: Kind, id: str, command: Command, reason: str = "", by: Act, now: datetime
) -> ExecutionRow:
    """Cancel, terminate, pause, resume or recover: the engine first, then the row.

    What is already there is success without a second effect. Raises ExecutionNotFound,
    PermissionDenied, FailedPrecondition for the phase and without an engine, EngineCommandFailed.
    """
    row = rows.writable(by.caller, kind, id)
    if _done(row, command):
        return row
    engine = engines.engine_of(row.engine)
    if not engine.connected:
        raise FailedPrecondition(NO_ENGINE, phase=row.phase)
    if not engine.pull:
        _tell(engine, row, command, reason)
    return _apply(kind, id, command, reason, by=by, now=now)


def _done(row: ExecutionRow, command: Command) -> bool:
    """Whether the execution is where the command leads. Raises FailedPrecondition."""
    move = COMMANDS[command]
    if row.phase == move.target:
        return True
    if row.phase not in move.sources:
        raise FailedPrecondition(
            f"cannot {command} execution in phase {row.phase}; only {move.allowed}"
            f" can be {move.past}",
            phase=row.phase,
        )
    return False


def _tell(engine: Engine, row: ExecutionRow, command: Command, reason: str) -> None:
    try:
        if command is Command.CANCEL:
            engine.cancel(row)
        elif command is Command.TERMINATE:
            engine.terminate(row, reason or TERMINATED)
        elif command is Command.RECOVER:
            engine.start(row, recovery_mode=True)
        else:
            # Pausing twice is pausing, so the request needs no more identity than this.
            request = f"{row.id}/{command}/{row.updated_at.isoformat()}"
            engine.signal(row, command.value, {"reason": reason}, request=request)
    except WorkflowNotFoundError as cause:
        log.warning("engine_knows_no_such_run", execution=row.id, command=command, cause=str(cause))
    except EngineError as cause:
        log.warning("engine_command_failed", execution=row.id, command=command, cause=str(cause))
        raise EngineCommandFailed(f"the engine did not {command} {row.id}") from cause


@transaction.atomic
def _apply(
    kind: Kind, id: str, command: Command, reason: str, *, by: Act, now: datetime
) -> ExecutionRow:
    found = rows.find(kind, id) if command is Command.RECOVER else None
    if found is not None and not hold(found.organization):
        raise ExecutionNotFound.of(kind.noun, id)
    row = rows.check(by.caller, kind, id, rows.lock(kind, id), Permission.WRITE)
    # Decided anew: what became terminal while the engine was asked wins.
    if _done(row, command):
        return row
    after = _recover(row, now) if command is Command.RECOVER else _move(row, command, reason, now)
    log.info("execution", event_kind=command.value, execution=id, phase=after.phase, **audit(by))
    return after


def _move(row: ExecutionRow, command: Command, reason: str, now: datetime) -> ExecutionRow:
    target = COMMANDS[command].target
    changes: dict[str, Any] = {"phase": target.value, "updated_at": max(now, row.updated_at)}
    if target in PHASES.terminal:
        changes |= {"completed_at": now, "ended_at": now, "pending_approvals": "[]", "gates": "{}"}
    if command is Command.TERMINATE:
        changes["error"] = f"Terminated: {reason}" if reason else TERMINATED
    after = update(row, changes)
    if row.engine == "runner":
        after = tell_runner(after, Message(InboxKind(command.value), reason=reason), now)
    if target in PHASES.terminal:
        _cancel_children(row, reason, now)
        tell_ended(after, now)
    return after


def _cancel_children(row: ExecutionRow, reason: str, now: datetime) -> None:
    """Cancel the live agent executions that the gates of this one name; parent before child."""
    gates = msgspec.json.decode(row.pending_approvals)
    gates += msgspec.json.decode(row.pending_file_reviews)
    named = {gate.get("child_agent_execution_id") for gate in gates} - {row.id}
    for id in sorted(filter(None, named)):
        child = rows.lock(AGENT, id)
        if child is None or child.organization != row.organization:
            continue
        if child.phase in PHASES.terminal:
            continue
        changes = {
            "phase": Phase.CANCELLED.value, "updated_at": now, "completed_at": now,
            "ended_at": now, "pending_approvals": "[]", "gates": "{}",
        }  # fmt: skip
        cancelled = update(child, changes)
        if child.engine == "runner":
            tell_runner(cancelled, Message(InboxKind.CANCEL, reason=reason), now)
        else:
            transaction.on_commit(lambda child=child: _cancel_there(child))  # type: ignore[misc]
        _cancel_children(child, reason, now)
        tell_ended(cancelled, now)


def _cancel_there(child: ExecutionRow) -> None:
    try:
        engines.engine_of(child.engine).cancel(child)
    except EngineError as cause:
        log.warning("engine_command_failed", execution=child.id, command="cancel", cause=str(cause))


_FORGET = """
UPDATE {inbox} SET acknowledged_at = %s
WHERE execution = %s AND acknowledged_at IS NULL AND channel IS NULL
"""


def _recover(row: ExecutionRow, now: datetime) -> ExecutionRow:
    """Back to IN_PROGRESS with no claim; what ended the last run must not end this one."""
    changes = {
        "phase": Phase.IN_PROGRESS.value, "updated_at": max(now, row.updated_at),
        "completed_at": None, "ended_at": None, "error": "", "claimed_by": None, "claim_id": "",
        "claim_digest": "", "claim_attempt": 0, "claimable_at": now,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('stigmer.recover', 'on', true)")
        after = update(row, changes)
        cursor.execute("SELECT set_config('stigmer.recover', 'off', true)")
        cursor.execute(_FORGET.format(inbox=row.kind.inbox), [now, row.id])
    wake_runners(row.kind)
    return after
