"""What retention and the purge of deleted organizations take, batch by batch."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection, transaction

from stigmer.background.sweeps import Step

_REDACT = """
UPDATE workitems_workitemintent SET text = NULL, params = NULL WHERE id IN (
    SELECT id FROM workitems_workitemintent
    WHERE text IS NOT NULL AND created_at < %s
    ORDER BY created_at, id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
)
"""
_FORGET = """
DELETE FROM workitems_surfaceref r USING (
    SELECT work_item, surface, external_id FROM workitems_surfaceref
    WHERE last_seen_at < %s ORDER BY last_seen_at LIMIT %s FOR UPDATE SKIP LOCKED
) due
WHERE r.work_item = due.work_item AND r.surface = due.surface AND r.external_id = due.external_id
"""
_DELETE = """
DELETE FROM workitems_workitem WHERE id IN (
    SELECT id FROM workitems_workitem
    WHERE completed_at IS NOT NULL AND completed_at < %s
    ORDER BY completed_at, id LIMIT %s FOR UPDATE SKIP LOCKED
)
"""
# One index probe for each retired slug; the first rows found are the batch.
_OF_DELETED = """
FROM organizations_organizationslug s CROSS JOIN LATERAL (
    SELECT id FROM workitems_workitem w WHERE w.organization = s.slug LIMIT {limit}
) w WHERE s.retired_at IS NOT NULL
"""
_PURGE = f"""
DELETE FROM workitems_workitem WHERE id IN (
    SELECT id FROM workitems_workitem WHERE id IN (
        SELECT w.id {_OF_DELETED.format(limit="%(size)s")} LIMIT %(size)s
    ) FOR UPDATE SKIP LOCKED
)
"""
_COUNT_PURGE = f"SELECT count(*) {_OF_DELETED.format(limit='ALL')}"
_COUNTS = {
    "intents": """SELECT count(*) FROM workitems_workitemintent
        WHERE text IS NOT NULL AND created_at < %s""",
    "refs": "SELECT count(*) FROM workitems_surfaceref WHERE last_seen_at < %s",
    "items": """SELECT count(*) FROM workitems_workitem
        WHERE completed_at IS NOT NULL AND completed_at < %s""",
}


def redact_intents(cutoff: datetime, size: int) -> int:
    """Remove text and params of at most `size` intents older than the cutoff."""
    return _batch(_REDACT, [cutoff, size])


def forget_surface_refs(cutoff: datetime, size: int) -> int:
    """Delete at most `size` surface references last seen before the cutoff."""
    return _batch(_FORGET, [cutoff, size])


def delete_ended_items(cutoff: datetime, size: int) -> int:
    """Delete at most `size` items that ended before the cutoff, with all their rows."""
    return _batch(_DELETE, [cutoff, size])


def purge_deleted_organizations(cutoff: datetime, size: int) -> int:
    """Delete at most `size` items that deleted organizations left, with all their rows."""
    return _batch(_PURGE, {"size": size})


def intents_due(cutoff: datetime) -> int:
    """How many intents redaction would take."""
    return _count(_COUNTS["intents"], [cutoff])


def surface_refs_due(cutoff: datetime) -> int:
    """How many surface references would be deleted."""
    return _count(_COUNTS["refs"], [cutoff])


def items_due(cutoff: datetime) -> int:
    """How many items would be deleted."""
    return _count(_COUNTS["items"], [cutoff])


def left_by_deleted(cutoff: datetime) -> int:
    """How many items deleted organizations left."""
    return _count(_COUNT_PURGE, [])


@transaction.atomic
def _batch(sql: str, params: Any) -> int:
    with connection.cursor() as cursor:
        # The triggers that protect history let a purge pass, in this transaction alone.
        cursor.execute("SELECT set_config('stigmer.purge', 'on', true)")
        cursor.execute(sql, params)
        return int(cursor.rowcount)


def _count(sql: str, params: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.fetchone()[0])


RETENTION = (
    Step("intents", redact_intents, intents_due, "WORKITEM_SURFACE_RETENTION_DAYS"),
    Step(
        "surface references",
        forget_surface_refs,
        surface_refs_due,
        "WORKITEM_SURFACE_RETENTION_DAYS",
    ),
    Step("work items", delete_ended_items, items_due, "WORKITEM_RETENTION_DAYS"),
)
PURGE = Step("work items", purge_deleted_organizations, left_by_deleted)
