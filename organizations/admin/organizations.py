"""Organizations with their members, and the slug ledger."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from organizations.models import Membership, Organization, OrganizationSlug
from organizations.states import Role, SlugState
from stigmer.console.base import (
    ChoiceFilter,
    OneOfManyFilter,
    ReadOnlyAdmin,
    Table,
    badge,
    code,
    linked,
    minute,
    moment,
    prose,
)

SHOWN = 200


def organization_page(slug: str) -> str:
    """The address of an organization's page."""
    return reverse("admin:organizations_organization_change", args=[slug])


def principal_link(name: str) -> object:
    """A link to the principal of this name."""
    return linked(reverse("admin:organizations_principal_named", args=[name]), name)


def shown_of(count: int) -> str:
    """What a table that is cut says about it."""
    return f"The first {SHOWN} are shown." if count > SHOWN else ""


@admin.register(Organization)
class OrganizationAdmin(ReadOnlyAdmin):
    """Live organizations, newest first."""

    keyset = ("-created_at", "-pk")
    list_display = ("short", "title", "created")
    export_columns = ("pk", "name", "description", "created_at", "updated_at")
    search_fields = ("slug__slug__startswith",)
    search_help_text = "Beginning of a slug"

    @display(description="Slug")
    def short(self, row: Organization) -> str:
        return str(row.pk)

    @display(description="Name")
    def title(self, row: Organization) -> object:
        return prose(row.name)

    @display(description="Created (UTC)")
    def created(self, row: Organization) -> object:
        return minute(row.created_at)

    def heading(self, row: Organization) -> str:
        return str(row.name)

    def facts(self, request: HttpRequest, row: Organization) -> list[tuple[str, object]]:
        return [
            ("Slug", code(row.pk)),
            ("Name", prose(row.name)),
            ("Description", prose(row.description or "–")),
            ("Created", moment(row.created_at)),
            ("Updated", moment(row.updated_at)),
        ]

    def tables(self, request: HttpRequest, row: Organization) -> list[Table]:
        if not request.user.has_perm("organizations.view_membership"):
            return []
        found = Membership.objects.filter(organization=row.pk).order_by("principal_id")
        members = list(found[: SHOWN + 1])
        return [
            Table(
                "Members",
                ("Principal", "Role", "Since"),
                [
                    (principal_link(m.principal_id), badge(m.role), moment(m.created_at))
                    for m in members[:SHOWN]
                ],
                note=shown_of(len(members)),
            )
        ]


class LedgerStateFilter(ChoiceFilter):
    """Held or retired."""

    title = "state"
    parameter_name = "state"
    options = (("", "All"), (SlugState.HELD, "Held"), (SlugState.RETIRED, "Retired"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.chosen():
            return queryset
        return queryset.filter(retired_at__isnull=self.chosen() == SlugState.HELD)


@admin.register(OrganizationSlug)
class OrganizationSlugAdmin(ReadOnlyAdmin):
    """Every slug that was ever taken, whose it is or that it is retired for good."""

    keyset = ("pk",)
    list_display = ("slug", "state", "claimed", "retired")
    list_filter = (LedgerStateFilter,)
    export_columns = ("pk", "claimed_at", "retired_at")
    search_fields = ("slug__startswith",)
    search_help_text = "Beginning of a slug"

    @display(description="State")
    def state(self, row: OrganizationSlug) -> object:
        return badge(SlugState.HELD if row.retired_at is None else SlugState.RETIRED)

    @display(description="Claimed (UTC)")
    def claimed(self, row: OrganizationSlug) -> object:
        return minute(row.claimed_at)

    @display(description="Retired (UTC)")
    def retired(self, row: OrganizationSlug) -> object:
        return minute(row.retired_at)

    def facts(self, request: HttpRequest, row: OrganizationSlug) -> list[tuple[str, object]]:
        live = Organization.objects.filter(pk=row.pk).exists()
        page = linked(organization_page(row.pk), row.pk) if live else "none"
        return [
            ("Slug", code(row.pk)),
            ("State", self.state(row)),
            ("Claimed", moment(row.claimed_at)),
            ("Retired", moment(row.retired_at)),
            ("Live organization", page),
        ]


class RoleFilter(ChoiceFilter):
    """One role."""

    title = "role"
    parameter_name = "role"
    options = (("", "All"), *((role.value, role.value.capitalize()) for role in Role))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(role=self.chosen()) if self.chosen() else queryset


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Who has which role where."""

    keyset = ("organization_id", "principal_id")
    list_display = ("organization_slug", "principal_name", "role_badge", "since")
    list_filter = (
        ("organization", OneOfManyFilter),
        ("principal", OneOfManyFilter),
        RoleFilter,
    )
    export_columns = ("organization_id", "principal_id", "role", "created_at")

    @display(description="Organization")
    def organization_slug(self, row: Membership) -> object:
        return row.organization_id

    @display(description="Principal")
    def principal_name(self, row: Membership) -> object:
        return row.principal_id

    @display(description="Role")
    def role_badge(self, row: Membership) -> object:
        return badge(row.role)

    @display(description="Since (UTC)")
    def since(self, row: Membership) -> object:
        return minute(row.created_at)

    def heading(self, row: Membership) -> str:
        return f"{row.principal_id} in {row.organization_id}"

    def facts(self, request: HttpRequest, row: Membership) -> list[tuple[str, object]]:
        return [
            ("Organization", linked(organization_page(row.organization_id), row.organization_id)),
            ("Principal", principal_link(row.principal_id)),
            ("Role", badge(row.role)),
            ("Since", moment(row.created_at)),
        ]
