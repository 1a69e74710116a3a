"""What hangs on an item: executions, events, intents, surface references."""

from __future__ import annotations

import re

from django.db.models import Q

from stigmer.core.callers import Caller
from workitems.errors import IntentNotFound
from workitems.models import SurfaceRef, WorkItemEvent, WorkItemExecution, WorkItemIntent
from workitems.queries.items import readable
from workitems.queries.rows import EventRow, ExecutionRow, IntentRow, ItemRow, ItemView, RefRow

_INTENT_ID = re.compile("[1-9][0-9]{0,17}")


def executions(viewer: Caller, item: str) -> list[ExecutionRow]:
    """The item's executions by attempt. Raises WorkItemNotFound."""
    readable(viewer, item)
    found = WorkItemExecution.objects.filter(work_item=item).order_by("attempt")
    return [ExecutionRow._make(row) for row in found.values_list(*ExecutionRow._fields)]


def events(viewer: Caller, item: str, after_seq: int, limit: int) -> list[EventRow]:
    """At most `limit` events behind this sequence number, in order. Raises WorkItemNotFound."""
    readable(viewer, item)
    found = WorkItemEvent.objects.filter(work_item=item, seq__gt=after_seq).order_by("seq")
    return [EventRow._make(row) for row in found.values_list(*EventRow._fields)[:limit]]


def intents(viewer: Caller, item: str, after_id: int, limit: int) -> list[IntentRow]:
    """At most `limit` intents behind this id, in order. Raises WorkItemNotFound."""
    readable(viewer, item)
    found = WorkItemIntent.objects.filter(work_item=item, id__gt=after_id).order_by("id")
    return [IntentRow._make(row) for row in found.values_list(*IntentRow._fields)[:limit]]


def intent(viewer: Caller, item: str, intent_id: str) -> IntentRow:
    """One intent of the item. Raises WorkItemNotFound, IntentNotFound."""
    readable(viewer, item)
    if not _INTENT_ID.fullmatch(intent_id):
        raise IntentNotFound
    found = WorkItemIntent.objects.filter(work_item=item, id=int(intent_id)).order_by("id")
    row = found.values_list(*IntentRow._fields).first()
    if row is None:
        raise IntentNotFound
    return IntentRow._make(row)


def surface_refs(
    viewer: Caller, item: str, position: tuple[str, str] | None, limit: int
) -> list[RefRow]:
    """At most `limit` references by (surface, external id) behind this position.

    Raises WorkItemNotFound.
    """
    readable(viewer, item)
    found = SurfaceRef.objects.filter(work_item=item).order_by("surface", "external_id")
    if position is not None:
        surface, external_id = position
        found = found.filter(
            Q(surface__gt=surface) | Q(surface=surface, external_id__gt=external_id)
        )
    return [RefRow._make(row) for row in found.values_list(*RefRow._fields)[:limit]]


def view_of(item: ItemRow) -> ItemView:
    """This row with its latest execution."""
    row = (
        WorkItemExecution.objects.filter(work_item=item.id)
        .order_by("-attempt")
        .values_list(*ExecutionRow._fields)
        .first()
    )
    return ItemView(item, None if row is None else ExecutionRow._make(row))
