"""Rows as answers."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from executions.api.schemas.answers import (
    AgentExecution,
    AgentSpec,
    Audit,
    ClaimedExecution,
    Costly,
    Event,
    Events,
    Failing,
    Inbox,
    InboxEntry,
    Metadata,
    PendingApproval,
    Status,
    TotalCost,
    WorkflowExecution,
    WorkflowSpec,
    WorkflowSummary,
)
from executions.kinds import AGENT
from executions.operations import Claimed, InboxRow, Reported
from executions.queries import EventPage, EventRow, ExecutionRow, Summary, Waiting
from stigmer.http.fields import stamp, stamp_or_none


def raw(text: str | None) -> Any:
    """A JSON column as it is, unparsed."""
    return None if text is None else msgspec.Raw(text.encode())


def execution_of(row: ExecutionRow) -> Any:
    """The envelope of an execution."""
    if row.kind is AGENT:
        return AgentExecution(metadata=_metadata(row), spec=_agent(row), status=_status(row))
    return WorkflowExecution(metadata=_metadata(row), spec=_workflow(row), status=_status(row))


def _metadata(row: ExecutionRow) -> Metadata:
    return Metadata(
        id=row.id,
        name=row.name,
        slug=row.id,
        org=row.organization,
        visibility=row.visibility,
        labels=raw(row.labels),
        created_at=stamp(row.created_at),
        created_by=row.created_by,
    )


def _workflow(row: ExecutionRow) -> WorkflowSpec:
    return WorkflowSpec(
        workflow_id=row.target,
        workflow_instance_id=row.instance,
        trigger_message=row.message or None,
        input=raw(row.input),
        execution_target=raw(row.execution_target),
    )


def _agent(row: ExecutionRow) -> AgentSpec:
    return AgentSpec(
        agent_id=row.target,
        agent_instance_id=row.instance or None,
        session_id=row.session or None,
        message=row.message or None,
        input=raw(row.input),
        execution_target=raw(row.execution_target),
    )


def _status(row: ExecutionRow) -> Status:
    return Status(
        phase=row.phase,
        tasks=raw(row.tasks),
        output=raw(row.output),
        error=row.error or None,
        started_at=stamp_or_none(row.started_at),
        completed_at=stamp_or_none(row.completed_at),
        engine_ref=row.engine_ref or None,
        total_cost_micros=row.cost_micros,
        total_input_tokens=row.input_tokens,
        total_output_tokens=row.output_tokens,
        pending_approvals=raw(row.pending_approvals),
        pending_file_reviews=raw(row.pending_file_reviews),
        audit=Audit(created_at=stamp(row.created_at), updated_at=stamp(row.updated_at)),
    )


def reported(made: Reported) -> dict[str, Any]:
    """The members of the answer to a report."""
    return {
        "execution": execution_of(made.execution),
        "appended": made.appended,
        "skipped": made.skipped,
    }


def event_of(row: EventRow) -> Event:
    """The event as an answer."""
    return Event(
        execution_id=row.execution,
        sequence_number=row.sequence_number,
        event_id=row.event_id or None,
        event_type=row.event_type,
        task_name=row.task_name or None,
        occurred_at=stamp_or_none(row.occurred_at),
        data=raw(row.data),
        created_at=stamp(row.created_at),
    )


def events_of(page: EventPage) -> Events:
    """One page of the log as an answer."""
    latest = page.events[-1].sequence_number if page.events else 0
    return Events(
        events=[event_of(row) for row in page.events],
        has_more=page.has_more,
        latest_sequence=latest,
    )


def pending_of(one: Waiting, hint: Any) -> PendingApproval:
    """A waiting task as an answer."""
    return PendingApproval(
        execution_id=one.execution,
        workflow_name=one.workflow_name,
        task_name=one.task_name,
        requester=one.requester,
        requested_at=stamp(one.requested_at),
        ui_hint=hint,
    )


def _usd(micros: int) -> float:
    return micros / 1_000_000


def summary_members(found: Summary) -> dict[str, Any]:
    """The members that both summaries have; absent ones are left out."""
    members: dict[str, Any] = {
        "total_count": found.total,
        "active_count": found.active,
        "phase_counts": found.phases,
        "success_rate": found.success_rate,
    }
    if found.average_seconds is not None:
        members["avg_duration_seconds"] = found.average_seconds
    if found.cost is not None:
        members["total_cost"] = TotalCost(
            total_cost_micros=found.cost["cost"],
            total_cost_usd=_usd(found.cost["cost"]),
            input_tokens=found.cost["input"],
            output_tokens=found.cost["output"],
        )
    return members


def workflow_summary(found: Summary) -> WorkflowSummary:
    """The summary of workflow executions as an answer."""
    return WorkflowSummary(
        **summary_members(found),
        top_failing_workflows=[
            Failing(workflow_slug=one["slug"], failure_count=one["n"]) for one in found.top_failing
        ],
        cost_by_workflow=[
            Costly(
                workflow_slug=one["slug"],
                total_cost_micros=one["cost"],
                total_cost_usd=_usd(one["cost"]),
                execution_count=one["n"],
            )
            for one in found.cost_by_target
        ],
    )


def claimed_of(made: Claimed) -> ClaimedExecution:
    """A claim as an answer."""
    return ClaimedExecution(
        execution=execution_of(made.execution),
        claim_token=made.token,
        claim_attempt=made.execution.claim_attempt,
        lease_expires_at=stamp(made.execution.claimable_at),
    )


def inbox_of(found: list[InboxRow]) -> Inbox:
    """The inbox as an answer."""
    return Inbox(
        items=[
            InboxEntry(
                sequence=row.sequence,
                kind=row.kind,
                channel=row.channel,
                envelope=raw(row.envelope),
                reason=row.reason or UNSET,
            )
            for row in found
        ]
    )
