"""Beat's own part: it waits for a database that is away, where its library would end."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from django.db import InterfaceError, OperationalError, connection
from django_celery_beat.schedulers import DatabaseScheduler

log = structlog.get_logger("stigmer.beat")
RETRY_SECONDS = 1.0
Answer = TypeVar("Answer")


def patiently(ask: Callable[[], Answer]) -> Answer:
    """What `ask` answers once the database answers; its other errors are raised."""
    while True:
        try:
            return ask()
        except (OperationalError, InterfaceError) as cause:
            log.warning("database_is_away", cause=str(cause))
            connection.close()
            time.sleep(RETRY_SECONDS)


class PatientScheduler(DatabaseScheduler):  # type: ignore[misc]
    """Reads the rows at its start, after each change and every five minutes."""

    def all_as_schedule(self) -> dict[str, Any]:
        entries: dict[str, Any] = patiently(super().all_as_schedule)
        return entries
