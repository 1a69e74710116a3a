"""One item: found, judged, locked."""

from __future__ import annotations

from typing import Any

from django.db import connection

from organizations.authorization import Permission, Resource, authorize, permitted
from stigmer.core.callers import Caller
from stigmer.core.ids import is_id
from workitems.errors import WorkItemNotFound
from workitems.models import WorkItem
from workitems.queries.rows import OWN_COLUMNS, ExecutionRow, ItemRow, ItemView, columns
from workitems.states import LIFECYCLE, Visibility

# What a deleted organization left is invisible to everybody from the moment of the delete.
LIVE = """EXISTS (
    SELECT 1 FROM organizations_organizationslug ledger
    WHERE ledger.slug = item.organization AND ledger.retired_at IS NULL
)"""
SEEN = f"{columns(OWN_COLUMNS, 'item')}, successor.visibility, successor.owner"
WITH_SUCCESSOR = "LEFT JOIN workitems_workitem successor ON successor.id = item.superseded_by"
FROM_SEEN = f"workitems_workitem item {WITH_SUCCESSOR}"
_FIND = f"SELECT {SEEN} FROM {FROM_SEEN} WHERE item.id = %s AND {LIVE}"
_LATEST = """
LEFT JOIN LATERAL (
    SELECT * FROM workitems_workitemexecution WHERE work_item = item.id
    ORDER BY attempt DESC LIMIT 1
) execution ON true
"""
_VIEW = f"""
SELECT {SEEN}, {columns(ExecutionRow._fields, "execution")}
FROM {FROM_SEEN} {_LATEST} WHERE item.id = %s AND {LIVE}
"""
_LOCK_ONE = f"""
SELECT {columns(OWN_COLUMNS)} FROM workitems_workitem item
WHERE id = %s AND {LIVE} FOR NO KEY UPDATE OF item
"""
_LOCK_OPEN = f"""
SELECT {columns(OWN_COLUMNS)} FROM workitems_workitem
WHERE organization = %s AND external_key = %s AND state IN ('active', 'waiting')
FOR NO KEY UPDATE
"""


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
    row = _one(_FIND, [item]) if is_id("wi", item) else None
    return None if row is None else ItemRow._make(row)


def readable(viewer: Caller, item: str) -> ItemRow:
    """The item, if the viewer sees it. Raises WorkItemNotFound."""
    return check(viewer, find(item), Permission.READ)


def writable(viewer: Caller, item: str) -> ItemRow:
    """The item, if the viewer may write on it. Raises WorkItemNotFound, PermissionDenied."""
    return check(viewer, find(item), Permission.WRITE)


def view(viewer: Caller, item: str) -> ItemView:
    """The item with its latest execution. Raises WorkItemNotFound."""
    row = _one(_VIEW, [item]) if is_id("wi", item) else None
    if row is None:
        raise WorkItemNotFound
    width = len(ItemRow._fields)
    found = check(viewer, ItemRow._make(row[:width]), Permission.READ)
    return ItemView(found, None if row[width] is None else ExecutionRow._make(row[width:]))


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


def open_count(organization: str) -> int:
    """How many items of this organization are not terminal."""
    return WorkItem.objects.filter(
        organization=organization, state__in=sorted(str(state) for state in LIFECYCLE.open)
    ).count()


def lock_one(item: str) -> ItemRow | None:
    """Lock the item of a live organization until the transaction ends, or None.

    Inserts of rows that hang on it do not wait.
    """
    row = _one(_LOCK_ONE, [item]) if is_id("wi", item) else None
    return None if row is None else ItemRow(*row)


def lock_open(organization: str, external_key: str) -> ItemRow | None:
    """Lock the open item that carries this external key, so that it cannot end before we do."""
    row = _one(_LOCK_OPEN, [organization, external_key])
    return None if row is None else ItemRow(*row)


def _one(sql: str, params: list[Any]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()
