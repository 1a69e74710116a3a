"""What every mutation of an item shares: the lock, the receipt, the one event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from django.db import connection, transaction
from psycopg.types.json import Jsonb

from organizations.authorization import Permission
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidTransition, PreconditionFailed
from stigmer.core.idempotency import Request, check_same
from stigmer.core.wakeups import wake
from workitems import queries
from workitems.errors import StateVersionConflict
from workitems.queries import ExecutionRow, ItemRow, ItemView
from workitems.states import LIFECYCLE, EventKind, WorkItemState

log = structlog.get_logger("stigmer.workitems")


@dataclass(frozen=True, slots=True)
class Under:
    """What is true of an item under its lock, read after the lock was won."""

    item: ItemRow
    latest: ExecutionRow | None
    running: bool
    receipt: tuple[str, str, str] | None = None
    result_id: str = ""

    @property
    def view(self) -> ItemView:
        """What an answer about the item shows now."""
        successor = self.item.superseded_by and queries.find(self.item.superseded_by)
        return ItemView(queries.beside(self.item, successor or None), self.latest)

    def replays(self, request: Request | None) -> bool:
        """Whether this key was used for exactly this request. Raises IdempotencyKeyReused."""
        if request is None or self.receipt is None:
            return False
        check_same(self.receipt, request)
        return True

    def conflict(self, refusal: type[Any], detail: str) -> Any:
        """A conflict about this item, carrying its state and version as they are now."""
        return refusal(detail, state=self.item.state, state_version=self.item.state_version)

    def need_unchanged(self, unchanged: Callable[[ItemView], bool] | None) -> None:
        """Raises PreconditionFailed when the caller's `If-Match` names another answer."""
        if unchanged is not None and not unchanged(self.view):
            raise PreconditionFailed("the work item is not the one that If-Match names")

    def need_version(self, expected: int) -> None:
        """Raises StateVersionConflict when the caller's version is not the current one."""
        if self.item.state_version != expected:
            raise self.conflict(
                StateVersionConflict,
                f"expected version {expected}, the item is at {self.item.state_version}",
            )

    def need_open(self, action: str) -> None:
        """Raises InvalidTransition on a terminal item."""
        if self.item.state in LIFECYCLE.terminal:
            raise self.conflict(InvalidTransition, f"cannot {action} when {self.item.state}")


@dataclass(frozen=True, slots=True)
class Note:
    """The event that a mutation leaves."""

    kind: EventKind
    from_state: str | None = None
    to_state: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


_ROWS = ", ".join(f"e.{name}" for name in ExecutionRow._fields)
_AFTER_LOCK = f"""
    SELECT r.operation, r.actor, r.request_hash, r.result_id, running.yes, {_ROWS}
    FROM (SELECT EXISTS (
        SELECT 1 FROM workitems_workitemexecution
        WHERE work_item = %(item)s AND phase NOT IN ('Succeeded', 'Failed', 'Error')
    ) AS yes) running
    LEFT JOIN workitems_itemrequest r
        ON r.work_item = %(item)s AND r.idempotency_key = %(key)s::text
    LEFT JOIN LATERAL (
        SELECT * FROM workitems_workitemexecution WHERE work_item = %(item)s
        ORDER BY attempt DESC LIMIT 1
    ) e ON true
"""


def lock(item: str, *, by: Act) -> Under:
    """Lock an item that the caller may write on, and read what decides about it.

    Raises WorkItemNotFound, PermissionDenied.
    """
    found = queries.check(by.caller, queries.lock_one(item), Permission.WRITE)
    with connection.cursor() as cursor:
        # A statement of its own: one that waits for the lock sees the world of before the wait.
        cursor.execute(_AFTER_LOCK, {"item": item, "key": by.key})
        operation, actor, digest, result, running, *execution = cursor.fetchone()
    return Under(
        item=found,
        latest=None if execution[0] is None else ExecutionRow._make(execution),
        running=running,
        receipt=None if operation is None else (operation, actor, digest),
        result_id=result or "",
    )


_EVENT_AND_RECEIPT = """
, event AS (
    INSERT INTO workitems_workitemevent (
        work_item, seq, kind, from_state, to_state, actor, acting_principal, surface,
        request_id, detail, created_at
    )
    SELECT id, last_event_seq, %(kind)s::text, %(from_state)s::text, %(to_state)s::text,
        %(actor)s::text, %(acting)s::text, %(surface)s::text, %(request_id)s::text,
        %(detail)s::jsonb, %(now)s::timestamptz
    FROM moved
), receipt AS (
    INSERT INTO workitems_itemrequest (
        work_item, idempotency_key, operation, request_hash, actor, result_id, created_at
    )
    SELECT id, %(key)s::text, %(operation)s::text, %(digest)s::text, %(actor)s::text,
        %(result_id)s::text, %(now)s::timestamptz
    FROM moved WHERE %(operation)s::text IS NOT NULL
)
SELECT last_event_seq FROM moved
"""
_MOVE = f"""
WITH moved AS (
    UPDATE workitems_workitem SET
        state = %(state)s::text, waiting_reason = %(waiting_reason)s::text,
        superseded_by = %(superseded_by)s::text, completed_at = %(completed_at)s::timestamptz,
        updated_at = %(updated_at)s::timestamptz, state_version = state_version + 1,
        last_event_seq = last_event_seq + 1
    WHERE id = %(id)s AND state_version = %(state_version)s
    RETURNING id, last_event_seq
) {_EVENT_AND_RECEIPT}
"""
_NOTE = f"""
WITH moved AS (
    UPDATE workitems_workitem SET last_event_seq = last_event_seq + 1
    WHERE id = %(id)s RETURNING id, last_event_seq
) {_EVENT_AND_RECEIPT}
"""
_RECEIPT = """
INSERT INTO workitems_itemrequest (
    work_item, idempotency_key, operation, request_hash, actor, result_id, created_at
) VALUES (%s, %s, %s, %s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A new state of an item and all that goes with it."""

    state: WorkItemState
    waiting_reason: str = ""
    superseded_by: str | None = None


def move(
    under: Under,
    change: Change,
    note: Note,
    *,
    by: Act,
    now: datetime,
    request: Request | None,
    result_id: str = "",
) -> ItemRow:
    """Change the state, raise the version by one, write the event and the receipt: one statement.

    Raises StateVersionConflict when the version moved since it was read, which the lock rules out.
    """
    item = under.item
    moment = max(now, item.updated_at)
    completed = moment if change.state in LIFECYCLE.terminal else None
    values: dict[str, Any] = {
        "state": change.state.value,
        "waiting_reason": change.waiting_reason,
        "superseded_by": change.superseded_by,
        "completed_at": completed,
        "updated_at": moment,
        "state_version": item.state_version,
    }
    seq = _write(_MOVE, item, values, note, by=by, now=now, request=request, result_id=result_id)
    if seq is None:
        raise under.conflict(StateVersionConflict, "the item has changed")
    return item._replace(
        **values | {"state_version": item.state_version + 1, "last_event_seq": seq}
    )


def record(
    item: ItemRow,
    note: Note,
    *,
    by: Act,
    now: datetime,
    request: Request | None,
    result_id: str = "",
) -> None:
    """Write the event and the receipt of a mutation that changes neither state nor version."""
    _write(_NOTE, item, {}, note, by=by, now=now, request=request, result_id=result_id)


def keep_receipt(
    item: ItemRow, *, by: Act, now: datetime, request: Request | None, result_id: str
) -> None:
    """Write the receipt of a mutation that leaves no event."""
    if request is None:
        return
    kept = (request.key, request.operation, request.digest, by.actor, result_id, now)
    with connection.cursor() as cursor:
        cursor.execute(_RECEIPT, [item.id, *kept])


def _write(
    sql: str,
    item: ItemRow,
    values: Mapping[str, Any],
    note: Note,
    *,
    by: Act,
    now: datetime,
    request: Request | None,
    result_id: str,
) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(
            sql,
            {
                **values,
                **note_params(note, by=by, now=now),
                "id": item.id,
                "key": None if request is None else request.key,
                "operation": None if request is None else request.operation,
                "digest": None if request is None else request.digest,
                "result_id": result_id,
            },
        )
        row = cursor.fetchone()
    if row is None:
        return None
    wake(f"work-item:{item.id}")
    tell(note.kind.value, item.id, by=by)
    return int(row[0])


def note_params(note: Note, *, by: Act, now: datetime) -> dict[str, Any]:
    """The parameters of an event's insert."""
    return {
        "kind": note.kind.value,
        "from_state": note.from_state,
        "to_state": note.to_state,
        "detail": Jsonb(dict(note.detail)),
        "actor": by.actor,
        "acting": by.acting,
        "surface": by.surface,
        "request_id": by.request_id,
        "now": now,
    }


def tell(kind: str, item: str, *, by: Act, **ids: str) -> None:
    """One record of the audit log once the effect is committed: names and ids, never text."""
    facts = {"actor": by.actor, "acting": by.acting, "surface": by.surface}
    transaction.on_commit(
        partial(
            log.info,
            "work_item",
            event_kind=kind,
            work_item=item,
            request_id=by.request_id,
            **facts,
            **ids,
        ),
        robust=True,
    )
