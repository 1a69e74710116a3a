"""The reference workflow: two steps, a wait for a signal, an approval gate, a last step."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from executions.echo.protocol import Held, Protocol

SIGNAL = "continue"
GATE = "sign-off"
TASKS = ("prepare", "greet", "wait-for-signal", GATE, "finish")
WAIT = 10
Say = Callable[[str], None]


class StoppedError(Exception):
    """The execution was cancelled or terminated; nothing is left to do."""


class Walk:
    """One execution of the reference workflow; whoever claims it again goes on where it stopped."""

    def __init__(self, protocol: Protocol, held: Held, say: Say, pace: float) -> None:
        self.protocol = protocol
        self.held = held
        self.say = say
        self.pace = pace
        self.heard: dict[str, Any] = {}

    def run(self) -> None:
        """Walk to the end. Raises StoppedError, LostError."""
        self.held.sequence = self.protocol.last_sequence(self.held)
        known = {task["name"]: task["status"] for task in self.held.tasks}
        self.held.tasks = [
            {"name": name, "status": known.get(name, "WORKFLOW_TASK_PENDING")} for name in TASKS
        ]
        if self.held.phase == "EXECUTION_PENDING":
            self._report(
                {"event_type": "execution_started"}, phase="EXECUTION_IN_PROGRESS",
                started_at=_now(),
            )  # fmt: skip
        for task in self.held.tasks:
            if task["status"] != "WORKFLOW_TASK_COMPLETED":
                self._task(task)
        self._end("EXECUTION_COMPLETED", "execution_completed")

    def _task(self, task: dict[str, Any]) -> None:
        name = task["name"]
        self._set(task, "IN_PROGRESS", "task_started")
        if name == "wait-for-signal":
            payload = self._until(SIGNAL)
            self._report({"event_type": "signal_received", "task_name": name, "data": payload})
        elif name == GATE:
            self._approve(task)
        else:
            time.sleep(self.pace)
        self._set(task, "COMPLETED", "task_completed")

    def _approve(self, task: dict[str, Any]) -> None:
        self._set(task, "WAITING_APPROVAL", "approval_requested")
        decided = self._until(f"human_input_{task['name']}")
        event = {"event_type": "approval_decided", "task_name": task["name"], "data": decided}
        if decided["decision"] != "approve":
            task["status"] = "WORKFLOW_TASK_FAILED"
            self._report(event)
            self._end("EXECUTION_FAILED", "execution_failed", error="it was not approved")
            raise StoppedError("not approved")
        self._report(event)

    def _until(self, signal: str) -> Any:
        """Wait until this signal came, heartbeat by heartbeat; other signals are kept."""
        self.say(f"{self.held.id} waits for {signal}")
        while signal not in self.heard:
            self._listen(WAIT)
        return self.heard.pop(signal)

    def _listen(self, wait_seconds: int) -> None:
        self.protocol.heartbeat(self.held)
        began = time.monotonic()
        entries = list(self.protocol.inbox(self.held, wait_seconds))
        for entry in entries:
            self._hear(entry)
        if not entries and time.monotonic() - began < 1:
            # This server does not hold the question back (plain WSGI).
            time.sleep(0.3)

    def _hear(self, entry: dict[str, Any]) -> None:
        if entry["kind"] in ("cancel", "terminate"):
            raise StoppedError(entry["kind"])
        if entry["kind"] == "pause":
            self.say(f"{self.held.id} is paused")
            self.heard.pop("resume", None)
            while "resume" not in self.heard:
                self._listen(WAIT)
        elif entry["kind"] == "resume":
            self.heard["resume"] = True
        else:
            envelope = entry["envelope"]
            self.heard[envelope["signalName"]] = envelope["payload"]

    def _set(self, task: dict[str, Any], status: str, event: str) -> None:
        task["status"] = f"WORKFLOW_TASK_{status}"
        self._report({"event_type": event, "task_name": task["name"]})
        self.say(f"{self.held.id} {task['name']}: {status.lower().replace('_', ' ')}")

    def _end(self, phase: str, event: str, **more: Any) -> None:
        self._report(
            {"event_type": event}, phase=phase, completed_at=_now(), output={"greeting": "hello"},
            total_cost_micros=1250, total_input_tokens=100, total_output_tokens=40, **more,
        )  # fmt: skip
        self.say(f"{self.held.id} {phase.removeprefix('EXECUTION_').lower()}")

    def _report(self, event: dict[str, Any], **status: Any) -> None:
        status.setdefault("tasks", self.held.tasks)
        self.protocol.report(self.held, [{"occurred_at": _now(), **event}], **status)


def echo(protocol: Protocol, held: Held, say: Say) -> None:
    """An agent execution answers what it was told."""
    protocol.report(held, phase="EXECUTION_IN_PROGRESS", started_at=_now())
    said = held.execution["spec"]["message"] or ""
    protocol.report(
        held, phase="EXECUTION_COMPLETED", completed_at=_now(), output={"message": said},
        total_cost_micros=len(said) + 1,
    )  # fmt: skip
    say(f"{held.id} completed")


def _now() -> str:
    return datetime.now(UTC).isoformat()
