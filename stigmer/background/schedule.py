"""What runs when: the declared periodic tasks, and their rows in django-celery-beat."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask


@dataclass(frozen=True)
class Every:
    """A fixed interval."""

    seconds: int

    def row(self) -> dict[str, Any]:
        every, _ = IntervalSchedule.objects.get_or_create(
            every=self.seconds, period=IntervalSchedule.SECONDS
        )
        return {"interval": every, "crontab": None, "solar": None, "clocked": None}


@dataclass(frozen=True)
class Daily:
    """A time of day, UTC."""

    hour: int
    minute: int

    def row(self) -> dict[str, Any]:
        daily, _ = CrontabSchedule.objects.get_or_create(
            minute=str(self.minute),
            hour=str(self.hour),
            day_of_month="*",
            month_of_year="*",
            day_of_week="*",
            timezone="UTC",
        )
        return {"crontab": daily, "interval": None, "solar": None, "clocked": None}


@dataclass(frozen=True)
class Declared:
    """One periodic task; a message that no worker took within `expires` seconds is dropped."""

    name: str
    task: str
    when: Every | Daily
    description: str
    expires: int = 3600

    def row(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "description": self.description,
            "expire_seconds": self.expires,
            "enabled": True,
            "one_off": False,
            "args": "[]",
            "kwargs": "{}",
            **self.when.row(),
        }


DECLARED: tuple[Declared, ...] = (
    Declared(
        name="heartbeat",
        task="stigmer.heartbeat",
        when=Every(15),
        description="Proves that the worker and beat run; /readyz and the console show it.",
        expires=30,
    ),
    Declared(
        name="work item retention",
        task="workitems.sweep_retention",
        when=Daily(3, 10),
        description="Redacts old intents, forgets old surface references, deletes old ended items.",
    ),
    Declared(
        name="expired signal claims",
        task="executions.sweep_signal_claims",
        when=Every(60),
        description="Deletes expired claims of signals.",
        expires=60,
    ),
    Declared(
        name="lost runners",
        task="executions.requeue_lost_claims",
        when=Every(15),
        description="Fails executions that lost their last runner.",
        expires=15,
    ),
    Declared(
        name="event retention",
        task="executions.sweep_events",
        when=Daily(3, 30),
        description="Deletes events of executions that ended long ago.",
    ),
    Declared(
        name="execution retention",
        task="executions.sweep_executions",
        when=Daily(3, 50),
        description="Deletes executions that ended long ago, with all they own.",
    ),
    Declared(
        name="purge of deleted organizations",
        task="organizations.purge_deleted",
        when=Every(300),
        description="Deletes what deleted organizations left, in batches.",
        expires=300,
    ),
)


@transaction.atomic
def seed(*, now: datetime) -> list[str]:
    """Make the rows of declared tasks that have none, and return their names.

    What somebody changed in the console stays. A new task is due at once.
    """
    known = set(PeriodicTask.objects.values_list("name", flat=True))
    missing = [declared for declared in DECLARED if declared.name not in known]
    for declared in missing:
        PeriodicTask.objects.get_or_create(
            name=declared.name,
            defaults={**declared.row(), "last_run_at": now - timedelta(days=1)},
        )
    return [declared.name for declared in missing]


@transaction.atomic
def reset(name: str | None = None) -> int:
    """Put this declared task, or every one, back to its declaration, and say how many.

    Rows of other names stay.
    """
    chosen = [declared for declared in DECLARED if name in (None, declared.name)]
    for declared in chosen:
        PeriodicTask.objects.update_or_create(name=declared.name, defaults=declared.row())
    return len(chosen)
