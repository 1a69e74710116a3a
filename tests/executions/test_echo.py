"""The reference runner over the HTTP API."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from executions.driving import echo
from executions.driving.protocol import Protocol
from tests import factories
from tests.executions import making
from tests.executions.test_runner import lapse
from tests.executions.watching import InThread, Live, until

pytestmark = pytest.mark.django_db(transaction=True)


def runner(live: Live) -> InThread:
    """The command on its way; its result is what it said."""
    said, token = StringIO(), factories.make_token(making.RUNNER)

    def call() -> str:
        call_command("run_runner", "--echo", "--once", url=live.address, token=token, stdout=said)
        return said.getvalue()

    return InThread(call)


def task(live: Live, id: str, name: str) -> str:
    tasks = live.get("alice", f"/workflow-executions/{id}").json()["status"]["tasks"]
    return str({t["name"]: t["status"] for t in tasks}.get(name, ""))


def signal(live: Live, id: str, name: str = echo.SIGNAL) -> None:
    body = {"signal_name": name, "payload": {"n": 1}}
    sent = live.send("alice", "POST", f"/workflow-executions/{id}/signals", json=body)
    assert sent.status_code == 202


def decide(live: Live, id: str, decision: str) -> None:
    until(lambda: task(live, id, echo.GATE) == "WORKFLOW_TASK_WAITING_APPROVAL")
    path = f"/workflow-executions/{id}/tasks/{echo.GATE}/approval"
    assert live.send("alice", "POST", path, json={"decision": decision}).status_code == 202


def test_runs_the_reference_workflow_to_its_end(live: Live) -> None:
    id = making.pending().id
    running = runner(live)
    watcher = live.watch("vera", f"/workflow-executions/{id}/events/stream")

    until(lambda: task(live, id, echo.WAIT) == "WORKFLOW_TASK_IN_PROGRESS")
    signal(live, id, "something-else")
    signal(live, id)
    decide(live, id, "approve")
    said = running.result()

    assert f"{id}: completed" in said
    events = list(watcher.said())
    assert [frame.id for frame in events] == list(range(1, 14))
    kinds = [frame.data["event_type"] for frame in events]
    assert kinds[0] == "execution_started"
    assert {"signal_received", "approval_requested", "approval_decided"} < set(kinds)
    assert kinds[-1] == "execution_completed"
    row = making.read(id)
    assert (row.phase, making.json_of(row.output)) == ("EXECUTION_COMPLETED", {"echo": "done"})


def test_a_rejection_fails_the_execution(live: Live) -> None:
    id = making.pending().id
    running = runner(live)

    until(lambda: making.read(id).phase == "EXECUTION_IN_PROGRESS")
    signal(live, id)
    decide(live, id, "reject")

    assert f"{id}: failed" in running.result()
    assert making.read(id).error == "sign-off was rejected by alice"


def test_stops_when_the_execution_is_cancelled(live: Live) -> None:
    id = making.pending().id
    running = runner(live)
    until(lambda: task(live, id, echo.WAIT) == "WORKFLOW_TASK_IN_PROGRESS")

    making.command(making.read(id), "cancel")

    assert "stopped by cancel" in running.result()
    assert making.read(id).phase == "EXECUTION_CANCELLED"


def test_another_runner_goes_on_where_a_dead_one_stopped(live: Live) -> None:
    class Dies(echo.Echo):
        def _ask(self) -> None:
            raise RuntimeError("kill -9")

    id = making.pending().id
    api = Protocol(live.address, factories.make_token(making.RUNNER))
    signal(live, id)
    first = api.claim("one", labels={}, wait=0)
    assert first is not None
    with pytest.raises(RuntimeError):
        Dies(api, first, lambda _: None, pace=0).run()
    lapse(id)

    running = runner(live)
    decide(live, id, "approve")

    assert "claimed, attempt 2" in running.result()
    page: Any = live.get("alice", f"/workflow-executions/{id}/events").json()
    assert [event["sequence_number"] for event in page["events"]] == list(range(1, 14))
    api.client.close()


def test_says_what_is_wrong_with_its_token(live: Live) -> None:
    with pytest.raises(CommandError, match="unauthenticated"):
        call_command("run_runner", "--echo", url=live.address, token="stigmer_no")
    with pytest.raises(CommandError, match="STIGMER_TOKEN"):
        call_command("run_runner", "--echo", url=live.address, token="")
