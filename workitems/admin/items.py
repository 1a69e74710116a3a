"""Work items: the list, and the page of one with what its lifecycle allows now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from organizations.authorization import Permission, Resource, permitted
from stigmer.console.base import (
    ActionAdmin,
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
from stigmer.console.base.reading import viewer_of
from stigmer.core import grams
from stigmer.core.callers import Act
from stigmer.core.ids import is_id
from workitems.admin import timeline
from workitems.admin.filters import (
    ExternalKeyFilter,
    StateFilter,
    SurfaceFilter,
    VisibilityFilter,
)
from workitems.models import WorkItem
from workitems.operations import transition
from workitems.states import LIFECYCLE, Visibility

TITLE_SHOWN = 80


def _moving(action: str, label: str, done: str, *, danger: bool = False) -> RowAction:
    def run(row: WorkItem, version: str, by: Act, now: datetime) -> None:
        expected = int(version) if version.isascii() and version.isdigit() else 0
        transition(
            item=row.id, action=action, expected_state_version=expected, by=by, now=now, facts={}
        )

    return RowAction(
        name=action,
        label=label,
        done=done,
        permission="workitems.change_workitem",
        run=run,
        offered=lambda row: LIFECYCLE.move(row.state, action) is not None,
        danger=danger,
    )


@admin.register(WorkItem)
class WorkItemAdmin(ActionAdmin):
    """Work items, newest updated first; other people's private ones are for platform admins."""

    keyset = ("-updated_at", "-id")
    list_display = ("id", "title_text", "tenant", "state_badge", "owner_name", "updated")
    list_filter = (
        StateFilter,
        ("organization", OneOfManyFilter),
        ("owner", OneOfManyFilter),
        VisibilityFilter,
        SurfaceFilter,
        ExternalKeyFilter,
    )
    export_columns = (
        "id",
        "organization_id",
        "owner_id",
        "visibility",
        "origin_surface",
        "title",
        "external_key",
        "state",
        "waiting_reason",
        "state_version",
        "created_at",
        "updated_at",
        "completed_at",
    )
    search_fields = ("id",)
    search_help_text = "Id, external key or part of a title"
    row_actions = (
        _moving("complete", "Complete", "completed"),
        _moving("archive", "Archive", "archived", danger=True),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[WorkItem]:
        # What a deleted organization left is invisible from the moment of the delete.
        found = super().get_queryset(request).filter(organization__retired_at__isnull=True)
        if not getattr(request.user, "is_superuser", False):
            found = found.filter(visibility=Visibility.TENANT)
        kept: QuerySet[WorkItem] = found
        return kept

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WorkItem], search_term: str
    ) -> tuple[QuerySet[WorkItem], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        if is_id("wi", term):
            return queryset.filter(pk=term), False
        keyed = queryset.filter(external_key=term)
        if keyed.exists():
            return keyed, False
        return queryset.filter(grams.contains("searchable__folded", term)), False

    @display(description="Title")
    def title_text(self, row: WorkItem) -> object:
        cut = row.title if len(row.title) <= TITLE_SHOWN else f"{row.title[:TITLE_SHOWN]}…"
        return prose(cut)

    @display(description="Organization")
    def tenant(self, row: WorkItem) -> object:
        return row.organization_id

    @display(description="State")
    def state_badge(self, row: WorkItem) -> object:
        text = f"{row.state}: {row.waiting_reason}" if row.waiting_reason else row.state
        return badge(text, row.state)

    @display(description="Owner")
    def owner_name(self, row: WorkItem) -> object:
        return row.owner_id

    @display(description="Updated (UTC)")
    def updated(self, row: WorkItem) -> object:
        return minute(row.updated_at)

    def heading(self, row: WorkItem) -> str:
        return row.title

    def version(self, row: WorkItem) -> str:
        return str(row.state_version)

    def may_act(self, request: HttpRequest, row: WorkItem) -> bool:
        private = row.owner_id if row.visibility == Visibility.PRIVATE else None
        resource = Resource("work_item", row.id, row.organization_id, private)
        return permitted(viewer_of(request), Permission.WRITE, resource)

    def facts(self, request: HttpRequest, row: WorkItem) -> list[tuple[str, object]]:
        organization = reverse(
            "admin:organizations_organizationslug_change", args=[row.organization_id]
        )
        return [
            ("State", self.state_badge(row)),
            ("Version", row.state_version),
            ("Organization", linked(organization, row.organization_id)),
            ("Owner", prose(row.owner_id)),
            ("Visibility", badge(row.visibility)),
            ("Origin", prose(row.origin_surface)),
            ("External key", code(row.external_key)),
            ("Superseded by", self._successor(request, row)),
            ("Id", code(row.id)),
            ("Created", moment(row.created_at)),
            ("Updated", moment(row.updated_at)),
            ("Ended", moment(row.completed_at)),
        ]

    def _successor(self, request: HttpRequest, row: WorkItem) -> object:
        if row.superseded_by_id is None:
            return "–"
        if not self.get_queryset(request).filter(pk=row.superseded_by_id).exists():
            return "–"
        return linked(self.address("change", row.superseded_by_id), row.superseded_by_id)

    def tables(self, request: HttpRequest, row: Any) -> list[Table]:
        return [
            timeline.timeline(row.id),
            timeline.executions(row.id),
            timeline.surface_refs(row.id),
        ]
