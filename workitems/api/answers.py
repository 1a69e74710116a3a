"""Answers of `workitem/v1`."""

from __future__ import annotations

from typing import Any

from stigmer.http.schemas import Answer

WORKITEM_V1 = "workitem/v1"


class WorkItem(Answer, kw_only=True):
    """A piece of work that somebody asked for."""

    id: str
    tenant: str
    owner_principal: str
    visibility: str
    origin_surface: str
    title: str
    external_key: str | None
    state: str
    waiting_reason: str | None
    superseded_by: str | None
    state_version: int
    created_by: str
    created_at: str
    updated_at: str
    completed_at: str | None
    schema_version: str = WORKITEM_V1


class Execution(Answer, kw_only=True):
    """One run of an engine for a work item."""

    id: str
    work_item_id: str
    engine: str
    engine_ref: str
    attempt: int
    resumed_from_execution_id: str | None
    phase: str
    started_at: str
    ended_at: str | None


class Event(Answer, kw_only=True):
    """One thing that happened to a work item."""

    work_item_id: str
    seq: int
    kind: str
    from_state: str | None
    to_state: str | None
    actor_principal: str
    acting_principal: str | None
    surface: str
    request_id: str
    detail: dict[str, Any]
    created_at: str


class Intent(Answer, kw_only=True):
    """One thing that was asked for; after redaction the text is empty and says so."""

    id: int
    work_item_id: str
    actor_principal: str
    surface: str
    text: str
    text_redacted: bool
    params: dict[str, Any] | None
    created_at: str


class SurfaceRef(Answer, kw_only=True):
    """One conversation of a surface about a work item."""

    work_item_id: str
    surface: str
    external_id: str
    actor_external_id: str | None
    first_seen_at: str
    last_seen_at: str


class ItemAnswer(Answer, kw_only=True):
    """A work item with what is going on about it."""

    work_item: WorkItem
    state_version: int
    latest_execution: Execution | None
    latest_snapshot: dict[str, Any] | None = None
    pending_approval: dict[str, Any] | None = None
    open_execution_request: dict[str, Any] | None = None
    schema_version: str = WORKITEM_V1


class CreatedAnswer(ItemAnswer, kw_only=True):
    """The item that a create stands for; `created` is false on a replay or a dedupe."""

    created: bool


class MovedAnswer(ItemAnswer, kw_only=True):
    """The item after a transition; `replayed` is true when an earlier request had made it."""

    replayed: bool


class ResumedAnswer(Answer, kw_only=True):
    """The item and the execution that a resume started."""

    work_item: WorkItem
    state_version: int
    execution: Execution
    created: bool
    schema_version: str = WORKITEM_V1


class ExecutionAnswer(Answer, kw_only=True):
    """An execution; `created` is false when it was known."""

    execution: Execution
    created: bool
    schema_version: str = WORKITEM_V1


class IntentAnswer(Answer, kw_only=True):
    """One intent."""

    intent: Intent
    schema_version: str = WORKITEM_V1


class AppendedAnswer(IntentAnswer, kw_only=True):
    """An intent; `created` is false on a replay."""

    created: bool


class SurfaceRefAnswer(Answer, kw_only=True):
    """A surface reference."""

    surface_ref: SurfaceRef
    schema_version: str = WORKITEM_V1


class WorkItemPage(Answer, kw_only=True):
    """One page of work items, newest updated first; `next_cursor` is null on the last."""

    items: list[WorkItem]
    next_cursor: str | None
    schema_version: str = WORKITEM_V1


class SurfaceRefPage(Answer, kw_only=True):
    """One page of surface references; `next_cursor` is null on the last."""

    items: list[SurfaceRef]
    next_cursor: str | None
    schema_version: str = WORKITEM_V1


class Executions(Answer, kw_only=True):
    """Every execution of an item by attempt."""

    executions: list[Execution]
    schema_version: str = WORKITEM_V1


class Events(Answer, kw_only=True):
    """Events in order; `truncated` when more follow."""

    events: list[Event]
    truncated: bool
    schema_version: str = WORKITEM_V1


class Intents(Answer, kw_only=True):
    """Intents in order; `truncated` when more follow."""

    intents: list[Intent]
    truncated: bool
    schema_version: str = WORKITEM_V1
