"""What may be sent about executions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta

from executions.states import TaskStatus
from stigmer.core import texts
from stigmer.core.errors import InvalidRequest
from stigmer.http.fields import Instant, UnsetType, line, text
from stigmer.http.json_text import step
from stigmer.http.schemas import Body, KeyedBody

KIB = 1024
NAME, ID, MESSAGE, REASON = 256, 256, 16 * KIB, 1024
Total = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Json = dict[str, Any]
PhaseName = Literal[
    "EXECUTION_PENDING", "EXECUTION_IN_PROGRESS", "EXECUTION_PAUSED",
    "EXECUTION_WAITING_FOR_APPROVAL", "EXECUTION_COMPLETED", "EXECUTION_FAILED",
    "EXECUTION_CANCELLED", "EXECUTION_TERMINATED",
]  # fmt: skip
_TASK_STATUSES = frozenset(status.value for status in TaskStatus)
MAX_LABELS = 64


def _labels(value: dict[str, str], at: str) -> None:
    if len(value) > MAX_LABELS:
        raise InvalidRequest(f"at most {MAX_LABELS} labels", pointer=at, fault="too_many")
    for key, label in value.items():
        texts.check_line(key, pointer=at + step(key), max_bytes=128)
        texts.check_line(label, pointer=at + step(key), max_bytes=256, min_bytes=0)


def _text_member(value: Json, name: str, at: str, *, needed: bool) -> None:
    found = value.get(name)
    if name not in value and not needed:
        return
    if not isinstance(found, str):
        fault = "wrong_type" if name in value else "missing"
        detail = f"{name} is required and a text" if needed else f"{name} must be a text"
        raise InvalidRequest(detail, pointer=f"{at}/{name}", fault=fault)
    least = 1 if needed else 0
    texts.check_line(found, pointer=f"{at}/{name}", max_bytes=256, min_bytes=least)


def _task(value: Json, at: str) -> None:
    _text_member(value, "name", at, needed=True)
    if value.get("status") not in _TASK_STATUSES:
        detail = f"status must be one of {', '.join(sorted(_TASK_STATUSES))}"
        raise InvalidRequest(detail, pointer=f"{at}/status", fault="wrong_type")
    retries = value.get("retry_count", 0)
    if type(retries) is not int or retries < 0:
        detail = "retry_count must be an integer of at least 0"
        raise InvalidRequest(detail, pointer=f"{at}/retry_count", fault="out_of_range")


def _gate(value: Json, at: str) -> None:
    _text_member(value, "tool_call_id", at, needed=True)
    _text_member(value, "child_agent_execution_id", at, needed=False)


Labels = Annotated[dict[str, str], Meta(extra={"rule": _labels})]
Task = Annotated[Json, Meta(extra={"rule": _task})]
Gate = Annotated[Json, Meta(extra={"rule": _gate})]


# Create and change --------------------------------------------------------------------------------


class Metadata(Body, kw_only=True):
    """Where a new execution belongs; the name defaults to that of what runs."""

    org: str
    name: Annotated[str, line(NAME)] | UnsetType = UNSET
    labels: Labels = {}


class WorkflowSpec(Body, kw_only=True):
    """What a workflow execution runs: exactly one of workflow and instance."""

    workflow_id: Annotated[str, line(ID)] | UnsetType = UNSET
    workflow_instance_id: Annotated[str, line(ID)] | UnsetType = UNSET
    trigger_message: Annotated[str, text(MESSAGE)] | UnsetType = UNSET
    input: Json | UnsetType = UNSET
    execution_target: str | Json | UnsetType = UNSET


class CreateWorkflowExecution(KeyedBody, kw_only=True):
    """Run a workflow."""

    metadata: Metadata
    spec: WorkflowSpec


class AgentSpec(Body, kw_only=True):
    """What an agent execution runs: exactly one of agent and instance."""

    agent_id: Annotated[str, line(ID)] | UnsetType = UNSET
    agent_instance_id: Annotated[str, line(ID)] | UnsetType = UNSET
    session_id: Annotated[str, line(ID)] | UnsetType = UNSET
    message: Annotated[str, text(MESSAGE)] | UnsetType = UNSET
    input: Json | UnsetType = UNSET
    execution_target: str | Json | UnsetType = UNSET


class CreateAgentExecution(KeyedBody, kw_only=True):
    """Run an agent."""

    metadata: Metadata
    spec: AgentSpec


class WorkflowSpecChange(Body, kw_only=True):
    """What of a pending workflow execution may change; `input` is replaced whole."""

    trigger_message: Annotated[str, text(MESSAGE)] | UnsetType = UNSET
    input: Json | UnsetType = UNSET


class ChangeWorkflowExecution(Body, kw_only=True):
    """Change a pending workflow execution."""

    spec: WorkflowSpecChange


class AgentSpecChange(Body, kw_only=True):
    """What of a pending agent execution may change."""

    message: Annotated[str, text(MESSAGE)] | UnsetType = UNSET


class ChangeAgentExecution(Body, kw_only=True):
    """Change a pending agent execution."""

    spec: AgentSpecChange


# Reports ------------------------------------------------------------------------------------------


class Status(Body, kw_only=True):
    """What a runner says; absent, empty and zero members leave what is stored."""

    phase: PhaseName | UnsetType = UNSET
    tasks: Annotated[list[Task], Meta(max_length=2000)] | UnsetType = UNSET
    output: Any = None
    error: Annotated[str, text(64 * KIB)] | UnsetType = UNSET
    started_at: Instant | UnsetType = UNSET
    completed_at: Instant | UnsetType = UNSET
    engine_ref: Annotated[str, line(256)] | UnsetType = UNSET
    total_cost_micros: Total = 0
    total_input_tokens: Total = 0
    total_output_tokens: Total = 0
    pending_approvals: Annotated[list[Gate], Meta(max_length=1000)] | UnsetType = UNSET
    pending_file_reviews: Annotated[list[Gate], Meta(max_length=1000)] | UnsetType = UNSET


class Event(Body, kw_only=True):
    """One thing that an execution did."""

    sequence_number: Annotated[int, Meta(ge=1, le=2**53 - 1)]
    event_type: Annotated[str, line(128)]
    event_id: Annotated[str, line(256)] | UnsetType = UNSET
    task_name: Annotated[str, line(256)] | UnsetType = UNSET
    occurred_at: Instant | UnsetType = UNSET
    data: Any = None


class AgentReport(Body, kw_only=True):
    """A progressive update of an agent execution."""

    status: Status
    claim_token: Annotated[str, line(256)] | UnsetType = UNSET
    update_pending_approvals: bool = False
    update_pending_file_reviews: bool = False
    pending_update_child_agent_execution_id: Annotated[str, line(256)] | UnsetType = UNSET


class WorkflowReport(AgentReport, kw_only=True):
    """A progressive update of a workflow execution, with its events."""

    events: Annotated[list[Event], Meta(max_length=1000)] | UnsetType = UNSET


# Commands, signals, approvals, the runner ---------------------------------------------------------


class Reason(Body, kw_only=True):
    """Why."""

    reason: Annotated[str, text(REASON)] | UnsetType = UNSET


class SendSignal(KeyedBody, kw_only=True):
    """A signal; `payload: null` equals absent."""

    signal_name: Annotated[str, line(256)] | UnsetType = UNSET
    payload: Any = None


class DecideTask(Body, kw_only=True):
    """A person's decision about a task that waits."""

    decision: Literal["approve", "reject"]
    comment: Annotated[str, text(REASON)] | UnsetType = UNSET


Lease = Annotated[int, Meta(ge=5, le=900)]
KindName = Literal["workflow_execution", "agent_execution"]


class Claim(Body, kw_only=True):
    """What a runner can run."""

    kinds: Annotated[list[KindName], Meta(min_length=1, max_length=2)]
    labels: Labels | UnsetType = UNSET
    lease_seconds: Lease = 60
    wait_seconds: Annotated[int, Meta(ge=0, le=30)] = 0
    claim_id: Annotated[str, line(128)] | UnsetType = UNSET


class Heartbeat(Body, kw_only=True):
    """The holder goes on."""

    claim_token: Annotated[str, line(256)]
    lease_seconds: Lease = 60
