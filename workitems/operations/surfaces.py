"""Surface references: where a conversation about an item goes on; never identity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from stigmer.core.callers import Act
from stigmer.core.secrets import refuse_secrets
from workitems.operations.writing import Note, lock, record, tell
from workitems.queries import RefRow
from workitems.states import EventKind

# `xmax` is zero on a row that this statement inserted.
_UPSERT = """
INSERT INTO workitems_surfaceref AS known (
    work_item, surface, external_id, actor_external_id, first_seen_at, last_seen_at
) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (work_item, surface, external_id) DO UPDATE SET
    last_seen_at = GREATEST(known.last_seen_at, excluded.last_seen_at),
    actor_external_id = COALESCE(NULLIF(excluded.actor_external_id, ''), known.actor_external_id)
RETURNING work_item, surface, external_id, actor_external_id, first_seen_at, last_seen_at, xmax = 0
"""


@dataclass(frozen=True, slots=True)
class Linked:
    """The reference as it is now, and whether it is new."""

    ref: RefRow
    created: bool


@transaction.atomic
def link_surface(
    *, item: str, surface: str, external_id: str, actor_external_id: str, by: Act, now: datetime
) -> Linked:
    """Remember a conversation of a surface about an item, also a terminal one.

    Raises WorkItemNotFound, PermissionDenied, SecretInText.
    """
    refuse_secrets(external_id=external_id, actor_external_id=actor_external_id)
    under = lock(item, by=by)
    with connection.cursor() as cursor:
        cursor.execute(_UPSERT, [item, surface, external_id, actor_external_id, now, now])
        *row, created = cursor.fetchone()
    if created:
        record(under.item, Note(EventKind.SURFACE_LINKED), by=by, now=now, request=None)
    else:
        tell("surface_seen", item, by=by)
    return Linked(RefRow._make(row), created=created)
