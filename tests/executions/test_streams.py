"""Following an execution: its state and its log, over a real connection."""

from __future__ import annotations

import time

import pytest

from executions.kinds import AGENT
from stigmer.http.streams import hub
from tests.executions import making
from tests.executions.watching import Live

pytestmark = pytest.mark.django_db(transaction=True)


def test_says_the_state_then_each_change_and_ends_after_a_terminal_phase(live: Live) -> None:
    held = making.running()
    watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/stream")
    (first,) = watcher.take(1)

    making.report(held, tasks=[making.task("build")])
    (second,) = watcher.take(1)
    making.report(held, "COMPLETED")
    rest = list(watcher.said())

    assert (watcher.status, watcher.headers["content-type"]) == (200, "text/event-stream")
    assert first.data == live.get("vera", f"/workflow-executions/{held.execution.id}").json() | {
        "status": first.data["status"]
    }
    assert first.data["status"]["phase"] == "EXECUTION_IN_PROGRESS"
    assert second.data["status"]["tasks"] == [making.task("build")]
    assert [frame.data["status"]["phase"] for frame in rest] == ["EXECUTION_COMPLETED"]
    assert watcher.ended


def test_a_terminal_snapshot_ends_at_once(live: Live) -> None:
    held = making.ended("FAILED")

    watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/stream")

    assert [frame.data["status"]["phase"] for frame in watcher.said()] == ["EXECUTION_FAILED"]


def test_follows_an_agent(live: Live) -> None:
    held = making.running(AGENT)
    watcher = live.watch("vera", f"/agent-executions/{held.execution.id}/stream")
    watcher.take(1)

    making.report(held, "CANCELLED")

    assert [f.data["kind"] for f in watcher.said()] == ["AgentExecution"]


def test_what_changes_nothing_that_is_shown_says_nothing(live: Live) -> None:
    held = making.running()
    watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/stream")
    watcher.take(1)

    for _ in range(2):
        extend(held)
        making.report(held, "IN_PROGRESS")
        # Each is looked at by itself.
        time.sleep(hub.POLL * 1.5)
    making.report(held, "COMPLETED")

    assert len(list(watcher.said())) == 1


def extend(held: making.Claimed) -> None:
    """A heartbeat: the row changes, the envelope does not."""
    making.operations.extend_lease(
        id=held.execution.id,
        claim_token=held.token,
        lease_seconds=900,
        by=making.factories.act(making.RUNNER),
        now=making.factories.now(),
    )


def test_a_deleted_execution_ends_the_stream(live: Live) -> None:
    held = making.running()
    watcher = live.watch("alice", f"/workflow-executions/{held.execution.id}/events/stream")

    making.report(held, "COMPLETED", *making.events(1))
    assert live.send("alice", "DELETE", f"/workflow-executions/{held.execution.id}").is_success

    assert [frame.id for frame in watcher.said()] in ([1], [])


def test_shows_neither_lease_nor_claim(live: Live) -> None:
    held = making.ended()

    watcher = live.watch("alice", f"/workflow-executions/{held.execution.id}/stream")

    (frame,) = watcher.said()
    assert "claim" not in str(frame.data)


# The event log ------------------------------------------------------------------------------------


def test_replays_behind_the_cursor_tails_and_drains_once_more(live: Live) -> None:
    held = making.running()
    making.report(held, "", *making.events(1, 2, 3))
    path = f"/workflow-executions/{held.execution.id}/events"
    watcher = live.watch("vera", f"{path}/stream?after_sequence=1")

    before = watcher.take(2)
    making.report(held, "", *making.events(4))
    tail = watcher.take(1)
    making.report(held, "COMPLETED", *making.events(5, 6))
    after = list(watcher.said())

    said = before + tail + after
    assert [frame.id for frame in said] == [2, 3, 4, 5, 6]
    page = live.get("vera", f"{path}?after_sequence=1").json()["events"]
    assert [frame.data for frame in said] == page


def test_last_event_id_wins_over_the_query(live: Live) -> None:
    held = making.running()
    making.report(held, "COMPLETED", *making.events(1, 2, 3))
    path = f"/workflow-executions/{held.execution.id}/events/stream?after_sequence=1"

    watcher = live.watch("vera", path, Last_Event_ID="2")

    assert [frame.id for frame in watcher.said()] == [3]


def test_says_only_the_types_that_are_asked_for(live: Live) -> None:
    held = making.running()
    wanted = making.events(2, kind="task_started") + making.events(4, kind="x")
    making.report(held, "COMPLETED", *making.events(1, 3), *wanted)

    path = f"/workflow-executions/{held.execution.id}/events/stream"
    watcher = live.watch("vera", f"{path}?event_type=task_started&event_type=x")

    assert [frame.id for frame in watcher.said()] == [2, 4]


def test_more_than_a_page_is_said_without_waiting(live: Live) -> None:
    held = making.running()
    making.report(held, "COMPLETED", *making.events(*range(1, 901)))

    watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/events/stream")

    assert [frame.id for frame in watcher.said()] == list(range(1, 901))
