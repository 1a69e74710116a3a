"""Nudges: wake a worker by name after commit; a lost one delays work and never loses it."""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)


def nudge(name: str, **ids: str) -> None:
    """Send the task of this name once the surrounding transaction has committed.

    A broker that is away is logged and forgotten: the periodic sweep finds the due rows.
    """
    transaction.on_commit(lambda: _send(name, ids), robust=True)


def _send(name: str, ids: dict[str, str]) -> None:
    try:
        current_app.send_task(name, kwargs=ids, retry=False)
    except (OperationalError, OSError) as cause:
        log.warning("nudge_lost", task=name, cause=type(cause).__name__, **ids)
