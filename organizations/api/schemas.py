"""Bodies, queries and answers of organizations, members and tokens."""

from __future__ import annotations

from typing import Annotated, Literal

from organizations.queries import MemberRow, OrganizationRow, TokenRow
from stigmer.core.callers import Caller
from stigmer.http.fields import UNSET, Instant, Name, UnsetType, line, stamp, stamp_or_none, text
from stigmer.http.schemas import Answer, Body, Page, Query

RoleName = Literal["owner", "admin", "member", "viewer"]


class PageQuery(Query, kw_only=True):
    """Which page of a list."""

    limit: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


# Who am I -----------------------------------------------------------------------------------------


class OwnMembership(Answer, kw_only=True):
    """One organization of the caller."""

    organization: str
    role: RoleName


class WhoamiAnswer(Answer, kw_only=True):
    """Who the token belongs to."""

    principal: str
    principal_id: str
    kind: Literal["human", "service", "surface"]
    platform_admin: bool
    memberships: list[OwnMembership]


def whoami_answer(caller: Caller) -> WhoamiAnswer:
    roles = sorted(caller.roles.items())
    return WhoamiAnswer(
        principal=caller.name,
        principal_id=caller.id,
        kind=caller.kind,  # type: ignore[arg-type]
        platform_admin=caller.platform_admin,
        memberships=[OwnMembership(organization=slug, role=role) for slug, role in roles],  # type: ignore[arg-type]
    )


# Tokens -------------------------------------------------------------------------------------------


class CreateToken(Body, kw_only=True):
    """A token for the caller."""

    name: Annotated[str, line(64)]
    expires_at: Instant | UnsetType = UNSET


class TokenAnswer(Answer, kw_only=True):
    """A token without its secret."""

    id: str
    name: str
    created_at: str
    expires_at: str | None


class NewTokenAnswer(Answer, kw_only=True):
    """A token with its secret, which is told only here."""

    id: str
    name: str
    token: str
    created_at: str
    expires_at: str | None


class TokenPage(Page, kw_only=True):
    """The caller's tokens, newest first."""

    items: list[TokenAnswer]


def token_answer(token: TokenRow) -> TokenAnswer:
    return TokenAnswer(
        id=token.id,
        name=token.name,
        created_at=stamp(token.created_at),
        expires_at=stamp_or_none(token.expires_at),
    )


def new_token_answer(token: TokenRow, secret: str) -> NewTokenAnswer:
    return NewTokenAnswer(
        id=token.id,
        name=token.name,
        token=secret,
        created_at=stamp(token.created_at),
        expires_at=stamp_or_none(token.expires_at),
    )


# Organizations ------------------------------------------------------------------------------------


class CreateOrganization(Body, kw_only=True):
    """A new organization; without a slug one is derived from the name."""

    name: Name
    slug: str | UnsetType = UNSET
    description: Annotated[str, text(500, least=0)] | UnsetType = UNSET


class UpdateOrganization(Body, kw_only=True):
    """What changes; an empty description clears it."""

    name: Name | UnsetType = UNSET
    description: Annotated[str, text(500, least=0)] | UnsetType = UNSET


class OrganizationAnswer(Answer, kw_only=True):
    """An organization; its id is its slug."""

    id: str
    slug: str
    name: str
    description: str
    created_at: str
    updated_at: str


class OrganizationPage(Page, kw_only=True):
    """The organizations that the caller sees, newest first."""

    items: list[OrganizationAnswer]


class SlugAnswer(Answer, kw_only=True):
    """What a slug is to somebody who wants it."""

    slug: str
    state: Literal["available", "held", "retired", "reserved"]


def organization_answer(organization: OrganizationRow) -> OrganizationAnswer:
    return OrganizationAnswer(
        id=organization.slug_id,
        slug=organization.slug_id,
        name=organization.name,
        description=organization.description,
        created_at=stamp(organization.created_at),
        updated_at=stamp(organization.updated_at),
    )


# Members ------------------------------------------------------------------------------------------


class PutMember(Body, kw_only=True):
    """The role that a principal shall have."""

    role: RoleName


class MemberAnswer(Answer, kw_only=True):
    """One membership."""

    principal: str
    role: RoleName


class MemberPage(Page, kw_only=True):
    """The members of an organization by name."""

    items: list[MemberAnswer]


def member_answer(membership: MemberRow) -> MemberAnswer:
    return MemberAnswer(principal=membership.principal_id, role=membership.role)  # type: ignore[arg-type]
