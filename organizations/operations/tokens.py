"""Writes of API tokens: the secret is told once and never stored."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from django.db import transaction

from organizations.errors import PrincipalNotFound, TokenNotFound
from organizations.models import ApiToken, Principal
from organizations.operations import audit
from organizations.queries import TOKEN_PREFIX, digest_of
from stigmer.core import texts
from stigmer.core.callers import SYSTEM, Act
from stigmer.core.errors import InvalidRequest, PermissionDenied
from stigmer.core.ids import is_id

NAME_BYTES = 64


@transaction.atomic
def create_token(
    *, principal: str, name: str, expires_at: datetime | None, by: Act, now: datetime
) -> tuple[ApiToken, str]:
    """Make a token for an active principal; the second value is its secret, told only here.

    Raises PrincipalNotFound, InvalidRequest for a past time and for the platform's own principal.
    """
    texts.check_line(name, pointer="/name", max_bytes=NAME_BYTES)
    if expires_at is not None and expires_at <= now:
        raise InvalidRequest(
            "expires_at must be in the future", pointer="/expires_at", fault="past"
        )
    if principal == SYSTEM.name:
        raise InvalidRequest(
            f"{SYSTEM.name} has no tokens", pointer="/principal", fault="not_allowed"
        )
    if not Principal.objects.filter(name=principal, is_active=True).exists():
        raise PrincipalNotFound
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        principal_id=principal,
        name=name,
        digest=digest_of(secret),
        created_at=now,
        expires_at=expires_at and expires_at.astimezone(UTC),
    )
    audit.record("token_created", by=by, principal=principal, token=token.id)
    return token, secret


@transaction.atomic
def revoke_token(*, id: str, by: Act, now: datetime) -> None:
    """Make one of the caller's tokens worthless, at once and for good.

    Raises TokenNotFound, also for another's token and a revoked one.
    """
    if not is_id("tok", id):
        raise TokenNotFound
    mine = ApiToken.objects.filter(id=id, principal=by.actor, revoked_at=None)
    if not mine.update(revoked_at=now):
        raise TokenNotFound
    audit.record("token_revoked", by=by, principal=by.actor, token=id)


@transaction.atomic
def revoke_any_token(*, id: str, by: Act, now: datetime) -> None:
    """Make anybody's token worthless; for oneself and for platform admins.

    Raises TokenNotFound, also for a revoked one, PermissionDenied for another's without being one.
    """
    found = ApiToken.objects.filter(id=id, revoked_at=None).locked().first()
    if found is None:
        raise TokenNotFound
    if found.principal_id != by.actor and not by.caller.sees_all:
        raise PermissionDenied("only a platform admin revokes another's token")
    found.revoked_at = now
    found.save(update_fields=["revoked_at"])
    audit.record("token_revoked", by=by, principal=found.principal_id, token=id)
