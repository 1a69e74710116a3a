"""Sign-in attempts: five in a quarter of an hour, then nobody gets in for one."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

from django.db import connection

ATTEMPTS = 5
LOCKED = timedelta(minutes=15)

# One statement, so that of many attempts at once each has a number of its own.
_SPEND = """
    INSERT INTO organizations_signinattempts AS known (digest, attempts, until)
    VALUES (%(digest)s, 1, %(until)s)
    ON CONFLICT (digest) DO UPDATE SET
        attempts = CASE WHEN known.until <= %(now)s THEN 1 ELSE known.attempts + 1 END,
        until = CASE WHEN known.until <= %(now)s OR known.attempts < %(most)s
                     THEN %(until)s ELSE known.until END
    RETURNING attempts
"""
_FORGET = "DELETE FROM organizations_signinattempts WHERE digest = %s"
_SWEEP = """
    DELETE FROM organizations_signinattempts WHERE digest IN (
        SELECT digest FROM organizations_signinattempts WHERE until <= %s
        ORDER BY until LIMIT 100 FOR UPDATE SKIP LOCKED
    )
"""
_LOCKED = """
    SELECT 1 FROM organizations_signinattempts WHERE digest = %s AND attempts >= %s AND until > %s
"""


def _digest(name: str, address: str) -> str:
    # What is typed as a name may be a password: it is not kept.
    return sha256(f"{address}\n{name}".encode("utf-8", "replace")).hexdigest()


def spend(*, name: str, address: str, now: datetime) -> bool:
    """Count an attempt before its password is looked at; false when it may not be looked at.

    Each attempt starts the quarter of an hour anew until the fifth; refused ones prolong nothing.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SWEEP, [now])
        digest, until = _digest(name, address), now + LOCKED
        cursor.execute(_SPEND, {"digest": digest, "until": until, "now": now, "most": ATTEMPTS})
        return bool(cursor.fetchone()[0] <= ATTEMPTS)


def is_locked(*, name: str, address: str, now: datetime) -> bool:
    """Whether the next attempt would be refused unseen."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCKED, [_digest(name, address), ATTEMPTS, now])
        return cursor.fetchone() is not None


def forget(*, name: str, address: str) -> None:
    """A sign-in succeeded: the count starts anew."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [_digest(name, address)])
