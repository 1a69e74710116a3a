"""Every read of background work."""

from datetime import datetime

from stigmer.background.models import Heartbeat


def last_heartbeats() -> dict[str, datetime]:
    """When each kind of background process last proved itself; a silent kind has no entry."""
    return dict(Heartbeat.objects.values_list("process", "seen_at"))
