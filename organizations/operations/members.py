"""Writes of memberships: who may do what in an organization."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from organizations import naming
from organizations.authorization import Permission, Resource, authorize
from organizations.errors import LastOwner, MemberNotFound, OrganizationNotFound
from organizations.models import Membership, Organization, Principal
from organizations.operations import audit
from organizations.states import PrincipalKind, Role
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidRequest

OWNERS_ONLY = "only an owner may grant, change or remove the role owner"


class Put(NamedTuple):
    """A membership as it is now, and whether it is new."""

    membership: Membership
    new: bool


@transaction.atomic
def put_member(*, organization: str, principal: str, role: str, by: Act, now: datetime) -> Put:
    """Give a principal a role in an organization, whatever it had before.

    Raises OrganizationNotFound, MemberNotFound for an unknown principal, InvalidRequest for a
    surface, PermissionDenied around owners, LastOwner.
    """
    _hold_members(organization)
    _check_principal(principal)
    found = _member(organization, principal)
    if Role.OWNER in (role, found and found.role):
        _let_owner(organization, by)
    if found is None:
        found = Membership.objects.create(
            organization_id=organization, principal_id=principal, role=role, created_at=now
        )
        audit.record("member_added", by=by, organization=organization, principal=principal)
        return Put(found, True)
    if role != found.role:
        _keep_an_owner(found)
        found.role = role
        found.save(update_fields=["role"])
        audit.record("member_changed", by=by, organization=organization, principal=principal)
    return Put(found, False)


@transaction.atomic
def remove_member(*, organization: str, principal: str, by: Act, now: datetime) -> None:
    """End a membership; anyone may end their own.

    Raises OrganizationNotFound, MemberNotFound, PermissionDenied around owners, LastOwner.
    """
    _hold_members(organization)
    found = _member(organization, principal)
    if found is None:
        raise MemberNotFound
    if found.role == Role.OWNER and principal != by.actor:
        _let_owner(organization, by)
    _keep_an_owner(found)
    found.delete()
    audit.record("member_removed", by=by, organization=organization, principal=principal)


def _hold_members(organization: str) -> None:
    # One lock for all changes of one organization's members: of two owners that leave at once the
    # second sees that the first is gone.
    if Organization.objects.filter(slug=organization).locked().first() is None:
        raise OrganizationNotFound


def _check_principal(name: str) -> None:
    if not naming.is_name(name):
        raise MemberNotFound
    kind = Principal.objects.filter(name=name).values_list("kind", flat=True).first()
    if kind is None:
        raise MemberNotFound
    if kind == PrincipalKind.SURFACE:
        raise InvalidRequest("a surface cannot be a member", pointer="/principal", fault="surface")


def _member(organization: str, principal: str) -> Membership | None:
    if not naming.is_name(principal):
        return None
    return Membership.objects.filter(organization=organization, principal=principal).first()


def _let_owner(organization: str, by: Act) -> None:
    authorize(
        by.caller,
        Permission.OWN,
        Resource("organization", organization, organization),
        missing=OrganizationNotFound,
        denied=OWNERS_ONLY,
    )


def _keep_an_owner(leaving: Membership) -> None:
    if leaving.role != Role.OWNER:
        return
    owners = Membership.objects.filter(organization=leaving.organization_id, role=Role.OWNER)
    if not owners.exclude(pk=leaving.pk).exists():
        raise LastOwner
