"""The first page: how work and the background stand."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from stigmer.background import sweeps
from stigmer.background.models import BackgroundProcess
from stigmer.background.queries import Sign, last_signs
from stigmer.console.ages import age
from stigmer.console.base import Table, badge
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
        context |= {"active": f"{found.active:,}", "waiting": f"{found.waiting:,}"}
        context["rest"] = _rest(found)
    context |= _background(request, now)
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
        {"title": title, "rows": f"{rows:,}" if exact else f"{round(rows, -3):,}", "exact": exact}
        for title, (rows, exact) in summaries.sizes(mine).items()
    ]


def _bars(loads: list[Load]) -> list[dict[str, Any]]:
    most = max((load.open for load in loads), default=0) or 1
    return [
        {
            "organization": load.organization,
            "active": f"{load.active:,}",
            "waiting": f"{load.waiting:,}",
            "active_width": round(100 * load.active / most, 2),
            "waiting_width": round(100 * load.waiting / most, 2),
            "address": _list_of(load.organization),
        }
        for load in loads[:ORGANIZATIONS_SHOWN]
    ]


def _list_of(organization: str) -> str:
    address = reverse("admin:workitems_workitem_changelist")
    return f"{address}?organization__slug__exact={organization}"


def _rest(found: Work) -> dict[str, Any] | None:
    rest = found.loads[ORGANIZATIONS_SHOWN:]
    if not rest:
        return None
    return {"organizations": len(rest), "open": f"{sum(load.open for load in rest):,}"}


def _days(days: list[Day]) -> dict[str, Any]:
    most = max((day.ended for day in days), default=0) or 1
    return {
        "days": [
            {
                "day": day.day,
                "ended": f"{day.ended:,}",
                "x": 10 + 80 * number,
                "middle": 40 + 80 * number,
                "height": round(BAR * day.ended / most, 2),
                "top": round(BASE - BAR * day.ended / most, 2),
                "label": round(BASE - 6 - BAR * day.ended / most, 2),
            }
            for number, day in enumerate(days)
        ],
        "ended_total": f"{sum(day.ended for day in days):,}",
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


def _background(request: HttpRequest, now: datetime) -> dict[str, Any]:
    beats = request.user.has_perm("background.view_heartbeat")
    runs = request.user.has_perm("background.view_sweeprun")
    if not beats and not runs:
        return {}
    signs = last_signs()
    found: dict[str, Any] = {}
    if beats:
        found["heartbeats"] = _heartbeats(signs, now)
    if runs:
        found["sweeps"] = _sweeps(signs, now)
    return found


def _sweeps(signs: list[Sign], now: datetime) -> Table:
    ran = {sign.name: sign for sign in signs if sign.kind == "sweep"}
    rows: list[tuple[object, ...]] = []
    for sweep in sweeps.known():
        last = ran.get(sweep.name)
        ago = age(now - last.at) if last else "never"
        rows.append((sweep.name, ago, _outcome(last) if last else "–"))
    return Table("Sweeps", ("Sweep", "Last run, ago", "Outcome"), rows)


def _outcome(run: Sign) -> object:
    if run.error:
        return badge("failed", "bad")
    return badge("done", "good") if run.ended_at else badge("running or killed", "waiting")


def _heartbeats(signs: list[Sign], now: datetime) -> list[dict[str, Any]]:
    seen = {sign.name: sign.at for sign in signs if sign.kind == "heartbeat"}
    return [
        {
            "process": process,
            "age": age(now - seen[process]) if process in seen else None,
            "late": process not in seen or now - seen[process] > LATE,
        }
        for process in BackgroundProcess.values
    ]
