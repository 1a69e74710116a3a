"""Declared periodic tasks and their rows."""

from datetime import UTC, datetime

import pytest
from celery import current_app
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from stigmer.background import schedule

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def test_seeds_what_is_declared() -> None:
    made = schedule.seed(now=NOON)

    assert made == [declared.name for declared in schedule.DECLARED]
    row = PeriodicTask.objects.get(name="heartbeat")
    assert (row.task, row.interval.every, row.interval.period) == (
        "stigmer.heartbeat",
        15,
        "seconds",
    )
    assert row.enabled
    assert row.description


def test_a_new_task_is_due_at_once() -> None:
    schedule.seed(now=NOON)

    row = PeriodicTask.objects.get(name="heartbeat")
    assert row.schedule.is_due(row.last_run_at).is_due


def test_an_edit_survives_the_next_start() -> None:
    schedule.seed(now=NOON)
    hourly = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.HOURS)
    PeriodicTask.objects.filter(name="heartbeat").update(interval=hourly, enabled=False)

    assert schedule.seed(now=NOON) == []

    row = PeriodicTask.objects.get(name="heartbeat")
    assert (row.interval, row.enabled) == (hourly, False)


def test_reset_restores_the_declaration_and_nothing_else() -> None:
    schedule.seed(now=NOON)
    hourly = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.HOURS)
    PeriodicTask.objects.filter(name="heartbeat").update(interval=hourly, enabled=False)
    PeriodicTask.objects.create(name="mine", task="mine.task", interval=hourly)

    schedule.reset()

    row = PeriodicTask.objects.get(name="heartbeat")
    assert (row.interval.every, row.enabled) == (15, True)
    assert PeriodicTask.objects.get(name="mine").interval == hourly


def test_a_time_of_day_is_in_utc() -> None:
    row = schedule.Daily(hour=3, minute=30).row()

    assert str(row["crontab"].timezone) == "UTC"
    assert (row["crontab"].hour, row["crontab"].minute) == ("3", "30")


def test_every_declared_task_exists() -> None:
    current_app.loader.import_default_modules()

    missing = {declared.task for declared in schedule.DECLARED} - set(current_app.tasks)

    assert missing == set()
