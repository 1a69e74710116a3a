"""Every read of work items and of what hangs on them; the first argument is whose eyes see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F, Q, QuerySet

from organizations.authorization import Permission, Resource, authorize, permitted, restrict
from organizations.errors import OrganizationNotFound
from organizations.queries import is_live
from stigmer.core import grams
from stigmer.core.callers import Caller
from stigmer.core.ids import is_id
from workitems.errors import IntentNotFound, TenantForbidden, WorkItemNotFound
from workitems.models import SurfaceRef, WorkItem, WorkItemEvent, WorkItemExecution, WorkItemIntent
from workitems.states import LIFECYCLE, Visibility

_INTENT_ID = re.compile("[1-9][0-9]{0,17}")
OPEN = "open"  # the virtual state of everything that is not terminal


class ItemRow(NamedTuple):
    """A work item as plain values; the last two say what its successor lets be seen."""

    id: str
    organization: str
    owner: str
    visibility: str
    origin_surface: str
    title: str
    external_key: str
    state: str
    waiting_reason: str
    superseded_by: str | None
    state_version: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    last_event_seq: int
    successor_visibility: str | None = None
    successor_owner: str | None = None


class ExecutionRow(NamedTuple):
    """An execution of an item as plain values."""

    id: str
    work_item: str
    engine: str
    engine_ref: str
    attempt: int
    resumed_from: str | None
    phase: str
    started_at: datetime
    ended_at: datetime | None


class EventRow(NamedTuple):
    """An event of an item as plain values."""

    work_item: str
    seq: int
    kind: str
    from_state: str | None
    to_state: str | None
    actor: str
    acting_principal: str | None
    surface: str
    request_id: str
    detail: dict[str, Any]
    created_at: datetime


class IntentRow(NamedTuple):
    """An intent as plain values; a null text is redacted."""

    id: int
    work_item: str
    actor: str
    surface: str
    text: str | None
    params: dict[str, Any] | None
    created_at: datetime


class RefRow(NamedTuple):
    """A surface reference as plain values."""

    work_item: str
    surface: str
    external_id: str
    actor_external_id: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class ItemView:
    """What answers about one item show."""

    item: ItemRow
    latest_execution: ExecutionRow | None = None


OWN_COLUMNS = ItemRow._fields[:-2]
_COLUMNS: tuple[Any, ...] = (
    *OWN_COLUMNS,
    *(F(f"superseded_by__{name}") for name in ("visibility", "owner")),
)
_EXECUTION_COLUMNS = ExecutionRow._fields
# What a deleted organization left is invisible to everybody from the moment of the delete.
_LIVE = WorkItem.objects.filter(organization__retired_at__isnull=True)
_ITEM_SQL = ", ".join(OWN_COLUMNS)
EXECUTION_SQL = ", ".join(_EXECUTION_COLUMNS)


def resource_of(item: ItemRow) -> Resource:
    """What the authorizer is asked about."""
    private = item.owner if item.visibility == Visibility.PRIVATE else None
    return Resource("work_item", item.id, item.organization, private)


def check(viewer: Caller, item: ItemRow | None, permission: str) -> ItemRow:
    """The row, if the viewer has this permission on it.

    Raises WorkItemNotFound, PermissionDenied, AuthorizationUnavailable.
    """
    if item is None:
        raise WorkItemNotFound
    authorize(viewer, permission, resource_of(item), missing=WorkItemNotFound)
    return item


def find(item: str) -> ItemRow | None:
    """The item whoever asks, or None; what may be said of it is decided elsewhere."""
    if not is_id("wi", item):
        return None
    row = _LIVE.filter(pk=item).values_list(*_COLUMNS).order_by("pk").first()
    return None if row is None else ItemRow(*row)


def readable(viewer: Caller, item: str) -> ItemRow:
    """The item, if the viewer sees it. Raises WorkItemNotFound."""
    return check(viewer, find(item), Permission.READ)


def writable(viewer: Caller, item: str) -> ItemRow:
    """The item, if the viewer may write on it. Raises WorkItemNotFound, PermissionDenied."""
    return check(viewer, find(item), Permission.WRITE)


def view(viewer: Caller, item: str) -> ItemView:
    """The item with its latest execution. Raises WorkItemNotFound."""
    return view_of(readable(viewer, item))


def view_of(item: ItemRow) -> ItemView:
    """This row with its latest execution."""
    row = (
        WorkItemExecution.objects.filter(work_item=item.id)
        .order_by("-attempt")
        .values_list(*_EXECUTION_COLUMNS)
        .first()
    )
    return ItemView(item, None if row is None else ExecutionRow._make(row))


def beside(item: ItemRow, successor: ItemRow | None) -> ItemRow:
    """The row with what its successor lets be seen."""
    if successor is None:
        return item
    return item._replace(successor_visibility=successor.visibility, successor_owner=successor.owner)


def successor_seen(viewer: Caller, item: ItemRow) -> str | None:
    """The successor's id, or null for whoever cannot see it (or when it is gone)."""
    if item.superseded_by is None or item.successor_visibility is None:
        return None
    private = item.successor_owner if item.successor_visibility == Visibility.PRIVATE else None
    successor = Resource("work_item", item.superseded_by, item.organization, private)
    return item.superseded_by if permitted(viewer, Permission.READ, successor) else None


# Lists --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows a list of items; all that are given hold together."""

    tenant: str | None = None
    state: str = OPEN
    owner: str | None = None
    external_key: str | None = None
    surface: str | None = None
    q: str | None = None


def items(viewer: Caller, filters: Filters) -> QuerySet[WorkItem]:
    """The items that the viewer sees, newest updated first.

    Raises TenantForbidden, OrganizationNotFound for a tenant that the viewer cannot read.
    """
    if filters.tenant is not None:
        _need_tenant(viewer, filters.tenant)
    found = restrict(_LIVE, viewer, "work_item")
    states = LIFECYCLE.open if filters.state == OPEN else [filters.state]
    found = found.filter(state__in=sorted(str(state) for state in states))
    exact = {
        "organization": filters.tenant,
        "owner": filters.owner,
        "external_key": filters.external_key,
        "origin_surface": filters.surface,
    }
    found = found.filter(**{name: value for name, value in exact.items() if value is not None})
    if filters.q is not None:
        found = found.filter(grams.contains("searchable__folded", filters.q))
    return found.order_by("-updated_at", "-id")


def _need_tenant(viewer: Caller, tenant: str) -> None:
    resource = Resource("organization", tenant, tenant)
    authorize(viewer, Permission.READ, resource, missing=TenantForbidden)
    need_live(viewer, tenant)


def need_live(caller: Caller, tenant: str) -> None:
    """Whoever needs no membership may name what is not there. Raises OrganizationNotFound."""
    if caller.role_in(tenant) is None and not is_live(tenant):
        raise OrganizationNotFound


def after(found: QuerySet[WorkItem], position: tuple[datetime, str] | None) -> QuerySet[WorkItem]:
    """The rows behind this position (updated_at, id) in the order of `items`."""
    if position is None:
        return found
    moment, item = position
    return found.filter(Q(updated_at__lte=moment) & (Q(updated_at__lt=moment) | Q(id__lt=item)))


def rows(found: QuerySet[WorkItem]) -> list[ItemRow]:
    """These items as plain rows."""
    return [ItemRow._make(row) for row in found.values_list(*_COLUMNS)]


# What hangs on an item ----------------------------------------------------------------------------


def executions(viewer: Caller, item: str) -> list[ExecutionRow]:
    """The item's executions by attempt. Raises WorkItemNotFound."""
    readable(viewer, item)
    found = WorkItemExecution.objects.filter(work_item=item).order_by("attempt")
    return [ExecutionRow._make(row) for row in found.values_list(*_EXECUTION_COLUMNS)]


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


def open_count(organization: str) -> int:
    """How many items of this organization are not terminal."""
    return WorkItem.objects.filter(
        organization=organization, state__in=sorted(str(state) for state in LIFECYCLE.open)
    ).count()


# Rows under the lock ------------------------------------------------------------------------------

_LOCK_ONE = f"""
    SELECT {_ITEM_SQL} FROM workitems_workitem
    WHERE id = %s AND EXISTS (
        SELECT 1 FROM organizations_organizationslug s
        WHERE s.slug = organization AND s.retired_at IS NULL
    )
    FOR NO KEY UPDATE
"""
_LOCK_OPEN = f"""
    SELECT {_ITEM_SQL} FROM workitems_workitem
    WHERE organization = %s AND external_key = %s AND state IN ('active', 'waiting')
    FOR NO KEY UPDATE
"""


def lock_one(item: str) -> ItemRow | None:
    """Lock the item of a live organization until the transaction ends, or None.

    Inserts of rows that hang on it do not wait.
    """
    return _row(_LOCK_ONE, [item]) if is_id("wi", item) else None


def lock_open(organization: str, external_key: str) -> ItemRow | None:
    """Lock the open item that carries this external key, so that it cannot end before we do."""
    return _row(_LOCK_OPEN, [organization, external_key])


def _row(sql: str, params: list[Any]) -> ItemRow | None:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    return None if row is None else ItemRow(*row)
