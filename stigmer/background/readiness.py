"""What background work answers to /readyz: broker, worker, beat."""

import os
from datetime import UTC, datetime, timedelta

from celery import current_app
from django.conf import settings

from stigmer.background.queries import last_heartbeats
from stigmer.core.ready import NotReadyError
from stigmer.core.registries import readiness

# Three heartbeats may be missed.
SILENCE = timedelta(seconds=60)


def register() -> None:
    readiness.add("broker", check_broker)
    readiness.add("worker", lambda: check_heartbeat("worker"))
    readiness.add("beat", lambda: check_heartbeat("beat"))


def check_broker() -> None:
    """Raises NotReadyError when no message can be sent."""
    if not settings.REDIS_URL:
        if not os.access(settings.BROKER_FOLDER / "messages", os.W_OK):
            raise NotReadyError("the folder of messages cannot be written")
        return
    with current_app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=2)


def check_heartbeat(process: str) -> None:
    """Raises NotReadyError when this kind of process proved itself too long ago."""
    seen = last_heartbeats().get(process)
    if seen is None:
        raise NotReadyError("no heartbeat yet")
    silent = datetime.now(UTC) - seen
    if silent > SILENCE:
        raise NotReadyError(f"no heartbeat for {int(silent.total_seconds())} seconds")
