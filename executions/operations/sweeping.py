"""What sweeps take of executions, batch by batch, and what a deleted organization's gate does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from executions.kinds import KINDS, Kind
from executions.operations.writing import log, tell_ended, update
from executions.queries import rows
from executions.queries.rows import COLUMNS, ExecutionRow
from executions.states import LIVE, Phase
from stigmer.background.sweeps import Step, Sweep

LOST = "runner lost"
_LIVE = ", ".join(f"'{phase}'" for phase in LIVE)


@transaction.atomic
def _batch(sql: str, params: Any) -> int:
    with connection.cursor() as cursor:
        # The triggers that protect history let a purge pass, in this transaction alone.
        cursor.execute("SELECT set_config('stigmer.purge', 'on', true)")
        cursor.execute(sql, params)
        return int(cursor.rowcount)


def _count(sql: str, params: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.fetchone()[0])


# Signal claims ------------------------------------------------------------------------------------

_EXPIRED = """
DELETE FROM executions_signalclaim c USING (
    SELECT organization, idempotency_key FROM executions_signalclaim
    WHERE expires_at <= %s ORDER BY expires_at LIMIT %s FOR UPDATE SKIP LOCKED
) due WHERE c.organization = due.organization AND c.idempotency_key = due.idempotency_key
"""


def delete_expired_claims(cutoff: datetime, size: int) -> int:
    """Delete at most `size` signal claims that expired."""
    return _batch(_EXPIRED, [cutoff, size])


def claims_expired(cutoff: datetime) -> int:
    """How many signal claims expired."""
    return _count("SELECT count(*) FROM executions_signalclaim WHERE expires_at <= %s", [cutoff])


# Lost runners -------------------------------------------------------------------------------------

_LOST = f"""
FROM {{table}} e WHERE e.phase IN ({_LIVE}) AND e.claimed_by IS NOT NULL
  AND e.claimable_at <= %(cutoff)s AND e.claim_attempt >= %(attempts)s
"""


def _lost(cutoff: datetime) -> dict[str, Any]:
    return {"cutoff": cutoff, "attempts": settings.STIGMER_MAX_CLAIM_ATTEMPTS}


@transaction.atomic
def fail_lost(kind: Kind, cutoff: datetime, size: int) -> int:
    """Fail at most `size` executions whose last allowed lease lapsed."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(COLUMNS)} {_LOST.format(table=kind.table)}"
            " ORDER BY claimable_at, id LIMIT %(size)s FOR NO KEY UPDATE SKIP LOCKED",
            {**_lost(cutoff), "size": size},
        )
        lost = [ExecutionRow._make(row) for row in cursor.fetchall()]
    for row in lost:
        changes = {
            "phase": Phase.FAILED.value, "error": LOST, "updated_at": max(cutoff, row.updated_at),
            "completed_at": cutoff, "ended_at": cutoff, "pending_approvals": "[]", "gates": "{}",
        }  # fmt: skip
        tell_ended(update(row, changes), cutoff)
        log.info("execution", event_kind="runner_lost", execution=row.id)
    return len(lost)


def lost_due(kind: Kind, cutoff: datetime) -> int:
    """How many executions have lost their last runner."""
    return _count(f"SELECT count(*) {_LOST.format(table=kind.table)}", _lost(cutoff))


# Old events and executions ------------------------------------------------------------------------

_DUE_LOGS = """
SELECT id FROM executions_workflowexecution
WHERE has_events AND ended_at IS NOT NULL AND ended_at < %(cutoff)s
ORDER BY ended_at, id LIMIT 50 FOR NO KEY UPDATE SKIP LOCKED
"""
_OLD_EVENTS = """
DELETE FROM executions_workflowexecutionevent e USING (
    SELECT execution, sequence_number FROM executions_workflowexecutionevent
    WHERE execution = ANY(%(due)s::text[]) LIMIT %(size)s
) d WHERE e.execution = d.execution AND e.sequence_number = d.sequence_number
"""
_EMPTIED = """
UPDATE executions_workflowexecution x SET has_events = false
WHERE id = ANY(%(due)s::text[]) AND NOT EXISTS (
    SELECT 1 FROM executions_workflowexecutionevent e WHERE e.execution = x.id
)
"""


@transaction.atomic
def delete_old_events(cutoff: datetime, size: int) -> int:
    """Delete at most `size` events of executions that ended before the cutoff."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('stigmer.purge', 'on', true)")
        cursor.execute(_DUE_LOGS, {"cutoff": cutoff})
        due: dict[str, Any] = {"due": [row[0] for row in cursor.fetchall()], "size": size}
        cursor.execute(_OLD_EVENTS, due)
        deleted = cursor.rowcount
        cursor.execute(_EMPTIED, due)
        # A log that was empty already is progress too.
        return int(deleted or cursor.rowcount)


def events_due(cutoff: datetime) -> int:
    """How many events are to be deleted."""
    return _count(
        """SELECT count(*) FROM executions_workflowexecutionevent e
        JOIN executions_workflowexecution x ON x.id = e.execution
        WHERE x.has_events AND x.ended_at IS NOT NULL AND x.ended_at < %s""",
        [cutoff],
    )


_OLD = """
DELETE FROM {table} WHERE id IN (
    SELECT id FROM {table} WHERE ended_at IS NOT NULL AND ended_at < %s
    ORDER BY ended_at, id LIMIT %s FOR UPDATE SKIP LOCKED
)
"""


def delete_old(kind: Kind, cutoff: datetime, size: int) -> int:
    """Delete at most `size` executions that ended before the cutoff, with all they own."""
    return _batch(_OLD.format(table=kind.table), [cutoff, size])


def old_due(kind: Kind, cutoff: datetime) -> int:
    """How many executions ended before the cutoff."""
    return _count(
        f"SELECT count(*) FROM {kind.table} WHERE ended_at IS NOT NULL AND ended_at < %s",
        [cutoff],
    )


# Deleted organizations ----------------------------------------------------------------------------

_OF_DELETED = """
FROM organizations_organizationslug s CROSS JOIN LATERAL (
    SELECT id FROM {table} x WHERE x.organization = s.slug LIMIT {limit}
) x WHERE s.retired_at IS NOT NULL
"""
_PURGE = """
DELETE FROM {{table}} WHERE id IN (
    SELECT id FROM {{table}} WHERE id IN (SELECT x.id {left} LIMIT %(size)s)
    FOR UPDATE SKIP LOCKED
)
""".format(left=_OF_DELETED.format(table="{table}", limit="%(size)s"))


def purge(kind: Kind, cutoff: datetime, size: int) -> int:
    """Delete at most `size` executions that deleted organizations left, with all they own."""
    return _batch(_PURGE.format(table=kind.table), {"size": size})


def left_by_deleted(kind: Kind, cutoff: datetime) -> int:
    """How many executions deleted organizations left."""
    return _count(f"SELECT count(*) {_OF_DELETED.format(table=kind.table, limit='ALL')}", [])


def gate(organization: str, now: datetime) -> dict[str, int]:
    """Count what has not ended; what grants trust goes in the delete's own transaction."""
    live = sum(rows.live_count(kind, organization) for kind in KINDS.values())
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM executions_signalclaim WHERE organization = %s", [organization])
    return {"executions": live}


def _each(
    what: str,
    batch: Callable[[Kind, datetime, int], int],
    count: Callable[[Kind, datetime], int],
    days: str | None = None,
) -> tuple[Step, ...]:
    return tuple(
        Step(what.format(kind.words), partial(batch, kind), partial(count, kind), days)
        for kind in KINDS.values()
    )


PURGES = _each("{}s", purge, left_by_deleted)
_CLAIMS = (Step("signal claims", delete_expired_claims, claims_expired),)
_RUNNERS = _each("lost {}s", fail_lost, lost_due)
_EVENTS = (Step("events", delete_old_events, events_due, "EXECUTION_EVENT_RETENTION_DAYS"),)
_EXECUTIONS = _each("{}s", delete_old, old_due, "EXECUTION_RETENTION_DAYS")
SWEEPS = (
    Sweep("executions.sweep_signal_claims", "Deletes expired claims of signals.", lambda: _CLAIMS),
    Sweep(
        "executions.requeue_lost_claims",
        "Fails executions that lost their last runner.",
        lambda: _RUNNERS,
    ),
    Sweep(
        "executions.sweep_events",
        "Deletes events of executions that ended long ago.",
        lambda: _EVENTS,
    ),
    Sweep(
        "executions.sweep_executions",
        "Deletes executions that ended long ago, with all they own.",
        lambda: _EXECUTIONS,
    ),
)
