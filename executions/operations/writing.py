"""What every write on an execution shares: the row under its lock, the update, the inbox."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import structlog
from django.db import connection

from executions.kinds import Kind
from executions.queries.rows import ExecutionRow
from executions.states import PHASES, InboxKind
from stigmer.core.callers import Act
from stigmer.core.registries import ended
from stigmer.core.wakeups import wake

log = structlog.get_logger("stigmer.executions")
# JSON columns travel as text and are cast where they are written.
_JSON = frozenset(
    {
        "labels", "input", "execution_target", "tasks", "output", "pending_approvals",
        "pending_file_reviews", "gates",
    }
)  # fmt: skip


class Message(NamedTuple):
    """What the runner must be told."""

    kind: InboxKind
    channel: str | None = None
    envelope: str | None = None
    reason: str = ""


def json_text(value: Any) -> str:
    """A value as the text of a JSON column."""
    return msgspec.json.encode(value).decode()


def placeholder(column: str) -> str:
    """The named parameter of a column, with the cast that a JSON text needs."""
    return f"%({column})s::jsonb" if column in _JSON else f"%({column})s"


def assignments(changes: Mapping[str, Any]) -> str:
    """The SET list of an UPDATE of these columns."""
    return ", ".join(f"{column} = {placeholder(column)}" for column in changes)


def update(row: ExecutionRow, changes: Mapping[str, Any]) -> ExecutionRow:
    """Write these columns of a locked row; waiters look again after the commit."""
    if changes:
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {row.kind.table} SET {assignments(changes)} WHERE id = %(id)s",
                {**changes, "id": row.id},
            )
        wake_waiters(row.id)
    return changed(row, changes)


def changed(row: ExecutionRow, changes: Mapping[str, Any]) -> ExecutionRow:
    """The row after these changes, its generated column too."""
    after = row._replace(**changes)
    if after.started_at is None or after.completed_at is None:
        return after._replace(duration_us=None)
    span = after.completed_at - after.started_at
    return after._replace(duration_us=max(0, round(span.total_seconds() * 1_000_000)))


def wake_waiters(execution: str) -> None:
    """Tell streams and long polls of this execution to look again, after the commit."""
    wake(f"execution:{execution}")


def wake_runners(kind: Kind) -> None:
    """Tell waiting claims that something may be claimable, after the commit."""
    wake(f"claims:{kind.noun}")


def tell_ended(row: ExecutionRow, now: datetime) -> None:
    """Tell the other apps, in the transaction itself, that this execution ended."""
    if row.phase in PHASES.terminal:
        for _, told in ended:
            told(row.id, row.phase, now)


_TELL = """
WITH told AS (
    UPDATE {table} SET last_inbox = last_inbox + 1 WHERE id = %s RETURNING id, last_inbox
)
INSERT INTO {inbox} (execution, sequence, kind, channel, envelope, reason, created_at)
SELECT id, last_inbox, %s, %s, %s::jsonb, %s, %s FROM told RETURNING sequence
"""


def tell_runner(row: ExecutionRow, message: Message, now: datetime) -> ExecutionRow:
    """Put a message into the inbox of a locked execution."""
    sql = _TELL.format(table=row.kind.table, inbox=row.kind.inbox)
    with connection.cursor() as cursor:
        cursor.execute(sql, [row.id, message.kind.value, *message[1:], now])
        sequence = cursor.fetchone()[0]
    wake_waiters(row.id)
    return row._replace(last_inbox=sequence)


def audit(by: Act) -> dict[str, Any]:
    """Who acted, for the audit log: names and ids, never text."""
    return {"actor": by.actor, "acting": by.acting, "surface": by.surface, "request": by.request_id}
