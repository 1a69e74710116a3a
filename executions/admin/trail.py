"""What hangs on an execution, as tables: tasks, gates, events, inbox, signals."""

from __future__ import annotations

import json
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from executions.models import SignalClaim, WorkflowExecutionEvent
from executions.models.execution import Execution
from stigmer.console.base import Table, badge, code, moment, prose

SHOWN = 200
LONGEST = 2000


def tasks(row: Execution) -> Table:
    """The tasks as their runner reported them, with since when one waits for a person."""
    gates = json.loads(row.gates)
    return Table(
        "Tasks",
        ("Task", "Status", "Retries", "Waits since", "Decided"),
        [
            (
                prose(task["name"]),
                _status(task["status"]),
                task.get("retry_count", 0),
                code(gates.get(task["name"], {}).get("since", "")),
                prose(gates.get(task["name"], {}).get("decision", "–")),
            )
            for task in json.loads(row.tasks)[:SHOWN]
        ],
    )


def _status(status: str) -> SafeString:
    short = status.removeprefix("WORKFLOW_TASK_").lower()
    return badge(short.replace("_", " "), short)


def gates(row: Execution) -> Table:
    """Tool calls and file reviews that wait, by the agent that asks."""
    found = [("approval", one) for one in json.loads(row.pending_approvals)]
    found += [("file review", one) for one in json.loads(row.pending_file_reviews)]
    return Table(
        "Waiting for people",
        ("What", "Tool call", "Agent execution"),
        [
            (what, code(one["tool_call_id"]), code(one.get("child_agent_execution_id", "")))
            for what, one in found[:SHOWN]
        ],
    )


def events(execution: str) -> Table:
    """The event log, newest first."""
    log = WorkflowExecutionEvent.objects.filter(execution=execution).order_by("-sequence_number")
    found = list(log[: SHOWN + 1])
    return Table(
        "Event log",
        ("No.", "When", "What", "Task", "Data"),
        [
            (
                event.sequence_number,
                moment(event.occurred_at or event.created_at),
                badge(event.event_type.replace("_", " "), "event"),
                prose(event.task_name),
                _data(event.data),
            )
            for event in found[:SHOWN]
        ],
        note=_newest(found),
    )


def inbox(model: Any, execution: str) -> Table:
    """What the runner was told, and what of it was acknowledged."""
    found = list(model.objects.filter(execution=execution).order_by("-sequence")[: SHOWN + 1])
    return Table(
        "Inbox of the runner",
        ("No.", "When", "What", "Content", "Acknowledged"),
        [
            (
                entry.sequence,
                moment(entry.created_at),
                badge(entry.kind, "event"),
                _data(entry.envelope or json.dumps(entry.reason)),
                moment(entry.acknowledged_at),
            )
            for entry in found[:SHOWN]
        ],
        note=_newest(found),
    )


def signals(execution: str) -> Table:
    """The keys of signals that are delivered or were, for a day."""
    found = SignalClaim.objects.filter(execution=execution).order_by("-created_at")[:SHOWN]
    return Table(
        "Signals with a key",
        ("Key", "Signal", "Status", "Claimed", "Delivered", "Held until"),
        [
            (
                code(claim.idempotency_key),
                prose(claim.signal_name),
                badge(claim.status.lower()),
                moment(claim.created_at),
                moment(claim.delivered_at),
                moment(claim.expires_at),
            )
            for claim in found
        ],
    )


def _newest(found: list[Any]) -> str:
    return f"The newest {SHOWN} are shown." if len(found) > SHOWN else ""


def _data(text: str) -> SafeString | str:
    if text in ("{}", '""'):
        return "–"
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return format_html("<pre>{}</pre>", shown)
