"""Two-phase dedupe of signals: claim a key, then mark it delivered or release it."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection

from executions.states import ClaimStatus

# The engine's client retries a call for up to one minute by itself.
HELD = timedelta(minutes=5)
KEPT = timedelta(hours=24)


class Holder(NamedTuple):
    """The record of whoever holds a key; `won` when that is the claim that asked."""

    execution: str
    signal_name: str
    status: str
    fence: str
    created_at: datetime
    delivered_at: datetime | None
    expires_at: datetime
    won: bool


# The losing branch writes what is there: the statement then always answers the holder's record,
# also one that was committed after this statement began.
_TAKEN = ("execution", "signal_name", "status", "fence", "created_at", "delivered_at", "expires_at")
_CLAIM = """
INSERT INTO executions_signalclaim AS held (
    organization, idempotency_key, execution, signal_name, status, fence, created_at, expires_at
) VALUES (%(org)s, %(key)s, %(execution)s, %(signal)s, 'CLAIMED', %(fence)s, %(now)s, %(until)s)
ON CONFLICT (organization, idempotency_key) DO UPDATE SET
{taken}
RETURNING execution, signal_name, status, fence, created_at, delivered_at, expires_at,
    fence = %(fence)s
""".format(
    taken=",\n".join(
        f"{one} = CASE WHEN held.expires_at <= %(now)s THEN excluded.{one} ELSE held.{one} END"
        for one in _TAKEN
    )
)
_MARK = """
UPDATE executions_signalclaim SET status = 'DELIVERED', delivered_at = %s, expires_at = %s
WHERE organization = %s AND idempotency_key = %s AND fence = %s AND status = 'CLAIMED'
"""
_RELEASE = """
DELETE FROM executions_signalclaim
WHERE organization = %s AND idempotency_key = %s AND fence = %s AND status = 'CLAIMED'
"""


def claim(
    *, org: str, key: str, execution: str, signal: str, ttl: timedelta = HELD, now: datetime
) -> Holder:
    """Take a free or expired key, or answer who holds it; of concurrent claims one wins."""
    params: dict[str, Any] = {
        "org": org, "key": key, "execution": execution, "signal": signal,
        "fence": secrets.token_hex(16), "now": now, "until": now + ttl,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, params)
        return Holder._make(cursor.fetchone())


def mark_delivered(*, org: str, key: str, fence: str, now: datetime) -> bool:
    """Mark the claim of this fence delivered and hold its key for a day; else do nothing."""
    with connection.cursor() as cursor:
        cursor.execute(_MARK, [now, now + KEPT, org, key, fence])
        return bool(cursor.rowcount)


def release(*, org: str, key: str, fence: str) -> bool:
    """Free the key that the claim of this fence holds; a delivered or missing one is left."""
    with connection.cursor() as cursor:
        cursor.execute(_RELEASE, [org, key, fence])
        return bool(cursor.rowcount)


def is_delivered(holder: Holder) -> bool:
    """Whether a retry may stop: the signal was delivered."""
    return holder.status == ClaimStatus.DELIVERED
