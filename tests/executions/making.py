"""Executions for tests, made by the product's own operations."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest.mock import patch

import msgspec
from django.db import transaction

from executions import engines, operations, queries
from executions.engines.base import EngineError
from executions.kinds import AGENT, WORKFLOW, Kind, kind_of
from executions.operations import Claimed, Event, Report
from executions.queries import ExecutionRow, rows
from executions.states import Command
from resources.documents import Document
from resources.operations import documents, instances
from tests import factories

RUNNER = "service:dispatcher"
LIVE_PHASES = ("EXECUTION_PENDING", "EXECUTION_IN_PROGRESS", "EXECUTION_PAUSED")
STEPS = [
    {"name": "build", "type": "set", "values": {"a": 1}},
    {"name": "sign-off", "type": "approval", "prompt": "Ship it?", "ui_hint": "buttons"},
]


def document(kind: str, name: str, spec: dict[str, Any], *, org: str, by: str) -> Document:
    """A stored resource."""
    return documents.create(
        kind=kind,
        document={"metadata": {"org": org, "name": name}, "spec": spec},
        by=factories.act(by),
        now=factories.now(),
    )


def workflow(name: str = "Deploy", *, org: str = "acme", by: str = "alice") -> Document:
    """A workflow of two tasks."""
    return document("workflow", name, {"tasks": STEPS}, org=org, by=by)


def agent(name: str = "Helper", *, org: str = "acme", by: str = "alice") -> Document:
    """An agent."""
    return document("agent", name, {"instructions": "Help."}, org=org, by=by)


def instance(of: Document, name: str = "Nightly", *, by: str = "alice") -> Document:
    """An instance of a workflow."""
    return document("workflow_instance", name, {"workflow_id": of.id}, org=of.organization, by=by)


def pending(
    of: Document | None = None, *, by: str = "alice", org: str = "acme", **more: Any
) -> ExecutionRow:
    """A workflow execution that waits for a runner."""
    of = of or _first("workflow", org) or workflow(org=org, by=by)
    new = operations.NewExecution(org=org, target=of.id, **more)
    return operations.create_execution(
        kind=WORKFLOW, new=new, by=factories.act(by), now=factories.now(), facts={}
    ).execution


def private(*, by: str = "bob") -> ExecutionRow:
    """An execution that nobody but its starter and platform admins see."""
    one = instance(workflow("Secret"))
    instances.set_execution_visibility(
        id=one.id, visibility="visibility_private", by=factories.act(), now=factories.now()
    )
    new = operations.NewExecution(org="acme", instance=one.id)
    return operations.create_execution(
        kind=WORKFLOW, new=new, by=factories.act(by), now=factories.now(), facts={}
    ).execution


def pending_agent(*, by: str = "alice", org: str = "acme", **more: Any) -> ExecutionRow:
    """An agent execution that waits for a runner."""
    of = _first("agent", org) or agent(org=org, by=by)
    new = operations.NewExecution(org=org, target=of.id, **more)
    return operations.create_execution(
        kind=AGENT, new=new, by=factories.act(by), now=factories.now(), facts={}
    ).execution


def _first(kind: str, org: str) -> Document | None:
    from resources.queries import documents as reading

    found = reading.documents(factories.caller("root"), kind, reading.Filters(org=org))
    rows = reading.rows(found[:1])
    return rows[0] if rows else None


def claim(
    kind: Kind = WORKFLOW, *, by: str = RUNNER, now: datetime | None = None, **more: Any
) -> Claimed | None:
    """What a runner gets."""
    return operations.claim_execution(
        kinds=[kind],
        labels=more.pop("labels", {}),
        lease_seconds=more.pop("lease_seconds", 60),
        by=factories.act(by),
        now=now or factories.now(),
        **more,
    )


def claimed(kind: Kind = WORKFLOW, **more: Any) -> Claimed:
    """A fresh execution that the runner holds."""
    (pending if kind is WORKFLOW else pending_agent)(**more)
    made = claim(kind)
    assert made is not None
    return made


def report(
    held: Claimed, phase: str = "", *events: Event, by: str = RUNNER, **more: Any
) -> operations.Reported:
    """What the holder reports; `phase` without its prefix."""
    full = f"EXECUTION_{phase}" if phase else ""
    return operations.report_status(
        kind=held.execution.kind,
        id=held.execution.id,
        report=Report(phase=full, events=events, **more),
        claim_token=held.token,
        by=factories.act(by),
        now=factories.now(),
    )


def running(kind: Kind = WORKFLOW, **more: Any) -> Claimed:
    """An execution in progress that the runner holds."""
    held = claimed(kind, **more)
    return Claimed(report(held, "IN_PROGRESS").execution, held.token)


def in_phase(phase: str, kind: Kind = WORKFLOW) -> Claimed:
    """An execution that walked to this phase (without its prefix)."""
    held = claimed(kind)
    if phase == "PENDING":
        return held
    report(held, "IN_PROGRESS")
    if phase != "IN_PROGRESS":
        report(held, phase)
    return Claimed(read(held.execution.id), held.token)


def ended(phase: str = "COMPLETED", **more: Any) -> Claimed:
    """An execution that ended."""
    held = running(**more)
    return Claimed(report(held, phase).execution, held.token)


def read(id: str) -> ExecutionRow:
    """The row as it is stored."""
    kind = kind_of(id)
    assert kind is not None
    row = queries.find(kind, id)
    assert row is not None
    return row


def task(name: str, status: str = "IN_PROGRESS", **more: Any) -> dict[str, Any]:
    """A task as a runner reports it."""
    return {"name": name, "status": f"WORKFLOW_TASK_{status}", **more}


def gate(call: str, child: str = "", **more: Any) -> dict[str, Any]:
    """A gate as a runner reports it."""
    return {"tool_call_id": call, "child_agent_execution_id": child, **more}


def events(*numbers: int, kind: str = "log") -> tuple[Event, ...]:
    """Events with these sequence numbers."""
    return tuple(Event(n, kind, event_id=f"ev-{n}", data={"n": n}) for n in numbers)


def command(held: Claimed | ExecutionRow, name: str, reason: str = "") -> ExecutionRow:
    """What alice asks of an execution."""
    row = held.execution if isinstance(held, Claimed) else held
    return operations.command_execution(
        kind=row.kind, id=row.id, command=Command(name), reason=reason,
        by=factories.act(), now=factories.now(),
    )  # fmt: skip


def json_of(text: str | None) -> Any:
    """A JSON column as plain data."""
    return None if text is None else msgspec.json.decode(text)


def while_locked(id: str, then: Callable[[], None], *runners: Callable[[], Any]) -> list[Any]:
    """Start the runners while the row is locked, do `then` under the lock, and let them go on."""

    def hold() -> None:
        with transaction.atomic():
            rows.lock(kind_of(id) or WORKFLOW, id)
            ready.set()
            assert started.wait(timeout=30)
            # The runners read what is stored now and come to wait for the lock.
            time.sleep(0.4)
            then()

    ready, started = threading.Event(), threading.Event()

    def after_lock(runner: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            assert ready.wait(timeout=30)
            started.set()
            return runner()

        return run

    return factories.race(hold, *map(after_lock, runners))[1:]


class FakeEngine:
    """A push engine that remembers what it was told and fails when it is asked to."""

    name = "temporal"
    pull = False

    def __init__(self) -> None:
        self.connected = True
        self.fails: Exception | None = None
        self.calls: list[tuple[str, str, Any]] = []
        self.during: Callable[[], None] = lambda: None
        self.lock = threading.Lock()

    def _called(self, what: str, execution: Any, more: Any = None) -> None:
        with self.lock:
            self.calls.append((what, execution.id, more))
        self.during()
        if self.fails is not None:
            raise self.fails

    def start(self, execution: Any, *, recovery_mode: bool) -> None:
        self._called("start", execution, recovery_mode)

    def signal_with_start(
        self, execution: Any, channel: str, payload: Any, *, request: str, recovery_mode: bool
    ) -> None:
        self._called("signal_with_start", execution, (channel, payload, request, recovery_mode))

    def signal(self, execution: Any, channel: str, payload: Any, *, request: str) -> None:
        self._called("signal", execution, (channel, payload, request))

    def cancel(self, execution: Any) -> None:
        self._called("cancel", execution)

    def terminate(self, execution: Any, reason: str) -> None:
        self._called("terminate", execution, reason)


@contextmanager
def push_engine(settings: Any) -> Iterator[FakeEngine]:
    """A push engine in Temporal's place."""
    fake = FakeEngine()
    settings.STIGMER_ENGINE = "temporal"
    with patch.dict(engines.ENGINES, {"temporal": lambda: fake}):
        yield fake


FAILED = EngineError("the engine is on fire")
