"""Pages that show rows and change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path, reverse
from unfold.admin import ModelAdmin

from stigmer.console.base.exporting import FORMATS, export
from stigmer.console.base.lists import KeysetChangeList, LookAheadPaginator
from stigmer.console.base.marks import Table
from stigmer.core.callers import Caller
from stigmer.core.registries import callers

_KEPT_VIEWS = ("changelist", "change")


def viewer_of(request: HttpRequest) -> Caller:
    """The signed-in principal as it is now. Raises Django's PermissionDenied when it is gone."""
    found: Caller | None = callers.by_name(request.user.get_username())
    if found is None:
        raise PermissionDenied
    return found


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[misc]
    """A list by keyset and a page per row; no form, no history to delete, no add.

    `keyset` is the order of the list: one or two columns of one direction, unique together.
    `export_columns` are the columns of an export and hold the keyset's.
    """

    keyset: ClassVar[Sequence[str]] = ("pk",)
    export_columns: ClassVar[Sequence[str]] = ()
    change_list_template = "console/change_list.html"
    detail_template = "console/detail.html"
    actions = None
    sortable_by = ()
    list_per_page = 50
    list_filter_submit = True
    show_full_result_count = False
    show_facets = "NEVER"
    paginator = LookAheadPaginator
    list_fullwidth = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.has_perm(f"{self.opts.app_label}.view_{self.opts.model_name}"))

    def get_ordering(self, request: HttpRequest) -> Sequence[str]:
        return self.keyset

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:
        return KeysetChangeList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        # Django knows the exact filter of a relation only where it points at a primary key.
        own = (entry[0] for entry in self.list_filter if isinstance(entry, tuple))
        targets = ((name, self.opts.get_field(name).target_field.name) for name in own)
        if lookup in {f"{name}__{target}__exact" for name, target in targets}:
            return True
        return bool(super().lookup_allowed(lookup, value, request))

    # What subclasses tell about one row -----------------------------------------------------------

    def heading(self, row: Any) -> str:
        """What the page of this row is called."""
        return str(row)

    def facts(self, request: HttpRequest, row: Any) -> list[tuple[str, object]]:
        """Labels and values of this row."""
        return []

    def tables(self, request: HttpRequest, row: Any) -> list[Table]:
        """What hangs on this row."""
        return []

    # Pages ----------------------------------------------------------------------------------------

    def get_urls(self) -> list[Any]:
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        kept = {f"{prefix}_{view}" for view in _KEPT_VIEWS}
        view = self.admin_site.admin_view(self.export_view)
        return [
            path("export/<str:form>/", view, name=f"{prefix}_export"),
            *(url for url in super().get_urls() if url.name in kept),
        ]

    def address(self, view: str, *args: object) -> str:
        """The address of one of this model's pages."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{view}", args=args)

    def found(self, request: HttpRequest, key: str) -> Any:
        """The row of this key that the signed-in principal sees. Raises Http404."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            row = self._seen(request).filter(pk=key).first()
        except (ValueError, DataError):
            row = None
        if row is None:
            raise Http404
        return row

    def _seen(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = self.get_queryset(request)
        related = self.get_list_select_related(request)
        return found.select_related(*related) if isinstance(related, (list, tuple)) else found

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        row = self.found(request, object_id)
        return TemplateResponse(
            request,
            self.detail_template,
            {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": self.heading(row),
                "row": row,
                "facts": self.facts(request, row),
                "tables": self.tables(request, row),
                "has_view_permission": True,
                **(extra_context or {}),
            },
        )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        exports = [(form, self.address("export", form)) for form in FORMATS if self.export_columns]
        response: HttpResponse = super().changelist_view(
            request, {"exports": exports, "title": None, **(extra_context or {})}
        )
        return response

    def export_view(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """The filtered list as a file."""
        if form not in FORMATS or not self.export_columns:
            raise Http404
        if not self.has_view_permission(request):
            raise PermissionDenied
        found = self.get_changelist_instance(request).queryset
        name = str(self.opts.verbose_name_plural).replace(" ", "-")
        return export(name, form, found, self.keyset, self.export_columns)
