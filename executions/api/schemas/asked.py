"""Query parameters of the routes of executions."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta

from executions.api.schemas.bodies import PhaseName
from stigmer.http.fields import Instant, UnsetType
from stigmer.http.schemas import Query

SortName = Literal[
    "started_at", "-started_at", "created_at", "-created_at", "duration", "-duration",
    "cost", "-cost", "status", "-status",
]  # fmt: skip
Micros = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Seconds = Annotated[float, Meta(ge=0, le=9e12)]


class ListQuery(Query, kw_only=True):
    """What narrows a list of executions; everything given holds, bounds are inclusive."""

    org: str | UnsetType = UNSET
    phase: list[PhaseName] | UnsetType = UNSET
    started_after: Instant | UnsetType = UNSET
    started_before: Instant | UnsetType = UNSET
    min_duration: Seconds | UnsetType = UNSET
    max_duration: Seconds | UnsetType = UNSET
    min_cost_micros: Micros | UnsetType = UNSET
    max_cost_micros: Micros | UnsetType = UNSET
    failed_task_name: str | UnsetType = UNSET
    has_retries: bool | UnsetType = UNSET
    label: list[str] | UnsetType = UNSET
    sort: SortName = "-started_at"
    limit: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


class WorkflowListQuery(ListQuery, kw_only=True):
    """As for all executions; `workflow_id` matches the workflow or the instance."""

    workflow_id: str | UnsetType = UNSET


class AgentListQuery(ListQuery, kw_only=True):
    """As for all executions; `agent_id` matches the agent or the instance."""

    agent_id: str | UnsetType = UNSET


class EventsQuery(Query, kw_only=True):
    """Where to go on in the log, and what of it to show."""

    after_sequence: str | UnsetType = UNSET
    event_type: list[str] | UnsetType = UNSET
    task_name: str | UnsetType = UNSET
    page_size: str | UnsetType = UNSET


class SummaryQuery(Query, kw_only=True):
    """Whose executions are summed up, and how far back they were created."""

    org: str | UnsetType = UNSET
    time_window: Literal["LAST_24H", "LAST_7D", "LAST_30D", "ALL_TIME"] = "LAST_7D"


class WorkflowSummaryQuery(SummaryQuery, kw_only=True):
    """As for all executions; `workflow_id` matches the workflow or the instance."""

    workflow_id: str | UnsetType = UNSET


class AgentSummaryQuery(SummaryQuery, kw_only=True):
    """As for all executions; `agent_id` matches the agent or the instance."""

    agent_id: str | UnsetType = UNSET


class PendingQuery(Query, kw_only=True):
    """Whose approvals, and how many."""

    org: str | UnsetType = UNSET
    limit: str | UnsetType = UNSET


class InboxQuery(Query, kw_only=True):
    """`after` acknowledges everything up to it."""

    after: str | UnsetType = UNSET
    wait_seconds: Annotated[int, Meta(ge=0, le=30)] = 0


class EventStreamQuery(Query, kw_only=True):
    """Where to go on in the log, and what of it to show; a `Last-Event-ID` wins."""

    after_sequence: str | UnsetType = UNSET
    event_type: list[str] | UnsetType = UNSET
