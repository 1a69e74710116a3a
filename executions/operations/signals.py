"""sendSignal: at most one effect for a key, whatever dies when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction

from executions import engines
from executions.engines import Engine, EngineError
from executions.engines.base import RELAY
from executions.errors import (
    Aborted,
    EngineSignalFailed,
    FailedPrecondition,
)
from executions.kinds import WORKFLOW
from executions.operations import dedupe
from executions.operations.dedupe import Holder
from executions.operations.writing import Message, audit, json_text, log, tell_runner
from executions.queries import rows
from executions.queries.rows import ExecutionRow
from executions.states import SIGNALABLE, InboxKind
from organizations.authorization import Permission
from stigmer.core.callers import Act
from stigmer.core.errors import AlreadyExists, InvalidRequest, StoreUnavailable
from stigmer.core.ids import new_id

NO_ENGINE = "workflow creator is not available"


def send_signal(
    *, execution: str, signal: str, payload: Any, by: Act, now: datetime
) -> ExecutionRow:
    """Deliver a signal to a workflow execution; the caller's key makes retries one effect.

    Raises ExecutionNotFound, PermissionDenied, InvalidRequest, FailedPrecondition, AlreadyExists
    for a delivered key, Aborted for one in delivery, EngineSignalFailed, StoreUnavailable.
    """
    row = rows.writable(by.caller, WORKFLOW, execution)
    if not signal:
        raise InvalidRequest("signal_name is required", pointer="/signal_name", fault="missing")
    need_signalable(row)
    engine = engines.engine_of(row.engine)
    if engine.connected and engine.pull:
        return _put(execution, signal, payload, by=by, now=now)
    return _push(row, engine, signal, payload, by=by, now=now)


def need_signalable(row: ExecutionRow) -> None:
    """Raises FailedPrecondition outside PENDING and IN_PROGRESS."""
    if row.phase not in SIGNALABLE:
        raise FailedPrecondition(
            f"cannot send signal to execution in phase {row.phase}; only PENDING or IN_PROGRESS"
            " executions can receive signals",
            phase=row.phase,
        )


def envelope_of(signal: str, payload: Any) -> dict[str, Any]:
    """What travels on the channel."""
    return {"signalName": signal, "payload": payload}


@transaction.atomic
def _put(execution: str, signal: str, payload: Any, *, by: Act, now: datetime) -> ExecutionRow:
    """Claim, inbox entry and mark are one transaction: exactly one effect whatever dies when."""
    found = rows.lock(WORKFLOW, execution)
    row = rows.check(by.caller, WORKFLOW, execution, found, Permission.WRITE)
    need_signalable(row)
    held = _claim(row, signal, by.key, now)
    message = Message(InboxKind.SIGNAL, RELAY, json_text(envelope_of(signal, payload)))
    row = tell_runner(row, message, now)
    if held is not None:
        dedupe.mark_delivered(org=row.organization, key=str(by.key), fence=held.fence, now=now)
    log.info("execution", event_kind="signalled", execution=execution, **audit(by))
    return row


def _push(
    row: ExecutionRow, engine: Engine, signal: str, payload: Any, *, by: Act, now: datetime
) -> ExecutionRow:
    """The claim commits before the send, which happens outside of any transaction."""
    held = _claim(row, signal, by.key, now)
    with _released_on_failure(row, by.key, held):
        if not engine.connected:
            raise FailedPrecondition(NO_ENGINE, phase=row.phase)
        request = f"{row.organization}/{by.key}" if held else new_id("sig")
        try:
            engine.signal_with_start(
                row, RELAY, envelope_of(signal, payload), request=request, recovery_mode=False
            )
        except EngineError as cause:
            log.warning("engine_signal_failed", execution=row.id, cause=str(cause))
            raise EngineSignalFailed from cause
    if held is not None:
        _mark(row, str(by.key), held, now)
    log.info("execution", event_kind="signalled", execution=row.id, **audit(by))
    return rows.find(WORKFLOW, row.id) or row


def _claim(row: ExecutionRow, signal: str, key: str | None, now: datetime) -> Holder | None:
    """Take the key, if there is one. Raises AlreadyExists, Aborted, StoreUnavailable."""
    if key is None:
        return None
    try:
        held = dedupe.claim(org=row.organization, key=key, execution=row.id, signal=signal, now=now)
    except DatabaseError as cause:
        # Nothing is sent: a send without dedupe would break the promise the key asked for.
        log.exception("signal_dedupe_failed", execution=row.id)
        raise StoreUnavailable(headers={"Retry-After": "1"}) from cause
    if held.won:
        return held
    if dedupe.is_delivered(held):
        raise AlreadyExists(f"signal_with_idempotency_key already exists: {key}")
    raise Aborted(
        f'signal with idempotency_key "{key}" is currently being delivered; retry shortly',
        headers={"Retry-After": "1"},
    )


@contextmanager
def _released_on_failure(row: ExecutionRow, key: str | None, held: Holder | None) -> Iterator[None]:
    """Any failure after the claim releases it, so that the retry claims freshly."""
    try:
        yield
    except BaseException:
        if held is not None:
            try:
                dedupe.release(org=row.organization, key=str(key), fence=held.fence)
            except DatabaseError:
                # The claim heals by its expiry.
                log.exception("signal_release_failed", execution=row.id)
        raise


def _mark(row: ExecutionRow, key: str, held: Holder, now: datetime) -> None:
    try:
        dedupe.mark_delivered(org=row.organization, key=key, fence=held.fence, now=now)
    except DatabaseError:
        # It was delivered: the request succeeded, and the claim still holds for its five minutes.
        log.exception("signal_mark_failed", execution=row.id)
