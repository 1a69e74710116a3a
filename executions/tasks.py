"""Celery doors of executions."""

from typing import Any

from celery import shared_task
from django.utils import timezone

from stigmer.background import sweeps


@shared_task(name="executions.sweep_signal_claims")
def sweep_signal_claims(**_later: Any) -> None:
    """Delete expired claims of signals."""
    sweeps.run_named("executions.sweep_signal_claims", now=timezone.now())


@shared_task(name="executions.requeue_lost_claims")
def requeue_lost_claims(**_later: Any) -> None:
    """Fail executions that lost their last runner."""
    sweeps.run_named("executions.requeue_lost_claims", now=timezone.now())


@shared_task(name="executions.sweep_events")
def sweep_events(**_later: Any) -> None:
    """Delete events of executions that ended long ago."""
    sweeps.run_named("executions.sweep_events", now=timezone.now())


@shared_task(name="executions.sweep_executions")
def sweep_executions(**_later: Any) -> None:
    """Delete executions that ended long ago, with all they own."""
    sweeps.run_named("executions.sweep_executions", now=timezone.now())
