"""Doors of organizations, members and slugs."""

from __future__ import annotations

import msgspec
from django.http import HttpResponse

from organizations import queries
from organizations.api import gates
from organizations.api.paging import page
from organizations.api.schemas import (
    CreateOrganization,
    MemberAnswer,
    MemberPage,
    OrganizationAnswer,
    OrganizationPage,
    PageQuery,
    PutMember,
    SlugAnswer,
    UpdateOrganization,
    member_answer,
    organization_answer,
)
from organizations.errors import (
    LastOwner,
    MemberNotFound,
    OrganizationNotEmpty,
    OrganizationNotFound,
    SlugReserved,
)
from organizations.operations import members as member_operations
from organizations.operations import organizations as operations
from stigmer.core.errors import AlreadyExists, PermissionDenied, PreconditionFailed
from stigmer.http import etags
from stigmer.http.fields import UNSET
from stigmer.http.pagination import TimeAndId
from stigmer.http.views import Call, Door, door, reply

ACME = {
    "id": "acme",
    "slug": "acme",
    "name": "Acme",
    "description": "Rockets and anvils.",
    "created_at": "2026-01-31T09:30:00.000000Z",
    "updated_at": "2026-01-31T09:30:00.000000Z",
}
BOB = {"principal": "bob", "role": "member"}


class Organizations(Door):
    """`/organizations`"""

    @door(
        summary="List your organizations",
        query=PageQuery,
        answer=OrganizationPage,
        statuses={200: "One page, newest first."},
        example={"items": [ACME], "next_cursor": None, "schema_version": "stigmer/v1"},
    )
    def get(self, call: Call) -> HttpResponse:
        return page(
            call,
            lambda after: queries.organizations(call.caller, after=after),
            organization_answer,
            shape=TimeAndId,
            position=lambda row: (row.created_at, row.slug_id),
            list="organizations",
        )

    @door(
        summary="Create an organization",
        body=CreateOrganization,
        answer=OrganizationAnswer,
        statuses={201: "Created; you are its first owner."},
        refusals=(AlreadyExists, SlugReserved),
        rate="writes",
        example=ACME,
    )
    def post(self, call: Call) -> HttpResponse:
        made = operations.create_organization(
            name=call.body.name,
            slug=call.body.slug or None,
            description=call.body.description or "",
            owner=call.caller.name,
            by=call.act(),
            now=call.now,
        )
        return reply(organization_answer(made), 201)


class Organization(Door):
    """`/organizations/{slug}`"""

    @door(
        summary="Get an organization",
        answer=OrganizationAnswer,
        gate=gates.sees,
        statuses={200: "The organization.", 304: "You have it already."},
        refusals=(OrganizationNotFound,),
        etag=True,
        example=ACME,
    )
    def get(self, call: Call, slug: str) -> HttpResponse:
        return reply(organization_answer(queries.organization(call.caller, slug)))

    @door(
        summary="Change an organization",
        body=UpdateOrganization,
        answer=OrganizationAnswer,
        gate=gates.changes,
        statuses={200: "Changed."},
        refusals=(OrganizationNotFound, PermissionDenied, PreconditionFailed),
        rate="writes",
        if_match=True,
        example=ACME,
    )
    def patch(self, call: Call, slug: str) -> HttpResponse:
        changed = operations.update_organization(
            slug=slug,
            name=call.body.name or None,
            description=_description(call),
            expected=lambda row: _matches(call, row),
            by=call.act(),
            now=call.now,
        )
        answer = organization_answer(changed)
        return reply(answer, ETag=etags.etag_of(msgspec.json.encode(answer)))

    @door(
        summary="Delete an organization",
        answer=None,
        gate=gates.deletes,
        statuses={204: "Deleted; its slug is retired for good."},
        refusals=(
            OrganizationNotFound, PermissionDenied, PreconditionFailed, OrganizationNotEmpty,
        ),
        rate="writes",
        if_match=True,
    )  # fmt: skip
    def delete(self, call: Call, slug: str) -> HttpResponse:
        operations.delete_organization(
            slug=slug, expected=lambda row: _matches(call, row), by=call.act(), now=call.now
        )
        return reply(None, 204)


def _description(call: Call) -> str | None:
    # The parser takes an empty optional text for an absent one; here it clears.
    if call.data.get("description") == "":
        return ""
    return None if call.body.description is UNSET else call.body.description


def _matches(call: Call, row: queries.OrganizationRow) -> bool:
    content = msgspec.json.encode(organization_answer(row))
    return etags.holds(etags.wanted(call.request), content)


class Members(Door):
    """`/organizations/{slug}/members`"""

    @door(
        summary="List the members of an organization",
        query=PageQuery,
        answer=MemberPage,
        gate=gates.sees,
        statuses={200: "One page, by name."},
        refusals=(OrganizationNotFound,),
        example={"items": [BOB], "next_cursor": None, "schema_version": "stigmer/v1"},
    )
    def get(self, call: Call, slug: str) -> HttpResponse:
        return page(
            call,
            lambda after: queries.members(call.caller, slug, after=after[0] if after else ""),
            member_answer,
            shape=tuple[str],
            position=lambda row: (row.principal_id,),
            list="members",
            organization=slug,
        )


class Member(Door):
    """`/organizations/{slug}/members/{name}`"""

    @door(
        summary="Get a member of an organization",
        answer=MemberAnswer,
        gate=gates.sees_member,
        statuses={200: "The membership.", 304: "You have it already."},
        refusals=(OrganizationNotFound, MemberNotFound),
        etag=True,
        example=BOB,
    )
    def get(self, call: Call, slug: str, name: str) -> HttpResponse:
        return reply(member_answer(queries.member(call.caller, slug, name)))

    @door(
        summary="Give a principal a role",
        body=PutMember,
        answer=MemberAnswer,
        gate=gates.manages,
        statuses={200: "Changed.", 201: "Added."},
        refusals=(OrganizationNotFound, MemberNotFound, PermissionDenied, LastOwner),
        rate="writes",
        example=BOB,
    )
    def put(self, call: Call, slug: str, name: str) -> HttpResponse:
        put = member_operations.put_member(
            organization=slug, principal=name, role=call.body.role, by=call.act(), now=call.now
        )
        return reply(member_answer(put.membership), 201 if put.new else 200)

    @door(
        summary="Remove a member",
        answer=None,
        gate=gates.removes,
        statuses={204: "Removed."},
        refusals=(OrganizationNotFound, MemberNotFound, PermissionDenied, LastOwner),
        rate="writes",
    )
    def delete(self, call: Call, slug: str, name: str) -> HttpResponse:
        member_operations.remove_member(
            organization=slug, principal=name, by=call.act(), now=call.now
        )
        return reply(None, 204)


class SlugState(Door):
    """`/organization-slugs/{slug}`"""

    @door(
        summary="Ask whether a slug is free",
        answer=SlugAnswer,
        statuses={200: "What the slug is to somebody who wants it."},
        example={"slug": "acme", "state": "held"},
    )
    def get(self, call: Call, slug: str) -> HttpResponse:
        return reply(SlugAnswer(slug=slug, state=queries.slug_state(slug).value))
