"""Celery doors of background work."""

from datetime import UTC, datetime
from typing import Any

from celery import Task, shared_task

from stigmer.background import operations


@shared_task(name="stigmer.heartbeat", bind=True)
def heartbeat(self: "Task[..., None]", **_later: Any) -> None:
    """Prove that this worker runs and, by the message's own time, that beat does."""
    sent_at = self.request.get("beat_sent_at")
    operations.record_heartbeat(
        sent_at=datetime.fromisoformat(sent_at) if sent_at else None, now=datetime.now(UTC)
    )
