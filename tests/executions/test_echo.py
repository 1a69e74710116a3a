"""The reference runner against a live server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command

from executions.echo import walk
from executions.echo.protocol import Protocol
from executions.echo.running import Runner
from executions.models import WorkflowExecutionEvent
from tests import factories
from tests.executions import making

pytestmark = [pytest.mark.django_db(transaction=True)]
As = Callable[[str | None], Any]


@pytest.fixture
def runner(live_server: Any, as_: As) -> Iterator[Runner]:
    """A runner at work in a thread."""
    lines: list[str] = []
    headers = {"Authorization": f"Bearer {factories.make_token(making.RUNNER)}"}
    with httpx.Client(base_url=live_server.url, headers=headers) as client:
        at_work = Runner(Protocol(client), say=lines.append, pace=0, labels={})
        thread = threading.Thread(target=at_work.run)
        thread.start()
        yield at_work
        at_work.stopping.set()
        thread.join(timeout=30)
        assert not thread.is_alive(), lines


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.05)


def status(id: str, task: str) -> str:
    tasks = {one["name"]: one["status"] for one in making.json_of(making.read(id).tasks)}
    return str(tasks.get(task, "")).removeprefix("WORKFLOW_TASK_")


def phase(id: str) -> str:
    return making.read(id).phase.removeprefix("EXECUTION_")


def test_the_reference_workflow_runs_to_its_end(as_: As, runner: Runner) -> None:
    row = making.pending()
    path = f"/workflow-executions/{row.id}"

    eventually(lambda: status(row.id, "wait-for-signal") == "IN_PROGRESS")
    as_("bob").post(f"{path}/signals", {"signal_name": "continue", "payload": {"n": 1}})
    eventually(lambda: status(row.id, walk.GATE) == "WAITING_APPROVAL")
    as_("bob").post(f"{path}/tasks/{walk.GATE}/approval", {"decision": "approve"})
    eventually(lambda: phase(row.id) == "COMPLETED")

    found = WorkflowExecutionEvent.objects.filter(execution=row.id).order_by("sequence_number")
    numbers = list(found.values_list("sequence_number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    kinds = list(found.values_list("event_type", flat=True))
    assert (kinds[0], kinds[-1]) == ("execution_started", "execution_completed")
    assert {"signal_received", "approval_requested", "approval_decided"} <= set(kinds)
    assert making.read(row.id).cost_micros == 1250


def test_a_rejection_and_a_cancel_end_it(as_: As, runner: Runner) -> None:
    rejected, cancelled = making.pending(), making.pending()
    path = f"/workflow-executions/{rejected.id}"

    as_("bob").post(f"{path}/signals", {"signal_name": "continue"})
    eventually(lambda: status(rejected.id, walk.GATE) == "WAITING_APPROVAL")
    as_("bob").post(f"{path}/tasks/{walk.GATE}/approval", {"decision": "reject"})
    eventually(lambda: phase(rejected.id) == "FAILED")
    eventually(lambda: status(cancelled.id, "wait-for-signal") == "IN_PROGRESS")
    as_("bob").post(f"/workflow-executions/{cancelled.id}/cancel", {})

    assert phase(cancelled.id) == "CANCELLED"
    agent = making.pending_agent(message="hi")
    eventually(lambda: phase(agent.id) == "COMPLETED")
    assert making.json_of(making.read(agent.id).output) == {"message": "hi"}


def test_the_next_holder_goes_on_where_the_last_one_stopped(as_: As, runner: Runner) -> None:
    from datetime import timedelta

    from executions.models import WorkflowExecution

    row = making.pending()
    eventually(lambda: status(row.id, "wait-for-signal") == "IN_PROGRESS")
    WorkflowExecution.objects.filter(id=row.id).update(
        claimable_at=factories.now() - timedelta(seconds=1)
    )
    eventually(lambda: making.read(row.id).claim_attempt == 2)

    as_("bob").post(f"/workflow-executions/{row.id}/signals", {"signal_name": "continue"})
    eventually(lambda: status(row.id, walk.GATE) == "WAITING_APPROVAL")

    found = WorkflowExecutionEvent.objects.filter(execution=row.id, task_name="prepare")
    assert found.filter(event_type="task_started").count() == 1
    making.command(making.read(row.id), "cancel")


def test_the_command_runs_for_an_organization(live_server: Any, as_: As) -> None:
    row = making.pending_agent(message="hello")
    out = StringIO()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("signal.signal", lambda *_: None)
        call_command(
            "run_runner", "--echo", "--url", live_server.url, "--org", "acme", "--most", "1",
            stdout=out,
        )  # fmt: skip

    assert phase(row.id) == "COMPLETED"
    assert f"{row.id} completed" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "only --echo is built in"),
        (["--echo", "--org", "nowhere"], "organization"),
        (["--echo", "--org", "acme", "--label", "x"], "key=value"),
    ],
)
def test_the_command_says_what_is_wrong(as_: As, arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("run_runner", *arguments)
