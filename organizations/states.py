"""Kinds of principals, roles in an organization, and the states of a slug."""

from enum import StrEnum


class PrincipalKind(StrEnum):
    """Who a principal is."""

    HUMAN = "human"  # a person
    SERVICE = "service"  # a platform component: a dispatcher, a runner
    SURFACE = "surface"  # a chat, portal or CLI front end that may relay for its users


class Role(StrEnum):
    """What a member may do; every role includes those below it."""

    OWNER = "owner"  # also grants, changes and removes owners, and deletes the organization
    ADMIN = "admin"  # also manages members and changes name and description
    MEMBER = "member"  # also writes
    VIEWER = "viewer"  # reads

    @property
    def rank(self) -> int:
        """Higher includes lower."""
        return {"viewer": 1, "member": 2, "admin": 3, "owner": 4}[self.value]


class SlugState(StrEnum):
    """What a slug is to somebody who wants it."""

    AVAILABLE = "available"  # never taken
    HELD = "held"  # a live organization or a create in flight has it
    RETIRED = "retired"  # its organization is gone; it is never given again
    RESERVED = "reserved"  # a word that addresses use
