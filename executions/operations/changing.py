"""Change a pending execution, delete an ended one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from executions.errors import FailedPrecondition
from executions.kinds import Kind
from executions.operations.writing import audit, json_text, log, update
from executions.queries import rows
from executions.queries.rows import ExecutionRow
from executions.states import PHASES, Phase
from organizations.authorization import Permission
from stigmer.core.callers import Act
from stigmer.core.errors import PreconditionFailed

Expected = Callable[[ExecutionRow], bool]


@transaction.atomic
def change_execution(
    *,
    kind: Kind,
    id: str,
    message: str | None = None,
    input: dict[str, Any] | None = None,
    expected: Expected | None = None,
    by: Act,
    now: datetime,
) -> ExecutionRow:
    """Change what a PENDING execution will be told; `input` is replaced whole.

    Raises ExecutionNotFound, PermissionDenied, PreconditionFailed, FailedPrecondition.
    """
    row = _locked(kind, id, expected, by)
    if row.phase != Phase.PENDING:
        raise FailedPrecondition(
            f"cannot update execution in phase {row.phase}; only PENDING can be updated",
            phase=row.phase,
        )
    changes: dict[str, Any] = {}
    if message is not None:
        changes["message"] = message
    if input is not None:
        changes["input"] = json_text(input)
    log.info("execution", event_kind="changed", execution=id, **audit(by))
    update(row, changes)
    # JSON reads as PostgreSQL spells it: the answer's tag is the one that a read shows.
    return rows.find(kind, id) or row


@transaction.atomic
def delete_execution(
    *, kind: Kind, id: str, expected: Expected | None = None, by: Act, now: datetime
) -> ExecutionRow:
    """Delete an ended execution with its events, signals and inbox, and answer it.

    Raises ExecutionNotFound, PermissionDenied, PreconditionFailed, FailedPrecondition.
    """
    row = _locked(kind, id, expected, by)
    if row.phase not in PHASES.terminal:
        raise FailedPrecondition(
            f"cannot delete execution in phase {row.phase}; only terminal executions can be"
            " deleted",
            phase=row.phase,
        )
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {kind.table} WHERE id = %s", [id])
    log.info("execution", event_kind="deleted", execution=id, **audit(by))
    return row


def _locked(kind: Kind, id: str, expected: Expected | None, by: Act) -> ExecutionRow:
    row = rows.check(by.caller, kind, id, rows.lock(kind, id), Permission.WRITE)
    if expected is not None and not expected(row):
        raise PreconditionFailed
    return row
