"""Actions on rows: the same operations as the API's, told row by row what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

import structlog
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone

from stigmer.console.base.reading import ReadOnlyAdmin, viewer_of
from stigmer.core.callers import Act
from stigmer.core.errors import Refusal, StoreUnavailable

log = structlog.get_logger("stigmer.console")
MOST = 200
SURFACE = "console"


def act_of(request: HttpRequest) -> Act:
    """What an operation is told about the signed-in principal. Raises PermissionDenied."""
    request_id = getattr(request, "request_id", "")
    return Act(caller=viewer_of(request), surface=SURFACE, request_id=request_id)


@dataclass(frozen=True, slots=True)
class RowAction:
    """One action: who may, on which rows it is offered, and the operation that does it.

    `run` receives the row, the version of it that the page showed, the act and the time.
    """

    name: str
    label: str
    done: str
    permission: str
    run: Callable[[Any, str, Act, datetime], object]
    offered: Callable[[Any], bool] = lambda row: True
    danger: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one row."""

    key: str
    label: str
    succeeded: bool
    message: str


class ActionAdmin(ReadOnlyAdmin):
    """A read-only admin whose rows can be acted on, one from its page or many from the list."""

    row_actions: ClassVar[Sequence[RowAction]] = ()

    def version(self, row: Any) -> str:
        """What tells a page whether the row has changed since."""
        return ""

    def may_act(self, request: HttpRequest, row: Any) -> bool:
        """Whether the operation could let the signed-in principal act on this row at all."""
        return True

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_act"
        view = self.admin_site.admin_view(self.act_view)
        return [path("act/<str:name>/", view, name=name), *super().get_urls()]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            action.name: (partial(self._confirm, action=action), action.name, action.label)
            for action in self._permitted(request)
        }

    def _permitted(self, request: HttpRequest) -> list[RowAction]:
        return [action for action in self.row_actions if request.user.has_perm(action.permission)]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.found(request, object_id)
        mine = self.may_act(request, row)
        offered = [action for action in self._permitted(request) if action.offered(row)]
        context = {
            "row_actions": [(a, self.address("act", a.name)) for a in offered if mine],
            "row_version": self.version(row),
            "not_mine": bool(offered) and not mine,
        }
        return super().change_view(
            request, object_id, form_url, {**context, **(extra_context or {})}
        )

    # Many rows: first say how many, then do it ----------------------------------------------------

    def _confirm(
        self, admin: Any, request: HttpRequest, queryset: Any, *, action: RowAction
    ) -> HttpResponse | None:
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if len(chosen) > MOST:
            messages.error(request, f"At most {MOST} rows at once; {len(chosen)} were chosen.")
            return None
        rows = list(self._seen(request).filter(pk__in=chosen).order_by(*self.keyset))
        return self._page(
            request,
            f"{action.label}: {_many(len(rows), self.opts)}?",
            action=action,
            address=self.address("act", action.name),
            rows=[(str(row.pk), self.version(row), self.heading(row)) for row in rows],
        )

    def act_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """Do one action on the posted rows, each as the page showed it."""
        action = next((a for a in self.row_actions if a.name == name), None)
        if action is None:
            raise Http404
        if request.method != "POST" or not self._may(request, action):
            raise PermissionDenied
        keys, versions = request.POST.getlist("row"), request.POST.getlist("version")
        if not 0 < len(keys) <= MOST or len(keys) != len(versions):
            raise Http404
        outcomes = self._do(request, action, dict(zip(keys, versions, strict=True)))
        if "back" in request.POST:
            return self._told(request, outcomes[0])
        refused = sum(not outcome.succeeded for outcome in outcomes)
        title = f"{action.label}: {len(outcomes) - refused} {action.done}, {refused} refused"
        return self._page(request, title, action=action, outcomes=outcomes)

    def _may(self, request: HttpRequest, action: RowAction) -> bool:
        return self.has_view_permission(request) and request.user.has_perm(action.permission)

    def _do(
        self, request: HttpRequest, action: RowAction, versions: dict[str, str]
    ) -> list[Outcome]:
        by = act_of(request)
        seen = {str(row.pk): row for row in self._seen(request).filter(pk__in=list(versions))}
        return [self._one(action, key, seen.get(key), versions[key], by) for key in versions]

    def _one(self, action: RowAction, key: str, row: Any, version: str, by: Act) -> Outcome:
        if row is None:
            return Outcome(key, key, False, f"{self.opts.verbose_name} not found")
        label = self.heading(row)
        try:
            action.run(row, version, by, timezone.now())
        except Refusal as refusal:
            return Outcome(key, label, False, refusal.detail)
        except OperationalError as cause:
            log.warning("store_unavailable", action=action.name, row=key, cause=str(cause))
            return Outcome(key, label, False, StoreUnavailable.title())
        return Outcome(key, label, True, action.done)

    def _told(self, request: HttpRequest, outcome: Outcome) -> HttpResponse:
        level = messages.SUCCESS if outcome.succeeded else messages.ERROR
        messages.add_message(request, level, f"{outcome.label}: {outcome.message}")
        return HttpResponseRedirect(self.address("change", outcome.key))

    def _page(self, request: HttpRequest, title: str, **context: Any) -> HttpResponse:
        return TemplateResponse(
            request,
            "console/act.html",
            {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": title,
                "list_address": self.address("changelist"),
                **context,
            },
        )


def _many(count: int, opts: Any) -> str:
    return f"{count} {opts.verbose_name if count == 1 else opts.verbose_name_plural}"
