"""Writes of principals: they come and are switched off, and never go."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from organizations.errors import PrincipalNotFound
from organizations.models import Principal
from organizations.operations import audit
from organizations.states import PrincipalKind
from stigmer.core import texts
from stigmer.core.callers import SYSTEM, Act
from stigmer.core.constraints import refusing
from stigmer.core.errors import AlreadyExists, InvalidRequest, PermissionDenied


def _taken() -> AlreadyExists:
    return AlreadyExists("a principal has this name")


@transaction.atomic
def create_principal(
    *,
    name: str,
    kind: str,
    admin: bool = False,
    password: str | None = None,
    display_name: str = "",
    email: str = "",
    by: Act,
    now: datetime,
) -> Principal:
    """Add a principal; a human who is an admin may also sign in to the console.

    Raises InvalidRequest, AlreadyExists.
    """
    texts.check_name(name, pointer="/name")
    _check_kind(kind, admin=admin, person=bool(password or display_name or email))
    principal = Principal(
        name=name,
        kind=kind,
        display_name=display_name,
        email=email,
        is_superuser=admin,
        is_staff=admin and kind == PrincipalKind.HUMAN,
        created_at=now,
    )
    _give(principal, password)
    with refusing(organizations_principal_name_key=_taken):
        principal.save(force_insert=True)
    audit.record("principal_created", by=by, principal=name)
    return principal


def _check_kind(kind: str, *, admin: bool, person: bool) -> None:
    if kind not in list(PrincipalKind):
        known = ", ".join(PrincipalKind)
        raise InvalidRequest(f"kind must be one of {known}", pointer="/kind", fault="unknown")
    if admin and kind == PrincipalKind.SURFACE:
        raise InvalidRequest("a surface is never an admin", pointer="/kind", fault="not_admin")
    if person and kind != PrincipalKind.HUMAN:
        raise InvalidRequest(
            "only a human has a password, a display name or an email", pointer="/kind", fault="kind"
        )


def _give(principal: Principal, password: str | None) -> None:
    if password is None:
        principal.set_unusable_password()
        return
    try:
        validate_password(password, principal)
    except ValidationError as cause:
        text = " ".join(cause.messages)
        raise InvalidRequest(text, pointer="/password", fault="weak_password") from None
    principal.set_password(password)


@transaction.atomic
def ensure_principal(
    *, name: str, kind: str, admin: bool, password: str | None, by: Act, now: datetime
) -> str:
    """Make sure that this principal exists with at least this; `created`, `changed` or `exists`.

    Raises InvalidRequest, AlreadyExists when the name belongs to another kind.
    """
    found = Principal.objects.filter(name=name).locked().first()
    if found is None:
        create_principal(name=name, kind=kind, admin=admin, password=password, by=by, now=now)
        return "created"
    if found.kind != kind:
        raise AlreadyExists(f"the name belongs to a {found.kind}")
    changed = False
    if admin and not found.is_superuser:
        make_admin(principal=name, by=by, now=now)
        changed = True
    if password is not None and not found.check_password(password):
        set_password(principal=name, password=password, by=by, now=now)
        changed = True
    return "changed" if changed else "exists"


@transaction.atomic
def set_password(*, principal: str, password: str, by: Act, now: datetime) -> None:
    """Give a human another password, which ends the sessions of the old one.

    Raises PrincipalNotFound, InvalidRequest for a weak password or who is no human.
    """
    found = _locked(principal)
    _check_kind(found.kind, admin=False, person=True)
    _give(found, password)
    found.save(update_fields=["password"])
    audit.record("password_changed", by=by, principal=principal)


@transaction.atomic
def make_admin(*, principal: str, by: Act, now: datetime) -> None:
    """Make a human or a service a platform admin.

    Raises PrincipalNotFound, InvalidRequest for a surface.
    """
    found = _locked(principal)
    _check_kind(found.kind, admin=True, person=False)
    found.is_superuser = True
    found.is_staff = found.kind == PrincipalKind.HUMAN
    found.save(update_fields=["is_superuser", "is_staff"])
    audit.record("principal_made_admin", by=by, principal=principal)


@transaction.atomic
def set_console_access(
    *, principal: str, staff: bool, groups: Collection[int], by: Act, now: datetime
) -> None:
    """Let a human into the console with the permissions of these groups, or keep it out.

    Raises PermissionDenied unless a platform admin asks, PrincipalNotFound, InvalidRequest for who
    is no human and for keeping a platform admin out.
    """
    if not by.caller.sees_all:
        raise PermissionDenied("only a platform admin gives access to the console")
    found = _locked(principal)
    _check_kind(found.kind, admin=False, person=True)
    if found.is_superuser and not staff:
        raise InvalidRequest("a platform admin has the console", pointer="/staff", fault="admin")
    found.is_staff = staff
    found.save(update_fields=["is_staff"])
    found.groups.set(groups)
    audit.record("console_access_set", by=by, principal=principal)


@transaction.atomic
def deactivate(*, principal: str, by: Act, now: datetime) -> None:
    """Switch a principal off: its tokens and sessions stop at once; history keeps its name.

    Raises PrincipalNotFound, InvalidRequest for the platform's own principal.
    """
    _set_active(principal, active=False)
    audit.record("principal_deactivated", by=by, principal=principal)


@transaction.atomic
def activate(*, principal: str, by: Act, now: datetime) -> None:
    """Switch a principal on again; tokens that were not revoked work again.

    Raises PrincipalNotFound, InvalidRequest for the platform's own principal.
    """
    _set_active(principal, active=True)
    audit.record("principal_activated", by=by, principal=principal)


def _set_active(principal: str, *, active: bool) -> None:
    if principal == SYSTEM.name:
        raise InvalidRequest(
            f"{SYSTEM.name} is the platform's own", pointer="/name", fault="not_allowed"
        )
    found = _locked(principal)
    found.is_active = active
    found.save(update_fields=["is_active"])


def _locked(name: str) -> Principal:
    found: Principal | None = Principal.objects.filter(name=name).locked().first()
    if found is None:
        raise PrincipalNotFound
    return found
