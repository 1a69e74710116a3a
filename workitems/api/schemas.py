"""Bodies and answers of `workitem/v1`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta

from stigmer.core import texts
from stigmer.core.callers import Caller
from stigmer.http.fields import Surface, UnsetType, line, stamp, stamp_or_none, text
from stigmer.http.schemas import Answer, Body, KeyedBody, Query
from workitems import queries
from workitems.api.paging import Counter, Limit
from workitems.operations import Resumed
from workitems.queries import EventRow, ExecutionRow, IntentRow, ItemRow, ItemView, RefRow

WORKITEM_V1 = "workitem/v1"
Title = Annotated[str, line(256)]
ExternalKey = Annotated[str, line(512)]
EngineName = Literal["temporal", "argo", "stigmer"]
EngineRef = Annotated[str, line(256)]
PhaseName = Literal["Pending", "Running", "Succeeded", "Failed", "Error"]


def _needle(value: str, pointer: str) -> None:
    # A space is something to look for; nothing at all is not.
    texts.check_line(value, pointer=pointer, max_bytes=256, min_bytes=0 if value else 1)


Needle = Annotated[str, Meta(extra={"rule": _needle})]
Version = Annotated[int, Meta(ge=1, le=2**31 - 1)]


# Bodies -------------------------------------------------------------------------------------------


class CreateWorkItem(KeyedBody, kw_only=True):
    """Open a work item."""

    tenant: str
    title: Title
    external_key: ExternalKey | UnsetType = UNSET
    visibility: Literal["tenant", "private"] | UnsetType = "tenant"
    origin_surface: Surface | UnsetType = "api"


class TransitionWorkItem(KeyedBody, kw_only=True):
    """Move a work item along its lifecycle."""

    action: Literal["wait", "complete", "supersede", "archive"]
    expected_state_version: Version
    waiting_reason: Literal["input", "approval"] | UnsetType = UNSET
    superseded_by: str | UnsetType = UNSET


class ResumeWorkItem(KeyedBody, kw_only=True):
    """Start the next execution of a work item."""

    expected_state_version: Version
    engine: EngineName
    engine_ref: EngineRef
    resumed_from_execution_id: str | UnsetType = UNSET


class AttachExecution(KeyedBody, kw_only=True):
    """Correlate a work item with a run of an engine."""

    engine: EngineName
    engine_ref: EngineRef
    phase: PhaseName | UnsetType = "Pending"


class AppendIntent(KeyedBody, kw_only=True):
    """Record what was asked for."""

    text: Annotated[str, text(8192)]
    params: dict[str, Any] | None = None
    surface: Surface | UnsetType = "api"


class LinkSurface(Body, kw_only=True):
    """Remember where a conversation about the item goes on."""

    surface: Surface
    external_id: Annotated[str, line(256)]
    actor_external_id: Annotated[str, line(256)] | UnsetType = UNSET


# Queries ------------------------------------------------------------------------------------------


class WorkItemsQuery(Query, kw_only=True):
    """What narrows the list of work items."""

    tenant: str | UnsetType = UNSET
    state: (
        Literal["open", "active", "waiting", "completed", "superseded", "archived"] | UnsetType
    ) = "open"
    owner: str | UnsetType = UNSET
    external_key: str | UnsetType = UNSET
    surface: str | UnsetType = UNSET
    q: Needle | UnsetType = UNSET
    limit: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


class EventsQuery(Query, kw_only=True):
    """Where to go on in the events."""

    after_seq: Counter | UnsetType = UNSET
    limit: Limit | UnsetType = UNSET


class IntentsQuery(Query, kw_only=True):
    """Where to go on in the intents."""

    after_id: Counter | UnsetType = UNSET
    limit: Limit | UnsetType = UNSET


class PageQuery(Query, kw_only=True):
    """Where to go on in a list."""

    limit: Limit | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


# Answers ------------------------------------------------------------------------------------------


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


# Rows as answers ----------------------------------------------------------------------------------


def work_item_of(viewer: Caller, row: ItemRow) -> WorkItem:
    """The item as this viewer sees it."""
    return WorkItem(
        id=row.id,
        tenant=row.organization,
        owner_principal=row.owner,
        visibility=row.visibility,
        origin_surface=row.origin_surface,
        title=row.title,
        external_key=row.external_key or None,
        state=row.state,
        waiting_reason=row.waiting_reason or None,
        superseded_by=queries.successor_seen(viewer, row) if row.superseded_by else None,
        state_version=row.state_version,
        created_by=row.created_by,
        created_at=stamp(row.created_at),
        updated_at=stamp(row.updated_at),
        completed_at=stamp_or_none(row.completed_at),
    )


def execution_of(row: ExecutionRow) -> Execution:
    """The execution as an answer."""
    return Execution(
        id=row.id,
        work_item_id=row.work_item,
        engine=row.engine,
        engine_ref=row.engine_ref,
        attempt=row.attempt,
        resumed_from_execution_id=row.resumed_from,
        phase=row.phase,
        started_at=stamp(row.started_at),
        ended_at=stamp_or_none(row.ended_at),
    )


def view_members(viewer: Caller, view: ItemView) -> dict[str, Any]:
    """The members that every answer about one item has."""
    return {
        "work_item": work_item_of(viewer, view.item),
        "state_version": view.item.state_version,
        "latest_execution": view.latest_execution and execution_of(view.latest_execution),
    }


def resumed_answer(viewer: Caller, made: Resumed) -> ResumedAnswer:
    """The answer to a resume."""
    return ResumedAnswer(
        work_item=work_item_of(viewer, made.view.item),
        state_version=made.view.item.state_version,
        execution=execution_of(made.execution),
        created=made.created,
    )


def event_of(row: EventRow) -> Event:
    """The event as an answer."""
    return Event(
        work_item_id=row.work_item,
        seq=row.seq,
        kind=row.kind,
        from_state=row.from_state,
        to_state=row.to_state,
        actor_principal=row.actor,
        acting_principal=row.acting_principal,
        surface=row.surface,
        request_id=row.request_id,
        detail=row.detail,
        created_at=stamp(row.created_at),
    )


def intent_of(row: IntentRow) -> Intent:
    """The intent as an answer; null text is redacted text."""
    return Intent(
        id=row.id,
        work_item_id=row.work_item,
        actor_principal=row.actor,
        surface=row.surface,
        text=row.text or "",
        text_redacted=row.text is None,
        params=row.params,
        created_at=stamp(row.created_at),
    )


def surface_ref_of(row: RefRow) -> SurfaceRef:
    """The surface reference as an answer."""
    return SurfaceRef(
        work_item_id=row.work_item,
        surface=row.surface,
        external_id=row.external_id,
        actor_external_id=row.actor_external_id or None,
        first_seen_at=stamp(row.first_seen_at),
        last_seen_at=stamp(row.last_seen_at),
    )
