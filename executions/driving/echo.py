"""The reference workflow: a step, a wait for a signal, an approval gate, a last step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from executions.driving.protocol import Held, Protocol

SIGNAL = "continue"
GREET, WAIT, GATE, PART = "greet", "wait-for-continue", "sign-off", "part"
TASKS = (GREET, WAIT, GATE, PART)
# How long one look into the inbox waits; the claim is kept between two looks.
LOOK = 15
PAUSED = 0.5
_DONE = "WORKFLOW_TASK_COMPLETED"


class StoppedError(Exception):
    """A person ended the execution; there is nothing left to report."""


class RejectedError(Exception):
    """A person said no."""


class Echo:
    """One execution of the reference workflow.

    Every event has a fixed sequence number and a message is acknowledged after what it caused was
    reported: whoever takes over after a crash repeats reports that change nothing, and goes on.
    """

    def __init__(
        self, api: Protocol, held: Held, say: Callable[[str], None], pace: float = 0.5
    ) -> None:
        self.api, self.held, self.say, self.pace = api, held, say, pace
        self.tasks = dict.fromkeys(TASKS, "WORKFLOW_TASK_PENDING")
        self.tasks |= {t["name"]: t["status"] for t in held.tasks if t["name"] in self.tasks}
        self.acknowledged = 0

    def run(self) -> str:
        """Do the work; answers how it ended."""
        try:
            self._report("IN_PROGRESS", (1, "execution_started", "", {}), started=True)
            self._step(GREET, 2, "hello")
            self._wait_for_signal()
            self._ask()
            self._step(PART, 10, "good bye")
            self._report("COMPLETED", (13, "execution_completed", "", {}), output={"echo": "done"})
        except RejectedError as no:
            self._report("FAILED", (14, "execution_failed", "", {}), error=str(no))
            return "failed"
        except StoppedError as stopped:
            return str(stopped)
        return "completed"

    def _step(self, task: str, first: int, text: str) -> None:
        if self.tasks[task] == _DONE:
            return
        self._task(task, "IN_PROGRESS", (first, "task_started", task, {}))
        self.api.pause(self.pace)
        self._peek()
        self._task(
            task, "COMPLETED", (first + 1, "log", task, {"text": text}),
            (first + 2, "task_completed", task, {}),
        )  # fmt: skip

    def _wait_for_signal(self) -> None:
        if self.tasks[WAIT] == _DONE:
            return
        self._task(WAIT, "IN_PROGRESS", (5, "task_started", WAIT, {"signal": SIGNAL}))
        self.say(f"{self.held.id}: waits for the signal {SIGNAL!r}")

        def received(envelope: dict[str, Any]) -> None:
            data = {"signal": SIGNAL, "payload": envelope["payload"]}
            self._task(WAIT, "COMPLETED", (6, "signal_received", WAIT, data))

        self._await(SIGNAL, received)

    def _ask(self) -> None:
        if self.tasks[GATE] == _DONE:
            return
        self._task(GATE, "WAITING_APPROVAL", (7, "approval_requested", GATE, {}))
        self.say(f"{self.held.id}: waits for a decision about {GATE!r}")

        def decided(envelope: dict[str, Any]) -> None:
            made = envelope["payload"]
            event = (8, "approval_decided", GATE, made)
            if made["decision"] != "approve":
                self._task(GATE, "FAILED", event, (9, "task_failed", GATE, {}))
                raise RejectedError(f"{GATE} was rejected by {made['decided_by']}")
            self._task(GATE, "COMPLETED", event, (9, "task_completed", GATE, {}))

        self._await(f"human_input_{GATE}", decided)

    # Messages -------------------------------------------------------------------------------------

    def _await(self, signal: str, received: Callable[[dict[str, Any]], None]) -> None:
        """Take messages in order until this signal came; any other signal is left behind."""
        while True:
            for message in self.api.inbox(self.held, after=self.acknowledged, wait=LOOK):
                self._obey(message)
                envelope = message["envelope"] or {}
                found = envelope.get("signalName") == signal
                if found:
                    received(envelope)
                self.acknowledged = message["sequence"]
                if found:
                    return
            self.api.heartbeat(self.held)

    def _peek(self) -> None:
        """Between two steps: stop when asked to, hold while paused; acknowledge nothing."""
        while True:
            found = self.api.inbox(self.held, after=self.acknowledged, wait=0)
            for message in found:
                self._obey(message)
            holds = [m["kind"] for m in found if m["kind"] in ("pause", "resume")]
            if holds[-1:] != ["pause"]:
                return
            self.api.heartbeat(self.held)
            self.api.pause(PAUSED)

    def _obey(self, message: dict[str, Any]) -> None:
        if message["kind"] in ("cancel", "terminate"):
            raise StoppedError(f"stopped by {message['kind']}")

    # Reports --------------------------------------------------------------------------------------

    def _task(self, task: str, status: str, *events: tuple[int, str, str, Any]) -> None:
        self.tasks[task] = f"WORKFLOW_TASK_{status}"
        self._report("IN_PROGRESS", *events)
        self.say(f"{self.held.id}: {task} {status.lower().replace('_', ' ')}")

    def _report(
        self, phase: str, *events: tuple[int, str, str, Any], started: bool = False, **more: Any
    ) -> None:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        status = {
            "phase": f"EXECUTION_{phase}",
            "tasks": [{"name": name, "status": self.tasks[name]} for name in TASKS],
            **more,
        }
        if started and self.held.attempt == 1:
            status["started_at"] = now
        if phase in ("COMPLETED", "FAILED"):
            status["completed_at"] = now
        self.api.report(self.held, status, [_event(event, now) for event in events])


def _event(event: tuple[int, str, str, Any], now: str) -> dict[str, Any]:
    number, kind, task, data = event
    made = {"sequence_number": number, "event_type": kind, "data": data, "occurred_at": now}
    return made | ({"task_name": task} if task else {})
