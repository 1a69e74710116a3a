"""Pages of background work and of what staff may do in the console."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from stigmer.background import schedule
from stigmer.background.models import Heartbeat
from stigmer.console.ages import age
from stigmer.console.base import ReadOnlyAdmin, badge, code, moment

for _model in (PeriodicTask, IntervalSchedule, CrontabSchedule, SolarSchedule, ClockedSchedule):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)
if admin.site.is_registered(Group):
    admin.site.unregister(Group)


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


class _Kept(ModelAdmin):  # type: ignore[misc]
    """Changed by form, with Django's permissions; nothing is deleted, as tasks hang on schedules."""

    show_full_result_count = False

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

    @display(description="Last run")
    def last_run(self, row: PeriodicTask) -> object:
        return moment(row.last_run_at)

    @action(description="Reset to declared", permissions=["change"])
    def reset_to_declared(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        """Put the chosen tasks back to what the code declares."""
        for name in queryset.values_list("name", flat=True):
            if schedule.reset(name):
                messages.success(request, f"{name}: back to its declaration")
            else:
                messages.error(request, f"{name}: no declaration in the code")


@admin.register(Group)
class ConsoleGroupAdmin(GroupAdmin, ModelAdmin):  # type: ignore[misc,type-arg]
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
