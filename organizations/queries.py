"""Every read of principals, tokens, organizations, memberships and slugs."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

import msgspec
from django.db import connection
from django.db.models import Q, QuerySet

from organizations import naming
from organizations.authorization import Permission, Resource, authorize, restrict
from organizations.errors import MemberNotFound, OrganizationNotFound
from organizations.models import ApiToken, Membership, Organization, OrganizationSlug, Principal
from organizations.states import SlugState
from stigmer.core.callers import Caller

# What the API shows of: it does not import models.
OrganizationRow = Organization
MemberRow = Membership
TokenRow = ApiToken

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
"""
_BY_NAME = f"""
    SELECT p.id, p.name, p.kind, p.is_superuser, {_ROLES}
    FROM organizations_principal p WHERE p.name = %s AND p.is_active
"""
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


# Organizations ------------------------------------------------------------------------------------


def is_live(slug: str) -> bool:
    """Whether a live organization has this slug."""
    return naming.is_slug(slug) and Organization.objects.filter(pk=slug).exists()


def admit(viewer: Caller, permission: str, slug: str, denied: str = "") -> None:
    """Let a caller with this permission on an organization pass.

    Raises OrganizationNotFound, PermissionDenied with this text, AuthorizationUnavailable.
    """
    asked = Resource("organization", slug, slug)
    authorize(viewer, permission, asked, missing=OrganizationNotFound, denied=denied)
    # A role is proof of a live organization; who is let in without one may name anything.
    if viewer.role_in(slug) is None and not is_live(slug):
        raise OrganizationNotFound


def organizations(
    viewer: Caller, *, after: tuple[datetime, str] | None = None
) -> QuerySet[Organization]:
    """The organizations that the viewer sees, newest first, behind this (created_at, slug)."""
    found = restrict(Organization.objects.order_by("-created_at", "slug"), viewer, "organization")
    if after is None:
        return found
    moment, slug = after
    return found.filter(Q(created_at__lt=moment) | Q(created_at=moment, slug__gt=slug))


def organization(viewer: Caller, slug: str) -> Organization:
    """The live organization with this slug.

    Raises OrganizationNotFound, also when the viewer may not see it.
    """
    asked = Resource("organization", slug, slug)
    authorize(viewer, Permission.READ, asked, missing=OrganizationNotFound)
    found = Organization.objects.filter(pk=slug).first() if naming.is_slug(slug) else None
    if found is None:
        raise OrganizationNotFound
    return found


def members(viewer: Caller, organization: str, *, after: str = "") -> QuerySet[Membership]:
    """The memberships of an organization by the principal's name, behind this name.

    Raises OrganizationNotFound, also when the viewer may not see it.
    """
    admit(viewer, Permission.READ, organization)
    found = Membership.objects.filter(organization=organization).order_by("principal")
    return found.filter(principal__gt=after) if after else found


def member(viewer: Caller, organization: str, name: str) -> Membership:
    """The membership of the principal with this name.

    Raises OrganizationNotFound, also when the viewer may not see it, and MemberNotFound.
    """
    found = members(viewer, organization).filter(principal=name).first()
    if found is None:
        raise MemberNotFound
    return found


def slug_state(slug: str) -> SlugState:
    """What this slug is to somebody who wants it. Raises InvalidRequest for an ill-formed one."""
    naming.check_slug(slug, pointer="slug")
    entry = OrganizationSlug.objects.filter(slug=slug).first()
    if entry is not None:
        return SlugState.RETIRED if entry.retired_at else SlugState.HELD
    return SlugState.RESERVED if naming.is_reserved(slug) else SlugState.AVAILABLE


# Principals and tokens ----------------------------------------------------------------------------


def principal(name: str) -> Principal | None:
    """The principal of this name, active or not."""
    found: Principal | None = Principal.objects.filter(name=name).first()
    return found


def is_new_installation(platform: str) -> bool:
    """Whether nobody but the platform's own principal exists."""
    return not Principal.objects.exclude(name=platform).exists()


def tokens(viewer: Caller, *, after: tuple[datetime, str] | None = None) -> QuerySet[ApiToken]:
    """The viewer's own tokens that were not revoked, newest first, behind this (created_at, id)."""
    mine = ApiToken.objects.filter(principal=viewer.name, revoked_at=None)
    found = mine.order_by("-created_at", "-id")
    if after is None:
        return found
    moment, id = after
    return found.filter(Q(created_at__lt=moment) | Q(created_at=moment, id__lt=id))
