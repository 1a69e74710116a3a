"""Every write of background work."""

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from stigmer.background.models import BackgroundProcess, Heartbeat


@transaction.atomic
def record_heartbeat(*, sent_at: datetime | None, now: datetime) -> None:
    """Record that a worker ran at `now` and, when a beat sent the message, that beat's time.

    A message that waited in the queue never turns a later proof back.
    """
    seen = {BackgroundProcess.WORKER: now}
    if sent_at is not None:
        seen[BackgroundProcess.BEAT] = min(sent_at, now)
    for process in sorted(seen):
        found = Heartbeat.objects.filter(process=process)
        if not found.update(seen_at=Greatest(F("seen_at"), seen[process])):
            Heartbeat.objects.bulk_create(
                [Heartbeat(process=process, seen_at=seen[process])], ignore_conflicts=True
            )
