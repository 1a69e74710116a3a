"""Create: the key if it is known, or a new execution that its engine starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction

from executions import engines, targets
from executions.engines import Engine, EngineError
from executions.errors import EngineStartFailed, EngineUnavailable, ExecutionNotFound
from executions.kinds import Kind
from executions.operations.writing import (
    audit,
    json_text,
    log,
    placeholder,
    tell_ended,
    update,
    wake_runners,
)
from executions.queries import rows
from executions.queries.rows import COLUMNS, ExecutionRow
from executions.states import PHASES, Phase
from executions.targets import Target
from organizations.authorization import Permission
from organizations.errors import OrganizationNotFound
from organizations.operations.holding import hold
from organizations.queries import admit
from stigmer.core.callers import Act, Caller
from stigmer.core.errors import InvalidRequest, StoreUnavailable
from stigmer.core.idempotency import Request, check_same, keyed
from stigmer.core.ids import new_id

_ROUNDS = 50


class NewExecution(NamedTuple):
    """What a caller asks to be run; exactly one of `target` and `instance` is named."""

    org: str
    name: str | None = None
    labels: dict[str, str] | None = None
    target: str | None = None
    instance: str | None = None
    session: str = ""
    message: str = ""
    input: dict[str, Any] | None = None
    execution_target: Any = None


@dataclass(frozen=True, slots=True)
class Created:
    """The execution that a create stands for, and whether it is new."""

    execution: ExecutionRow
    created: bool


def creatable(caller: Caller, org: object) -> str:
    """The organization that a create names, if the caller may write there.

    Raises InvalidRequest, OrganizationNotFound, PermissionDenied.
    """
    if org is None or org == "":
        raise InvalidRequest("metadata.org is required", pointer="/metadata/org", fault="missing")
    if not isinstance(org, str):
        detail = "metadata.org must be a text"
        raise InvalidRequest(detail, pointer="/metadata/org", fault="wrong_type")
    admit(caller, Permission.WRITE, org)
    return org


def create_execution(
    *, kind: Kind, new: NewExecution, by: Act, now: datetime, facts: dict[str, Any]
) -> Created:
    """Store a PENDING execution and start it on the engine, or answer the one the key stands for.

    Raises OrganizationNotFound, PermissionDenied, InvalidRequest, IdempotencyKeyReused,
    EngineUnavailable before anything is looked up or written, ResourceNotFound, EngineStartFailed.
    """
    creatable(by.caller, new.org)
    _check_target(kind, new)
    request = keyed(operation=f"create_{kind.noun}", target=new.org, body=facts, by=by)
    known = request and _known(kind, new.org, request)
    if known:
        return Created(known, created=False)
    engine = engines.chosen()
    if not engine.connected:
        raise EngineUnavailable
    made = insert_execution(kind=kind, new=new, engine=engine.name, request=request, by=by, now=now)
    if made.created and not engine.pull:
        start(made.execution, engine, now=now)
    return made


def _check_target(kind: Kind, new: NewExecution) -> None:
    if new.target is None and new.instance is None:
        detail = f"either {kind.target}_id or {kind.target}_instance_id must be provided"
        raise InvalidRequest(detail, pointer=f"/spec/{kind.target}_id", fault="missing")
    if new.target is not None and new.instance is not None:
        detail = f"only one of {kind.target}_id and {kind.target}_instance_id may be provided"
        raise InvalidRequest(detail, pointer=f"/spec/{kind.target}_id", fault="unexpected")


@transaction.atomic
def insert_execution(
    *,
    kind: Kind,
    new: NewExecution,
    engine: str,
    request: Request | None = None,
    by: Act,
    now: datetime,
) -> Created:
    """Store a PENDING execution, which is not started yet (runners find it by themselves).

    Raises OrganizationNotFound, ResourceNotFound, IdempotencyKeyReused.
    """
    if not hold(new.org):
        raise OrganizationNotFound
    target = targets.resolve(
        kind, new.org, target=new.target, instance=new.instance, by=by, now=now
    )
    row = _row(kind, new, target, engine, by, now)
    if request is not None:
        known = _claim(row, request, now)
        if known is not None:
            return Created(known, created=False)
    with connection.cursor() as cursor:
        cursor.execute(_insert_sql(kind), row._asdict())
    wake_runners(kind)
    log.info("execution", event_kind="created", execution=row.id, **audit(by))
    return Created(row, created=True)


def _row(
    kind: Kind, new: NewExecution, target: Target, engine: str, by: Act, now: datetime
) -> ExecutionRow:
    return ExecutionRow(
        id=new_id(kind.prefix),
        organization=new.org,
        name=new.name or target.name,
        labels=json_text(new.labels or {}),
        target=target.id,
        target_slug=target.slug,
        target_name=target.name,
        instance=target.instance,
        session=new.session,
        visibility=target.visibility.value,
        created_by=by.actor,
        message=new.message,
        input=None if new.input is None else json_text(new.input),
        execution_target=None if new.execution_target is None else json_text(new.execution_target),
        phase=Phase.PENDING.value,
        tasks="[]",
        output=None,
        error="",
        started_at=None,
        completed_at=None,
        cost_micros=0,
        input_tokens=0,
        output_tokens=0,
        pending_approvals="[]",
        pending_file_reviews="[]",
        gates="{}",
        created_at=now,
        updated_at=now,
        ended_at=None,
        engine=engine,
        engine_ref="",
        claimed_by=None,
        claim_id="",
        claim_digest="",
        claim_attempt=0,
        claimable_at=now,
        last_inbox=0,
        has_events=False,
        duration_us=None,
    )


_WRITTEN = COLUMNS[:-1]


def _insert_sql(kind: Kind) -> str:
    values = ", ".join(placeholder(column) for column in _WRITTEN)
    return f"INSERT INTO {kind.table} ({', '.join(_WRITTEN)}) VALUES ({values})"


_KEPT = """
SELECT operation, actor, request_hash, coalesce(workflow_execution, agent_execution)
FROM executions_executionrequest WHERE organization = %s AND idempotency_key = %s
"""
_CLAIM = """
INSERT INTO executions_executionrequest (
    organization, idempotency_key, operation, request_hash, actor, {receipt}, created_at
) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (organization, idempotency_key) DO NOTHING RETURNING 1
"""


def _known(kind: Kind, org: str, request: Request) -> ExecutionRow | None:
    """The execution that this key made, as it is now. Raises IdempotencyKeyReused."""
    with connection.cursor() as cursor:
        cursor.execute(_KEPT, [org, request.key])
        kept = cursor.fetchone()
    if kept is None:
        return None
    check_same(kept[:3], request)
    return rows.find(kind, kept[3])


def _claim(row: ExecutionRow, request: Request, now: datetime) -> ExecutionRow | None:
    """Take the key for this row, or answer the row that has it (one in flight is awaited).

    The key points at a row that is inserted later in the transaction: the foreign key is deferred.
    """
    sql = _CLAIM.format(receipt=row.kind.receipt)
    values = [row.organization, request.key, request.operation, request.digest, request.actor]
    for _ in range(_ROUNDS):
        with connection.cursor() as cursor:
            cursor.execute(sql, [*values, row.id, now])
            if cursor.fetchone() is not None:
                return None
        known = _known(row.kind, row.organization, request)
        if known is not None:
            return known
    raise StoreUnavailable("this idempotency key keeps changing; retry")


def start(execution: ExecutionRow, engine: Engine, *, now: datetime) -> None:
    """Start a stored execution on a push engine, outside of any transaction.

    Raises EngineStartFailed after the failure is stored: the execution is EXECUTION_FAILED.
    """
    try:
        engine.start(execution, recovery_mode=False)
    except EngineError as cause:
        log.warning("engine_start_failed", execution=execution.id, cause=str(cause))
        _fail(execution, str(cause), now)
        detail = f"the engine did not start {execution.id}"
        raise EngineStartFailed(detail, execution_id=execution.id) from cause


@transaction.atomic
def _fail(execution: ExecutionRow, error: str, now: datetime) -> None:
    row = rows.lock(execution.kind, execution.id)
    if row is None:
        raise ExecutionNotFound.of(execution.kind.noun, execution.id)
    if row.phase in PHASES.terminal:
        return
    changes = {
        "phase": Phase.FAILED.value, "error": error[:8192], "completed_at": now, "ended_at": now,
        "updated_at": now,
    }  # fmt: skip
    tell_ended(update(row, changes), now)
