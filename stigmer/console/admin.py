"""Pages of background work and of what staff may do in the console."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import action, display
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.utils import timezone
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.admin import ModelAdmin

from stigmer.background import schedule, sweeps
from stigmer.background.models import Heartbeat, SweepRun
from stigmer.console.ages import age
from stigmer.console.base import ChoiceFilter, ReadOnlyAdmin, badge, code, minute, moment, prose
from stigmer.core.nudges import nudge

for _model in (PeriodicTask, IntervalSchedule, CrontabSchedule, SolarSchedule, ClockedSchedule):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)
if admin.site.is_registered(Group):
    admin.site.unregister(Group)


class SweepFilter(ChoiceFilter):
    """One sweep."""

    title = "sweep"
    parameter_name = "name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> tuple[tuple[str, str], ...]:
        self.options = (("", "All"), *((sweep.name, sweep.name) for sweep in sweeps.known()))
        return self.options

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(name=self.chosen()) if self.chosen() else queryset


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnlyAdmin):
    """When worker and beat last proved themselves."""

    list_display = ("process", "seen", "seen_ago")
    export_columns = ("process", "seen_at")
    keyset = ("process",)

    @display(description="Last seen")
    def seen(self, row: Heartbeat) -> object:
        return moment(row.seen_at)

    @display(description="Ago")
    def seen_ago(self, row: Heartbeat) -> str:
        return age(timezone.now() - row.seen_at)

    def heading(self, row: Heartbeat) -> str:
        return row.process

    def facts(self, request: HttpRequest, row: Heartbeat) -> list[tuple[str, object]]:
        return [("Process", row.process), ("Last seen", self.seen(row))]


@admin.register(SweepRun)
class SweepRunAdmin(ReadOnlyAdmin):
    """Runs of the sweeps, newest first; a run can be asked of the worker."""

    list_display = ("name", "outcome", "started", "took", "taken")
    list_before_template = "console/sweeps.html"
    list_filter = (SweepFilter,)
    export_columns = ("id", "name", "started_at", "ended_at", "cutoff", "counts", "error")
    keyset = ("-id",)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.run_view)
        return [path("run/<str:name>/", view, name="background_sweeprun_run"), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        known = []
        if request.user.has_perm("background.add_sweeprun"):
            known = [(sweep, self.address("run", sweep.name)) for sweep in sweeps.known()]
        return super().changelist_view(request, {"sweeps": known, **(extra_context or {})})

    def run_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """Ask the worker for a run; what comes of it stands in the list."""
        if request.method != "POST" or not request.user.has_perm("background.add_sweeprun"):
            raise PermissionDenied
        if sweeps.find(name) is None:
            raise Http404
        nudge(name)
        messages.success(request, f"{name}: the worker was asked; reload to see the run.")
        return HttpResponseRedirect(self.address("changelist"))

    @display(description="Outcome")
    def outcome(self, row: SweepRun) -> object:
        if row.error:
            return badge("failed", "bad")
        return badge("done", "good") if row.ended_at else badge("running or killed", "waiting")

    @display(description="Started (UTC)")
    def started(self, row: SweepRun) -> object:
        return minute(row.started_at)

    @display(description="Took")
    def took(self, row: SweepRun) -> str:
        return age(row.ended_at - row.started_at) if row.ended_at else "–"

    @display(description="Taken")
    def taken(self, row: SweepRun) -> str:
        return ", ".join(f"{what} {count}" for what, count in row.counts.items()) or "–"

    def heading(self, row: SweepRun) -> str:
        return row.name

    def facts(self, request: HttpRequest, row: SweepRun) -> list[tuple[str, object]]:
        return [
            ("Sweep", row.name),
            ("Outcome", self.outcome(row)),
            ("Started", moment(row.started_at)),
            ("Ended", moment(row.ended_at)),
            ("Older than", moment(row.cutoff)),
            ("Taken", self.taken(row)),
            ("Error", prose(row.error or "–")),
        ]


class _Kept(ModelAdmin):  # type: ignore[misc]
    """Changed by form, with Django's permissions; never deleted: tasks hang on schedules."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(IntervalSchedule)
class IntervalScheduleAdmin(_Kept):
    """Every so often."""

    list_display = ("__str__",)


@admin.register(CrontabSchedule)
class CrontabScheduleAdmin(_Kept):
    """At a time of day."""

    list_display = ("__str__", "timezone")


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(_Kept):
    """What runs when; the declaration in the code is one action away."""

    list_display = ("name", "code_name", "when", "state", "last_run", "total_run_count")
    list_select_related = ("interval", "crontab", "solar", "clocked")
    ordering = ("name",)
    fields = ("name", "task", "description", "enabled", "interval", "crontab", "expire_seconds")
    readonly_fields = ("name", "task", "description")
    actions = ("reset_to_declared",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @display(description="Task")
    def code_name(self, row: PeriodicTask) -> object:
        return code(row.task)

    @display(description="When")
    def when(self, row: PeriodicTask) -> str:
        return str(row.scheduler)

    @display(description="State")
    def state(self, row: PeriodicTask) -> object:
        return badge("on", "good") if row.enabled else badge("off", "bad")

    @display(description="Last run (UTC)")
    def last_run(self, row: PeriodicTask) -> object:
        return minute(row.last_run_at)

    @action(description="Reset to declared", permissions=["change"])
    def reset_to_declared(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        """Put the chosen tasks back to what the code declares."""
        for name in queryset.values_list("name", flat=True):
            if schedule.reset(name):
                messages.success(request, f"{name}: back to its declaration")
            else:
                messages.error(request, f"{name}: no declaration in the code")


@admin.register(Group)
class ConsoleGroupAdmin(GroupAdmin, ModelAdmin):  # type: ignore[misc]
    """Which permissions a group of staff has; for platform admins alone."""

    def _allowed(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request)
