"""The runner protocol: claim, heartbeat, inbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, transaction

from executions.errors import ClaimLost
from executions.kinds import Kind, kind_of
from executions.operations.holding import digest_of, need_claim, new_token
from executions.operations.writing import audit, json_text, log
from executions.queries import rows
from executions.queries.rows import LIVE_SQL, SERVICES_ONLY, SQL, ExecutionRow
from executions.states import LIVE
from organizations.states import Role
from stigmer.core.callers import SERVICE, Act, Caller
from stigmer.core.errors import PermissionDenied

_LIVE = ", ".join(f"'{phase}'" for phase in LIVE)
_E_COLUMNS = ", ".join(f"e.{column}" for column in rows.COLUMNS)


@dataclass(frozen=True, slots=True)
class Claimed:
    """An execution and the token that its holder shows from now on."""

    execution: ExecutionRow
    token: str


def runner_only(caller: Caller) -> None:
    """Services run executions. Raises PermissionDenied."""
    if caller.kind != SERVICE:
        raise PermissionDenied(SERVICES_ONLY)


@transaction.atomic
def claim_execution(
    *,
    kinds: Sequence[Kind],
    labels: dict[str, str],
    lease_seconds: int,
    claim_id: str = "",
    by: Act,
    now: datetime,
) -> Claimed | None:
    """Lease the oldest waiting execution whose labels contain these; None when there is none.

    A `claim_id` whose lease lives answers its execution again with a fresh token. Raises
    PermissionDenied for anybody but a service.
    """
    runner_only(by.caller)
    token = new_token()
    lease = {
        "actor": by.actor, "claim_id": claim_id, "digest": digest_of(token), "now": now,
        "until": now + timedelta(seconds=lease_seconds),
    }  # fmt: skip
    if claim_id:
        _alone(by.actor, claim_id)
        repeated = _again(kinds, lease)
        if repeated is not None:
            return Claimed(repeated, token)
    wanted = _wanted(by.caller, labels) | lease
    for kind in _oldest_first(kinds, wanted) if len(kinds) > 1 else kinds:
        row = rows.fetch(_claim_sql(kind, wanted), wanted)
        if row is not None:
            log.info(
                "execution", event_kind="claimed", execution=row.id,
                attempt=row.claim_attempt, **audit(by),
            )  # fmt: skip
            return Claimed(row, token)
    return None


def _wanted(caller: Caller, labels: dict[str, str]) -> dict[str, Any]:
    """The parameters that narrow what this runner may have."""
    wanted: dict[str, Any] = {"attempts": settings.STIGMER_MAX_CLAIM_ATTEMPTS}
    if not caller.sees_all:
        wanted["orgs"] = sorted(
            slug for slug, role in caller.roles.items() if Role(role).rank >= Role.MEMBER.rank
        )
    if labels:
        wanted["labels"] = json_text(labels)
    return wanted


def _waiting(kind: Kind, wanted: dict[str, Any]) -> str:
    orgs = "AND e.organization = ANY(%(orgs)s::text[])" if "orgs" in wanted else ""
    labels = "AND e.labels @> %(labels)s::jsonb" if "labels" in wanted else ""
    return f"""
    FROM {kind.table} e
    WHERE e.phase IN ({_LIVE}) AND e.engine = 'runner' AND e.claimable_at <= %(now)s
      AND e.claim_attempt < %(attempts)s {orgs} {labels} AND {LIVE_SQL}
    ORDER BY e.created_at, e.id LIMIT 1
    """


def _claim_sql(kind: Kind, wanted: dict[str, Any]) -> str:
    # SKIP LOCKED: racing runners take different rows and never wait for each other.
    return f"""
    WITH picked AS (SELECT e.id {_waiting(kind, wanted)} FOR NO KEY UPDATE OF e SKIP LOCKED)
    UPDATE {kind.table} e SET claimed_by = %(actor)s, claim_id = %(claim_id)s,
        claim_digest = %(digest)s, claim_attempt = e.claim_attempt + 1, claimable_at = %(until)s
    FROM picked WHERE e.id = picked.id RETURNING {_E_COLUMNS}
    """


def _oldest_first(kinds: Sequence[Kind], wanted: dict[str, Any]) -> list[Kind]:
    """The kinds by their oldest waiting execution; a look without locks, the claim decides."""
    oldest: list[tuple[datetime, Kind]] = []
    with connection.cursor() as cursor:
        for kind in kinds:
            cursor.execute(f"SELECT e.created_at {_waiting(kind, wanted)}", wanted)
            row = cursor.fetchone()
            if row is not None:
                oldest.append((row[0], kind))
    return [kind for _, kind in sorted(oldest)]


def _alone(actor: str, claim_id: str) -> None:
    """Two requests with one claim_id go one after the other, so that the second finds the first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 20917))", [f"{actor}\n{claim_id}"]
        )


def _again(kinds: Sequence[Kind], lease: dict[str, Any]) -> ExecutionRow | None:
    for kind in kinds:
        row = rows.fetch(
            f"""
            UPDATE {kind.table} e SET claim_digest = %(digest)s, claimable_at = %(until)s
            WHERE e.claimed_by = %(actor)s AND e.claim_id = %(claim_id)s AND NOT e.claim_id = ''
              AND e.phase IN ({_LIVE}) AND e.claimable_at > %(now)s AND {LIVE_SQL}
            RETURNING {SQL}
            """,
            lease,
        )
        if row is not None:
            return row
    return None


_EXTEND = """
UPDATE {table} SET claimable_at = %s
WHERE id = %s AND claimed_by = %s AND claim_digest = %s AND claimable_at > %s AND phase IN ({live})
RETURNING claimable_at
"""


@transaction.atomic
def extend_lease(
    *, id: str, claim_token: str, lease_seconds: int, by: Act, now: datetime
) -> datetime:
    """Keep the claim for this many more seconds; answers when the lease ends.

    Raises ExecutionNotFound, PermissionDenied, ClaimLost, also for an execution that has ended.
    """
    rows.manageable(by.caller, id)
    kind = kind_of(id)
    assert kind is not None
    until = now + timedelta(seconds=lease_seconds)
    with connection.cursor() as cursor:
        cursor.execute(
            _EXTEND.format(table=kind.table, live=_LIVE),
            [until, id, by.actor, digest_of(claim_token), now],
        )
        if cursor.fetchone() is None:
            raise ClaimLost
    return until


class InboxRow(NamedTuple):
    """One thing that the runner is told; `envelope` is JSON text."""

    sequence: int
    kind: str
    channel: str | None
    envelope: str | None
    reason: str


_ACKNOWLEDGE = """
UPDATE {inbox} SET acknowledged_at = %s
WHERE execution = %s AND sequence <= %s AND acknowledged_at IS NULL
"""
_UNREAD = """
SELECT sequence, kind, channel, envelope, reason FROM {inbox}
WHERE execution = %s AND sequence > %s AND acknowledged_at IS NULL ORDER BY sequence LIMIT 500
"""


@transaction.atomic
def read_inbox(
    *, id: str, claim_token: str | None, after: int, by: Act, now: datetime
) -> list[InboxRow]:
    """What the holder has not acknowledged yet, in order; `after` acknowledges all up to it.

    Raises ExecutionNotFound, PermissionDenied, InvalidRequest without a token, ClaimLost.
    """
    row = rows.manageable(by.caller, id)
    need_claim(row, claim_token, pointer="X-Stigmer-Claim-Token", by=by, now=now)
    with connection.cursor() as cursor:
        if after:
            cursor.execute(_ACKNOWLEDGE.format(inbox=row.kind.inbox), [now, id, after])
        cursor.execute(_UNREAD.format(inbox=row.kind.inbox), [id, after])
        return [InboxRow._make(found) for found in cursor.fetchall()]
