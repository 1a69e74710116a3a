"""Resources by kind, the page of one with its versions, and the difference between two."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin import display
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse

from organizations.authorization import Permission, permitted
from organizations.authorization import Resource as Protected
from resources.admin import showing
from resources.kinds import KINDS, STORED
from resources.models import Resource
from resources.operations import documents
from resources.queries import versions
from resources.queries.versions import Version
from resources.states import Visibility
from stigmer.console.base import (
    ActionAdmin,
    ChoiceFilter,
    ExactFilter,
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
from stigmer.core.callers import Act
from stigmer.core.search import Question, fold


class KindFilter(ChoiceFilter):
    """One kind."""

    title = "kind"
    parameter_name = "kind"
    options = (("", "All"), *((kind, KINDS[kind].display) for kind in STORED))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.chosen()) if self.chosen() else queryset


class VisibilityFilter(ChoiceFilter):
    """Who sees it."""

    title = "visibility"
    parameter_name = "visibility"
    options = (
        ("", "All"),
        *((v.value, v.value.removeprefix("visibility_").capitalize()) for v in Visibility),
    )

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(visibility=self.chosen()) if self.chosen() else queryset


class ParentFilter(ExactFilter):
    """The id of the parent."""

    title = "parent"
    parameter_name = "parent"
    column = "parent"


def _delete(row: Resource, version: str, by: Act, now: datetime) -> None:
    documents.delete(
        kind=row.kind,
        id=row.pk,
        expected=lambda found: str(found.resource_version) == version,
        by=by,
        now=now,
    )


@admin.register(Resource)
class ResourceAdmin(ActionAdmin):
    """Documents, newest first; other people's private ones are for platform admins."""

    keyset = ("-created_at", "-id")
    list_display = ("id", "name_text", "kind_name", "organization_id", "visibility_badge", "made")
    list_filter = (
        KindFilter,
        ("organization", OneOfManyFilter),
        VisibilityFilter,
        ParentFilter,
    )
    export_columns = (
        "id",
        "kind",
        "organization_id",
        "slug",
        "name",
        "visibility",
        "resource_version",
        "created_at",
        "created_by_id",
        "updated_at",
        "updated_by_id",
    )
    search_fields = ("id",)
    search_help_text = "Id, slug or words of name, tags and description"
    row_actions = (
        RowAction(
            name="delete",
            label="Delete",
            done="deleted",
            permission="resources.delete_resource",
            run=_delete,
            danger=True,
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Resource]:
        found: QuerySet[Resource] = super().get_queryset(request)
        found = found.filter(organization__retired_at__isnull=True)
        # Sealed values never reach a page.
        found = found.defer("sealed", "words", "terms")
        if getattr(request.user, "is_superuser", False):
            return found
        return found.exclude(visibility=Visibility.PRIVATE)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Resource], search_term: str
    ) -> tuple[QuerySet[Resource], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        exact = queryset.filter(pk=term) | queryset.filter(slug=term)
        if exact.exists():
            return exact, False
        words = Question(viewer_of(request), fold(term), frozenset(), 0)
        sql, params = words.held("resources_resource.terms")
        return queryset.filter(RawSQL(sql, params, output_field=BooleanField())), False

    @display(description="Name")
    def name_text(self, row: Resource) -> object:
        return prose(row.name)

    @display(description="Kind")
    def kind_name(self, row: Resource) -> object:
        return KINDS[row.kind].display

    @display(description="Visibility")
    def visibility_badge(self, row: Resource) -> object:
        return badge(row.visibility.removeprefix("visibility_"), "event")

    @display(description="Created")
    def made(self, row: Resource) -> object:
        return minute(row.created_at)

    def heading(self, row: Resource) -> str:
        return f"{KINDS[row.kind].display} {row.name}"

    def version(self, row: Resource) -> str:
        return str(row.resource_version)

    def may_act(self, request: HttpRequest, row: Resource) -> bool:
        private = row.created_by_id if row.visibility == Visibility.PRIVATE else None
        protected = Protected(row.kind, row.pk, row.organization_id, private)
        return permitted(viewer_of(request), Permission.WRITE, protected)

    def facts(self, request: HttpRequest, row: Resource) -> list[tuple[str, object]]:
        organization = reverse(
            "admin:organizations_organizationslug_change", args=[row.organization_id]
        )
        return [
            ("Id", code(row.pk)),
            ("Slug", code(row.slug)),
            ("Organization", linked(organization, row.organization_id)),
            ("Visibility", self.visibility_badge(row)),
            ("Version", row.resource_version),
            ("Parent", self._parent(request, row)),
            ("Tags", prose(", ".join(row.tags) or "–")),
            ("Created", moment(row.created_at)),
            ("Created by", prose(row.created_by_id)),
            ("Updated", moment(row.updated_at)),
            ("Updated by", prose(row.updated_by_id)),
        ]

    def _parent(self, request: HttpRequest, row: Resource) -> object:
        if not row.parent or not self.get_queryset(request).filter(pk=row.parent).exists():
            return code(row.parent)
        return linked(self.address("change", row.parent), row.parent)

    def tables(self, request: HttpRequest, row: Any) -> list[Table]:
        parts = (("Labels", row.labels), ("Annotations", row.annotations), ("Spec", row.spec),
                 ("Status", row.status))  # fmt: skip
        content = [(name, showing.pretty(value)) for name, value in parts if value]
        found = versions.rows(versions.of(row.kind, row.pk)[: showing.SHOWN + 1])
        return [
            Table("Content", ("Part", "Value"), content),
            showing.versions(found, lambda old, new: self.address("diff", row.pk, old.id, new.id)),
        ]

    # The difference between two versions ----------------------------------------------------------

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_diff"
        view = self.admin_site.admin_view(self.diff_view)
        return [path("<path:key>/diff/<int:old>/<int:new>/", view, name=name), *super().get_urls()]

    def diff_view(self, request: HttpRequest, key: str, old: int, new: int) -> HttpResponse:
        """Two versions of one document, line by line."""
        row = self.found(request, key)
        before, after = self._version(row, old), self._version(row, new)
        return TemplateResponse(
            request,
            self.detail_template,
            {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": f"{self.heading(row)}: what changed",
                "original": row,
                "facts": [
                    ("Document", linked(self.address("change", row.pk), row.name)),
                    ("Before", _named(before)),
                    ("After", _named(after)),
                ],
                "tables": showing.difference(before, after),
                "has_view_permission": True,
            },
        )

    def _version(self, row: Resource, id: int) -> Version:
        found = versions.rows(versions.of(row.kind, row.pk).filter(pk=id)[:1])
        if not found:
            raise Http404
        return found[0]


def _named(version: Version) -> object:
    tag = f" ({version.tag})" if version.tag else ""
    return prose(f"{version.version_hash[:12]}{tag}, {version.archived_at:%Y-%m-%d %H:%M} UTC")
