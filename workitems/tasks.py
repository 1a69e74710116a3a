"""Celery doors of work items."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from stigmer.background import sweeps


@shared_task(name="workitems.sweep_retention")
def sweep_retention(**_later: Any) -> None:
    """Redact and delete what is older than the configured ages."""
    sweeps.run_named("workitems.sweep_retention", now=timezone.now())
