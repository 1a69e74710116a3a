"""Principals and their tokens."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.core.exceptions import PermissionDenied as Forbidden
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils import timezone
from django.utils.html import format_html

from organizations.admin.access import access_view
from organizations.admin.organizations import SHOWN, organization_page, principal_link, shown_of
from organizations.models import ApiToken, Membership, Principal
from organizations.operations.principals import activate, deactivate
from organizations.operations.tokens import revoke_any_token
from organizations.states import PrincipalKind
from stigmer.console.base import (
    ActionAdmin,
    ChoiceFilter,
    OneOfManyFilter,
    RowAction,
    Table,
    badge,
    code,
    linked,
    minute,
    moment,
    prose,
)
from stigmer.core.callers import Act
from stigmer.core.errors import PermissionDenied

PREFIX = 8


class KindFilter(ChoiceFilter):
    """One kind of principals."""

    title = "kind"
    parameter_name = "kind"
    options = (("", "All"), *((kind.value, kind.value.capitalize()) for kind in PrincipalKind))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.chosen()) if self.chosen() else queryset


class ActiveFilter(ChoiceFilter):
    """Active or deactivated."""

    title = "active"
    parameter_name = "active"
    options = (("", "All"), ("yes", "Active"), ("no", "Deactivated"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.chosen():
            return queryset
        return queryset.filter(is_active=self.chosen() == "yes")


def _let_switch(row: Principal, by: Act) -> None:
    """Raises PermissionDenied for oneself, and for an admin unless one is an admin."""
    if row.name == by.actor:
        raise PermissionDenied("you cannot switch yourself off or on")
    if row.is_superuser and not by.caller.platform_admin:
        raise PermissionDenied("only a platform admin switches a platform admin")


def _deactivate(row: Principal, version: str, by: Act, now: datetime) -> None:
    _let_switch(row, by)
    deactivate(principal=row.name, by=by, now=now)


def _activate(row: Principal, version: str, by: Act, now: datetime) -> None:
    _let_switch(row, by)
    activate(principal=row.name, by=by, now=now)


@admin.register(Principal)
class PrincipalAdmin(ActionAdmin):
    """Everybody and everything that acts."""

    keyset = ("name",)
    list_display = ("name", "kind_badge", "active", "admin", "created")
    list_filter = (KindFilter, ActiveFilter)
    export_columns = ("id", "name", "kind", "is_active", "is_staff", "is_superuser", "created_at")
    search_fields = ("name__startswith",)
    search_help_text = "Beginning of a name"
    row_actions = (
        RowAction(
            name="deactivate",
            label="Deactivate",
            done="deactivated",
            permission="organizations.change_principal",
            run=_deactivate,
            offered=lambda row: row.is_active,
            danger=True,
        ),
        RowAction(
            name="activate",
            label="Activate",
            done="activated",
            permission="organizations.change_principal",
            run=_activate,
            offered=lambda row: not row.is_active,
        ),
    )

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.named_view)
        named = path("named/<path:name>", view, name="organizations_principal_named")
        access = path(
            "access/<str:key>/",
            self.admin_site.admin_view(partial(access_view, self)),
            name="organizations_principal_access",
        )
        return [named, access, *super().get_urls()]

    def named_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page of the principal with this name."""
        if not self.has_view_permission(request):
            raise Forbidden
        row = get_object_or_404(Principal, name=name)
        return HttpResponseRedirect(self.address("change", row.pk))

    @display(description="Kind")
    def kind_badge(self, row: Principal) -> object:
        return badge(row.kind)

    @display(description="Active")
    def active(self, row: Principal) -> object:
        return badge("active", "good") if row.is_active else badge("deactivated", "bad")

    @display(description="Console")
    def admin(self, row: Principal) -> object:
        if row.is_superuser:
            return badge("platform admin", "admin")
        return badge("staff") if row.is_staff else "–"

    @display(description="Created (UTC)")
    def created(self, row: Principal) -> object:
        return minute(row.created_at)

    def heading(self, row: Principal) -> str:
        return str(row.name)

    def facts(self, request: HttpRequest, row: Principal) -> list[tuple[str, object]]:
        return [
            ("Name", prose(row.name)),
            ("Id", code(row.pk)),
            ("Kind", self.kind_badge(row)),
            ("Active", self.active(row)),
            ("Console", self._access(request, row)),
            ("Display name", prose(row.display_name or "–")),
            ("Email", prose(row.email or "–")),
            ("Created", moment(row.created_at)),
            ("Last sign-in", moment(row.last_login)),
        ]

    def _access(self, request: HttpRequest, row: Principal) -> object:
        if row.kind != PrincipalKind.HUMAN or not getattr(request.user, "is_superuser", False):
            return self.admin(row)
        change = linked(self.address("access", row.pk), "change access")
        return format_html("{} {}", self.admin(row), change)

    def tables(self, request: HttpRequest, row: Principal) -> list[Table]:
        shown = []
        if request.user.has_perm("organizations.view_membership"):
            shown.append(self._memberships(row))
        if request.user.has_perm("organizations.view_apitoken"):
            shown.append(self._tokens(row))
        return shown

    def _memberships(self, row: Principal) -> Table:
        found = Membership.objects.filter(principal=row.name).order_by("organization_id")
        rows = list(found[: SHOWN + 1])
        return Table(
            "Memberships",
            ("Organization", "Role", "Since"),
            [
                (
                    linked(organization_page(m.organization_id), m.organization_id),
                    badge(m.role),
                    moment(m.created_at),
                )
                for m in rows[:SHOWN]
            ],
            empty="In no organization.",
            note=shown_of(len(rows)),
        )

    def _tokens(self, row: Principal) -> Table:
        rows = list(ApiToken.objects.filter(principal=row.name).order_by("-id")[: SHOWN + 1])
        return Table(
            "Tokens",
            ("Name", "Digest", "State", "Created", "Last used"),
            [
                (prose(t.name), digest(t), state(t), moment(t.created_at), moment(t.last_used_at))
                for t in rows[:SHOWN]
            ],
            empty="No tokens.",
            note=shown_of(len(rows)),
        )


def digest(row: ApiToken) -> object:
    """The first characters of the token's digest."""
    return code(f"{row.digest[:PREFIX]}…")


def state(row: ApiToken) -> object:
    """Whether the token is worth anything."""
    if row.revoked_at is not None:
        return badge("revoked", "bad")
    if row.expires_at is not None and row.expires_at <= timezone.now():
        return badge("expired", "bad")
    return badge("live", "good")


def _revoke(row: ApiToken, version: str, by: Act, now: datetime) -> None:
    revoke_any_token(id=row.id, by=by, now=now)


@admin.register(ApiToken)
class ApiTokenAdmin(ActionAdmin):
    """Tokens by the beginning of their digest; the secret is nowhere."""

    keyset = ("-id",)
    list_display = ("id", "of", "token_name", "digest_start", "state", "expires", "last_used")
    list_filter = (("principal", OneOfManyFilter),)
    export_columns = ("id", "principal_id", "name", "created_at", "expires_at", "revoked_at")
    row_actions = (
        RowAction(
            name="revoke",
            label="Revoke",
            done="revoked",
            permission="organizations.change_apitoken",
            run=_revoke,
            offered=lambda row: row.revoked_at is None,
            danger=True,
        ),
    )

    @display(description="Principal")
    def of(self, row: ApiToken) -> object:
        return row.principal_id

    @display(description="Name")
    def token_name(self, row: ApiToken) -> object:
        return prose(row.name)

    @display(description="Digest")
    def digest_start(self, row: ApiToken) -> object:
        return digest(row)

    @display(description="State")
    def state(self, row: ApiToken) -> object:
        return state(row)

    @display(description="Expires (UTC)")
    def expires(self, row: ApiToken) -> object:
        return minute(row.expires_at)

    @display(description="Last used (UTC)")
    def last_used(self, row: ApiToken) -> object:
        return minute(row.last_used_at)

    def heading(self, row: ApiToken) -> str:
        return f"{row.name} of {row.principal_id}"

    def facts(self, request: HttpRequest, row: ApiToken) -> list[tuple[str, object]]:
        return [
            ("Id", code(row.pk)),
            ("Principal", principal_link(row.principal_id)),
            ("Name", prose(row.name)),
            ("Digest", digest(row)),
            ("State", state(row)),
            ("Created", moment(row.created_at)),
            ("Expires", moment(row.expires_at)),
            ("Revoked", moment(row.revoked_at)),
            ("Last used", moment(row.last_used_at)),
        ]
