"""What is answered about executions."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from stigmer.http.schemas import STIGMER_V1, Answer

API_VERSION = "agentic.stigmer.ai/v1"
Json = Any


class Metadata(Answer, kw_only=True):
    """What an execution is called and where it belongs."""

    id: str
    name: str
    slug: str
    org: str
    visibility: str
    labels: Json
    created_at: str
    created_by: str


class WorkflowSpec(Answer, kw_only=True):
    """What a workflow execution runs."""

    workflow_id: str
    workflow_instance_id: str
    trigger_message: str | None
    input: Json
    execution_target: Json


class AgentSpec(Answer, kw_only=True):
    """What an agent execution runs."""

    agent_id: str
    agent_instance_id: str | None
    session_id: str | None
    message: str | None
    input: Json
    execution_target: Json


class Audit(Answer, kw_only=True):
    """When it was made, and when its phase last changed."""

    created_at: str
    updated_at: str


class Status(Answer, kw_only=True):
    """How far an execution is, what it did and what it cost."""

    phase: str
    tasks: Json
    output: Json
    error: str | None
    started_at: str | None
    completed_at: str | None
    engine_ref: str | None
    total_cost_micros: int
    total_input_tokens: int
    total_output_tokens: int
    pending_approvals: Json
    pending_file_reviews: Json
    audit: Audit


class WorkflowExecution(Answer, kw_only=True):
    """One run of a workflow."""

    api_version: str = API_VERSION
    kind: str = "WorkflowExecution"
    metadata: Metadata
    spec: WorkflowSpec
    status: Status


class AgentExecution(Answer, kw_only=True):
    """One run of an agent."""

    api_version: str = API_VERSION
    kind: str = "AgentExecution"
    metadata: Metadata
    spec: AgentSpec
    status: Status


class WorkflowExecutionPage(Answer, kw_only=True):
    """One page of workflow executions; `next_cursor` is null on the last."""

    items: list[WorkflowExecution]
    next_cursor: str | None
    schema_version: str = STIGMER_V1


class AgentExecutionPage(Answer, kw_only=True):
    """One page of agent executions; `next_cursor` is null on the last."""

    items: list[AgentExecution]
    next_cursor: str | None
    schema_version: str = STIGMER_V1


class WorkflowReported(Answer, kw_only=True):
    """The execution after a report; `skipped` events were there already."""

    execution: WorkflowExecution
    appended: int
    skipped: int


class AgentReported(Answer, kw_only=True):
    """The execution after a report."""

    execution: AgentExecution
    appended: int
    skipped: int


class Event(Answer, kw_only=True):
    """One thing that an execution did."""

    execution_id: str
    sequence_number: int
    event_id: str | None
    event_type: str
    task_name: str | None
    occurred_at: str | None
    data: Json
    created_at: str


class Events(Answer, kw_only=True):
    """One page of the log; `latest_sequence` is the next `after_sequence`, 0 on an empty page."""

    events: list[Event]
    has_more: bool
    latest_sequence: int
    schema_version: str = STIGMER_V1


class PendingApproval(Answer, kw_only=True):
    """One task that waits for a decision."""

    execution_id: str
    workflow_name: str
    task_name: str
    requester: str
    requested_at: str
    ui_hint: Json


class PendingApprovals(Answer, kw_only=True):
    """Tasks that wait, oldest first; `total_count` counts those beyond the limit too."""

    entries: list[PendingApproval]
    total_count: int
    schema_version: str = STIGMER_V1


class TotalCost(Answer, kw_only=True):
    """What the executions cost together."""

    total_cost_micros: int
    total_cost_usd: float
    input_tokens: int
    output_tokens: int


class Failing(Answer, kw_only=True):
    """How often a workflow failed."""

    workflow_slug: str
    failure_count: int


class Costly(Answer, kw_only=True):
    """What a workflow cost."""

    workflow_slug: str
    total_cost_micros: int
    total_cost_usd: float
    execution_count: int


class AgentSummary(Answer, kw_only=True):
    """Executions in numbers; `success_rate` is -1 while none has ended."""

    total_count: int
    active_count: int
    phase_counts: dict[str, int]
    success_rate: float
    avg_duration_seconds: float | UnsetType = UNSET
    total_cost: TotalCost | UnsetType = UNSET
    schema_version: str = STIGMER_V1


class WorkflowSummary(AgentSummary, kw_only=True):
    """Workflow executions in numbers."""

    top_failing_workflows: list[Failing]
    cost_by_workflow: list[Costly]


class ClaimedExecution(Answer, kw_only=True):
    """A leased execution; the token is shown with every report."""

    execution: Any
    claim_token: str
    claim_attempt: int
    lease_expires_at: str


class Lease(Answer, kw_only=True):
    """When the lease ends."""

    lease_expires_at: str


class InboxEntry(Answer, kw_only=True):
    """One thing that the runner is told."""

    sequence: int
    kind: str
    channel: str | None
    envelope: Json
    reason: str | UnsetType = UNSET


class Inbox(Answer, kw_only=True):
    """What is not acknowledged yet, in order."""

    items: list[InboxEntry]
    schema_version: str = STIGMER_V1
