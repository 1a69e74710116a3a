"""Celery doors of organizations."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from stigmer.background import sweeps


@shared_task(name="organizations.purge_deleted")
def purge_deleted(**_later: Any) -> None:
    """Delete what deleted organizations left."""
    sweeps.run_named(sweeps.PURGE, now=timezone.now())
