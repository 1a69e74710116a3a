"""Every read of background work."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import DateTimeField, Value

from stigmer.background.models import Heartbeat, SweepRun


def last_heartbeats() -> dict[str, datetime]:
    """When each kind of background process last proved itself; a silent kind has no entry."""
    return dict(Heartbeat.objects.values_list("process", "seen_at"))


class Sign(NamedTuple):
    """What background work last showed: a process's heartbeat or a sweep's last run."""

    kind: str
    name: str
    at: datetime
    ended_at: datetime | None
    error: str


def last_signs() -> list[Sign]:
    """The heartbeat of every process and the last run of every sweep, in one statement."""
    never = Value(None, output_field=DateTimeField())
    beats = Heartbeat.objects.values_list(
        Value("heartbeat"), "process", "seen_at", never, Value("")
    )
    runs = (
        SweepRun.objects.order_by("name", "-started_at")
        .distinct("name")
        .values_list(Value("sweep"), "name", "started_at", "ended_at", "error")
    )
    return sorted(Sign._make(row) for row in beats.union(runs, all=True))
