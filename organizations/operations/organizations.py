"""Writes of organizations: create, change, delete."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction

from organizations import naming
from organizations.errors import (
    MemberNotFound,
    OrganizationNotEmpty,
    OrganizationNotFound,
    SlugReserved,
)
from organizations.models import Membership, Organization, Principal
from organizations.operations import audit, slugs
from organizations.states import PrincipalKind, Role
from stigmer.core import texts
from stigmer.core.callers import Act
from stigmer.core.errors import AlreadyExists, InvalidRequest, PreconditionFailed, Refusal
from stigmer.core.registries import delete_gates

DESCRIPTION_BYTES = 500
# Whether the row, now locked, is still the one that the caller has seen.
Expectation = Callable[[Organization], bool]


def _check(name: str | None, description: str | None) -> None:
    if name is not None:
        texts.check_name(name, pointer="/name")
    if description is not None:
        texts.check_text(
            description, pointer="/description", max_bytes=DESCRIPTION_BYTES, min_bytes=0
        )


def _slug_for(name: str, slug: str | None) -> str:
    chosen = naming.slug_from(name) if slug is None else naming.check_slug(slug)
    if not chosen:
        raise InvalidRequest(
            "no slug can be derived from this name; send a slug", pointer="/name", fault="no_slug"
        )
    if naming.is_reserved(chosen):
        raise SlugReserved("this slug is a word that addresses use", slug=chosen, retired=False)
    return chosen


@transaction.atomic
def create_organization(
    *, name: str, slug: str | None = None, description: str = "", owner: str, by: Act, now: datetime
) -> Organization:
    """Claim a slug and open an organization whose first owner is `owner`.

    Raises InvalidRequest, SlugReserved, AlreadyExists, MemberNotFound for an unknown owner.
    """
    _check(name, description)
    chosen = _slug_for(name, slug)
    _check_member(owner)
    claim = slugs.claim(slug=chosen, now=now)
    if not claim.won:
        raise _taken(claim.entry)
    organization = Organization.objects.create(
        slug_id=chosen, name=name, description=description, created_at=now, updated_at=now
    )
    Membership.objects.create(
        organization_id=chosen, principal_id=owner, role=Role.OWNER, created_at=now
    )
    audit.record("organization_created", by=by, organization=chosen, owner=owner)
    return organization


def _taken(entry: slugs.Entry) -> Refusal:
    facts: dict[str, Any] = {"slug": entry.slug, "retired": entry.retired}
    if entry.retired:
        return SlugReserved("this slug belonged to an organization that is gone", **facts)
    return AlreadyExists("another organization has this slug", **facts)


def _check_member(name: str) -> None:
    kind = Principal.objects.filter(name=name, is_active=True).values_list("kind", flat=True)
    found = kind.first()
    if found is None:
        raise MemberNotFound
    if found == PrincipalKind.SURFACE:
        raise InvalidRequest("a surface is never a member", pointer="/owner", fault="surface")


@transaction.atomic
def update_organization(
    *,
    slug: str,
    name: str | None = None,
    description: str | None = None,
    expected: Expectation | None = None,
    by: Act,
    now: datetime,
) -> Organization:
    """Change name or description of what the caller has seen; the slug never changes.

    Raises OrganizationNotFound, InvalidRequest, PreconditionFailed when `expected` says no.
    """
    _check(name, description)
    organization = Organization.objects.filter(slug=slug).locked().first()
    if organization is None:
        raise OrganizationNotFound
    if expected is not None and not expected(organization):
        raise PreconditionFailed
    wanted = {"name": name, "description": description}
    changes = {k: v for k, v in wanted.items() if v not in (None, getattr(organization, k))}
    if changes:
        for field, value in (changes | {"updated_at": now}).items():
            setattr(organization, field, value)
        organization.save(update_fields=[*changes, "updated_at"])
        audit.record("organization_changed", by=by, organization=slug)
    return organization


@transaction.atomic
def delete_organization(
    *, slug: str, expected: Expectation | None = None, by: Act, now: datetime
) -> None:
    """Delete an organization that has nothing open, and retire its slug for good.

    Raises OrganizationNotFound, PreconditionFailed when `expected` says no, OrganizationNotEmpty,
    and whatever a gate refuses with.
    """
    # FOR UPDATE, not `locked()`: creates inside hold the row FOR KEY SHARE, and of a create and a
    # delete that race exactly one must win.
    found = Organization.objects.select_for_update(of=("self",)).filter(slug=slug).first()
    if found is None:
        raise OrganizationNotFound
    if expected is not None and not expected(found):
        raise PreconditionFailed
    counts = {"work_items": 0, "executions": 0}
    for _, gate in delete_gates:
        counts |= gate(slug, now) or {}
    if any(counts.values()):
        raise OrganizationNotEmpty("", **counts)
    Membership.objects.filter(organization=slug).delete()
    found.delete()
    slugs.retire(slug=slug, now=now)
    audit.record("organization_deleted", by=by, organization=slug)
