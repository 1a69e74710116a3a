"""Beat outlives a database that is away."""

from datetime import UTC, datetime
from unittest.mock import patch

import pytest
from celery import current_app
from django.db import OperationalError, ProgrammingError, connection
from django_celery_beat.schedulers import DatabaseScheduler

from stigmer import celery
from stigmer.background import schedule, scheduler
from stigmer.background.scheduler import PatientScheduler, patiently

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "RETRY_SECONDS", 0.01)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's transaction outlives the connection that a retry lets go."""
    monkeypatch.setattr(connection, "close", lambda: None)


def away(times: int) -> list[object]:
    return [OperationalError("the server is starting up")] * times


@pytest.mark.django_db
def test_beat_starts_once_the_database_answers(kept: None) -> None:
    schedule.seed(now=NOON)
    real = DatabaseScheduler.all_as_schedule

    with patch.object(DatabaseScheduler, "all_as_schedule", autospec=True) as read:
        read.side_effect = [*away(2), real(PatientScheduler(app=current_app, lazy=True))]
        entries = PatientScheduler(app=current_app).schedule

    assert read.call_count == 3
    assert "heartbeat" in entries


@pytest.mark.django_db
def test_the_declared_tasks_are_seeded_once_it_answers(kept: None) -> None:
    with (
        patch("stigmer.background.schedule.seed", side_effect=[*away(3), []]) as seed,
        patch.object(celery.before_task_publish, "connect") as connect,
    ):
        celery.prepare_beat()

    assert seed.call_count == 4
    connect.assert_called_once_with(celery.stamp)


def test_what_waiting_does_not_mend_is_raised() -> None:
    with pytest.raises(ProgrammingError):
        patiently(refused)


def refused() -> None:
    raise ProgrammingError("no such table")
