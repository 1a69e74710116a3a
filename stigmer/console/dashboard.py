"""The first page: how work and the background stand."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from stigmer.background.models import BackgroundProcess
from stigmer.background.queries import last_heartbeats
from stigmer.console.ages import age
from stigmer.core.callers import Caller
from workitems import summaries
from workitems.summaries import Day, Load, Work

ORGANIZATIONS_SHOWN = 10
BAR, BASE = 190, 220  # heights in the picture of days: of the highest bar, of the ground
LATE = timedelta(minutes=1)
TABLES = {
    "organizations.view_organization": ("Organizations", "organizations_organization"),
    "organizations.view_principal": ("Principals", "organizations_principal"),
    "workitems.view_workitem": ("Work items", "workitems_workitem"),
}


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the dashboard shows to this principal; each part needs the permission of its pages."""
    now = timezone.now()
    context["counts"] = _counts(request)
    if request.user.has_perm("workitems.view_workitem"):
        found = summaries.work(_reader(request.user), now)
        context |= {"work": found, "loads": _bars(found.loads), **_days(found.ended)}
        context |= {"oldest": _lines(found.oldest, now), "newest": _lines(found.newest, now)}
        context["rest"] = _rest(found)
    if request.user.has_perm("background.view_heartbeat"):
        context["heartbeats"] = _heartbeats(now)
    return context


def _reader(user: Any) -> Caller:
    # What the summaries look at; memberships are not.
    return Caller(user.pk, user.name, user.kind, platform_admin=user.is_superuser)


def _counts(request: HttpRequest) -> list[dict[str, Any]]:
    mine = {
        title: table
        for permission, (title, table) in TABLES.items()
        if request.user.has_perm(permission)
    }
    if not mine:
        return []
    return [
        {"title": title, "rows": rows, "exact": exact}
        for title, (rows, exact) in summaries.sizes(mine).items()
    ]


def _bars(loads: list[Load]) -> list[dict[str, Any]]:
    most = max((load.open for load in loads), default=0) or 1
    return [
        {
            "organization": load.organization,
            "active": load.active,
            "waiting": load.waiting,
            "open": load.open,
            "active_width": round(100 * load.active / most, 2),
            "waiting_width": round(100 * load.waiting / most, 2),
            "address": _list_of(load.organization),
        }
        for load in loads[:ORGANIZATIONS_SHOWN]
    ]


def _list_of(organization: str) -> str:
    address = reverse("admin:workitems_workitem_changelist")
    return f"{address}?organization__slug__exact={organization}"


def _rest(found: Work) -> dict[str, int] | None:
    rest = found.loads[ORGANIZATIONS_SHOWN:]
    if not rest:
        return None
    return {"organizations": len(rest), "open": sum(load.open for load in rest)}


def _days(days: list[Day]) -> dict[str, Any]:
    most = max((day.ended for day in days), default=0) or 1
    return {
        "days": [
            {
                "day": day.day,
                "ended": day.ended,
                "x": 10 + 80 * number,
                "middle": 40 + 80 * number,
                "height": round(BAR * day.ended / most, 2),
                "top": round(BASE - BAR * day.ended / most, 2),
                "label": round(BASE - 6 - BAR * day.ended / most, 2),
            }
            for number, day in enumerate(days)
        ],
        "ended_total": sum(day.ended for day in days),
    }


def _lines(items: list[Any], now: datetime) -> list[dict[str, Any]]:
    return [
        {
            "title": item.title,
            "organization": item.organization_id,
            "state": item.state,
            "reason": item.waiting_reason,
            "age": age(now - item.updated_at),
            "address": reverse("admin:workitems_workitem_change", args=[item.id]),
        }
        for item in items
    ]


def _heartbeats(now: datetime) -> list[dict[str, Any]]:
    seen = last_heartbeats()
    return [
        {
            "process": process,
            "age": age(now - seen[process]) if process in seen else None,
            "late": process not in seen or now - seen[process] > LATE,
        }
        for process in BackgroundProcess.values
    ]
