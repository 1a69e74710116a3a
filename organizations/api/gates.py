"""What a caller must be to come in: first that the organization is visible, then the role."""

from __future__ import annotations

from organizations.authorization import Permission
from organizations.queries import admit
from stigmer.core.callers import Caller

CHANGE = "only an admin or an owner may change this organization"
DELETE = "only an owner may delete this organization"
MANAGE = "only an admin or an owner may change the members of this organization"


def sees(caller: Caller, slug: str) -> None:
    """Members and platform admins see an organization."""
    admit(caller, Permission.READ, slug)


def sees_member(caller: Caller, slug: str, name: str) -> None:
    """Who sees an organization sees its members."""
    admit(caller, Permission.READ, slug)


def changes(caller: Caller, slug: str) -> None:
    """Admins and owners change name and description."""
    admit(caller, Permission.MANAGE, slug, CHANGE)


def deletes(caller: Caller, slug: str) -> None:
    """Owners delete."""
    admit(caller, Permission.OWN, slug, DELETE)


def manages(caller: Caller, slug: str, name: str) -> None:
    """Admins and owners give roles."""
    admit(caller, Permission.MANAGE, slug, MANAGE)


def removes(caller: Caller, slug: str, name: str) -> None:
    """Admins and owners remove members; everybody may leave."""
    admit(caller, Permission.READ if name == caller.name else Permission.MANAGE, slug, MANAGE)
