"""The heartbeat: the message's time proves beat, its execution proves the worker."""

from datetime import UTC, datetime, timedelta

import pytest
from celery import current_app

from stigmer.background import operations, queries, readiness
from stigmer.background.tasks import heartbeat
from stigmer.core.ready import NotReadyError

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def test_a_message_of_beat_proves_both() -> None:
    operations.record_heartbeat(sent_at=NOON - timedelta(seconds=2), now=NOON)

    assert queries.last_heartbeats() == {"worker": NOON, "beat": NOON - timedelta(seconds=2)}


def test_a_message_of_somebody_else_proves_the_worker_alone() -> None:
    operations.record_heartbeat(sent_at=None, now=NOON)

    assert queries.last_heartbeats() == {"worker": NOON}


def test_an_old_message_turns_no_proof_back() -> None:
    operations.record_heartbeat(sent_at=NOON, now=NOON)

    operations.record_heartbeat(sent_at=NOON - timedelta(hours=1), now=NOON + timedelta(seconds=1))

    assert queries.last_heartbeats() == {"worker": NOON + timedelta(seconds=1), "beat": NOON}


def test_a_clock_ahead_is_not_believed() -> None:
    operations.record_heartbeat(sent_at=NOON + timedelta(hours=1), now=NOON)

    assert queries.last_heartbeats()["beat"] == NOON


def test_the_task_reads_when_beat_sent_it() -> None:
    sent = datetime.now(UTC) - timedelta(seconds=5)

    heartbeat.push_request(beat_sent_at=sent.isoformat())
    heartbeat.run()
    heartbeat.pop_request()

    seen = queries.last_heartbeats()
    assert seen["beat"] == sent
    assert seen["worker"] > sent


def test_the_task_takes_arguments_of_a_later_release() -> None:
    heartbeat.apply(kwargs={"added_later": 1}, throw=True)

    assert "worker" in queries.last_heartbeats()


def test_the_task_has_the_name_that_is_declared() -> None:
    assert "stigmer.heartbeat" in current_app.tasks


@pytest.mark.parametrize("process", ["worker", "beat"])
def test_silence_is_not_ready(process: str) -> None:
    with pytest.raises(NotReadyError, match="no heartbeat yet"):
        readiness.check_heartbeat(process)

    long_ago = datetime.now(UTC) - timedelta(minutes=5)
    operations.record_heartbeat(sent_at=long_ago, now=long_ago)
    with pytest.raises(NotReadyError, match=r"no heartbeat for 30\d seconds"):
        readiness.check_heartbeat(process)


@pytest.mark.parametrize("process", ["worker", "beat"])
def test_a_fresh_heartbeat_is_ready(process: str) -> None:
    now = datetime.now(UTC)
    operations.record_heartbeat(sent_at=now, now=now)

    readiness.check_heartbeat(process)
