"""Tasks that wait for a person's decision."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from executions.kinds import WORKFLOW
from executions.queries.lists import Filters, executions
from executions.states import Phase, TaskStatus
from stigmer.core.callers import Caller


class Waiting(NamedTuple):
    """One task that waits."""

    execution: str
    workflow: str
    workflow_name: str
    task_name: str
    requester: str
    requested_at: datetime
    ui_hint: Any


def pending_approvals(viewer: Caller, org: str | None) -> list[Waiting]:
    """Every task in WORKFLOW_TASK_WAITING_APPROVAL of an in-progress execution, oldest first."""
    filters = Filters(org=org, phase=(Phase.IN_PROGRESS.value,))
    found = executions(viewer, WORKFLOW, filters).and_also("e.awaits_approval")
    columns = "id, target, target_name, created_by, tasks, gates, updated_at"
    waiting = [each for row in found.select(columns) for each in _tasks(*row)]
    return sorted(waiting, key=lambda one: (one.requested_at, one.execution, one.task_name))


def _tasks(
    id: str, workflow: str, name: str, requester: str, tasks: str, gates: str, updated: datetime
) -> list[Waiting]:
    since = msgspec.json.decode(gates)
    return [
        Waiting(
            id, workflow, name, task["name"], requester,
            _moment(since.get(task["name"], {}).get("since"), updated), task.get("ui_hint"),
        )
        for task in msgspec.json.decode(tasks)
        if task["status"] == TaskStatus.WAITING_APPROVAL
    ]  # fmt: skip


def _moment(raw: str | None, otherwise: datetime) -> datetime:
    return otherwise if raw is None else datetime.fromisoformat(raw)
