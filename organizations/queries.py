"""Every read of principals, tokens, organizations, memberships and slugs."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

import msgspec
from django.db import connection

from organizations.models import Organization
from stigmer.core.callers import Caller

TOUCH_AFTER = timedelta(minutes=1)
TOKEN_PREFIX = "stigmer_"  # noqa: S105 the part that is no secret

_ROLES = """COALESCE((
    SELECT jsonb_object_agg(m.organization, m.role)
    FROM organizations_membership m WHERE m.principal = p.name
), '{}'::jsonb)"""
_BY_TOKEN = f"""
    SELECT p.id, p.name, p.kind, p.is_superuser, {_ROLES}, t.id, t.last_used_at
    FROM organizations_apitoken t
    JOIN organizations_principal p ON p.name = t.principal
    WHERE t.digest = %s AND t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > %s) AND p.is_active
"""  # noqa: S608
_BY_NAME = f"""
    SELECT p.id, p.name, p.kind, p.is_superuser, {_ROLES}
    FROM organizations_principal p WHERE p.name = %s AND p.is_active
"""  # noqa: S608
_TOUCH = """
    UPDATE organizations_apitoken SET last_used_at = %s WHERE id = (
        SELECT id FROM organizations_apitoken WHERE id = %s AND last_used_at IS NOT DISTINCT FROM %s
        FOR NO KEY UPDATE SKIP LOCKED
    )
"""


def digest_of(token: str) -> str:
    """The hex SHA-256 under which a token is known; 256 random bits need no salt."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def caller_by_token(token: str, now: datetime) -> Caller | None:
    """Whose token this is with the memberships of now, in one statement; None for no valid token.

    `last_used_at` is written at most once a minute, which then is a second statement.
    """
    if not token.startswith(TOKEN_PREFIX):
        return None
    with connection.cursor() as cursor:
        cursor.execute(_BY_TOKEN, [digest_of(token), now])
        row = cursor.fetchone()
        if row is None:
            return None
        used = row[6]
        if used is None or now - used >= TOUCH_AFTER:
            cursor.execute(_TOUCH, [now, row[5], used])
    return Caller(row[0], row[1], row[2], row[3], _roles(row[4]))


def caller_by_name(name: str) -> Caller | None:
    """The active principal of this name with its memberships, or None."""
    with connection.cursor() as cursor:
        cursor.execute(_BY_NAME, [name])
        row = cursor.fetchone()
    return None if row is None else Caller(row[0], row[1], row[2], row[3], _roles(row[4]))


def _roles(raw: str | dict[str, str]) -> dict[str, str]:
    if isinstance(raw, dict):
        return raw
    found: dict[str, str] = msgspec.json.decode(raw)
    return found


def is_live(slug: str) -> bool:
    """Whether a live organization has this slug."""
    return Organization.objects.filter(pk=slug).exists()
