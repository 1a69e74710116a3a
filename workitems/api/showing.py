"""Rows as the answers that show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from stigmer.core.callers import Caller
from stigmer.http.fields import stamp, stamp_or_none
from workitems import queries
from workitems.api.answers import Event, Execution, Intent, ResumedAnswer, SurfaceRef, WorkItem
from workitems.operations import Resumed
from workitems.queries import EventRow, ExecutionRow, IntentRow, ItemRow, ItemView, RefRow, Shown


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


def items_of(viewer: Caller, rows: Sequence[Shown | ItemRow]) -> Any:
    """The items of a page: what PostgreSQL wrote as JSON already goes out as it is."""
    return [
        msgspec.Raw(row.json.encode()) if isinstance(row, Shown) else work_item_of(viewer, row)
        for row in rows
    ]


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
