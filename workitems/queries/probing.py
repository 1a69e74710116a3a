"""What a waiting reader's poll looks at."""

from __future__ import annotations

from typing import Any

from django.db import connection


def changes(ids: list[str]) -> dict[str, Any]:
    """The last event of each of these items; one that is gone has none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, last_event_seq FROM workitems_workitem WHERE id = ANY(%s::text[])", [ids]
        )
        return dict(cursor.fetchall())
