"""What a waiting reader's poll looks at: a version of each thing, from one statement."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import connection

from executions.kinds import KINDS, WORKFLOW
from executions.states import LIVE

# Every write of a row gives it a new xmin; events come beside, in rows of their own.
_WORKFLOWS = f"""
SELECT id, xmin::text, (
    SELECT max(sequence_number) FROM executions_workflowexecutionevent v WHERE v.execution = e.id
) FROM {WORKFLOW.table} e WHERE id = ANY(%s::text[])
"""
_OTHERS = "SELECT id, xmin::text, NULL FROM {table} WHERE id = ANY(%s::text[])"
# It changes when one more becomes claimable: made, recovered, or its lease lapsed.
_CLAIMABLE = """
SELECT max(claimable_at), count(*) FROM {table}
WHERE phase IN ({live}) AND engine = 'runner' AND claimable_at <= now() AND claim_attempt < %s
"""
_LIVE = ", ".join(f"'{phase}'" for phase in LIVE)


def changes(ids: list[str]) -> dict[str, Any]:
    """A version of each of these executions; one that is gone has none."""
    found: dict[str, Any] = {}
    for kind in KINDS.values():
        own = [id for id in ids if id.startswith(f"{kind.prefix}_")]
        if not own:
            continue
        sql = _WORKFLOWS if kind is WORKFLOW else _OTHERS.format(table=kind.table)
        with connection.cursor() as cursor:
            cursor.execute(sql, [own])
            found |= {id: version for id, *version in cursor.fetchall()}
    return found


def claimable(nouns: list[str]) -> dict[str, Any]:
    """A version of what waits for a runner, by the noun of its kind."""
    found: dict[str, Any] = {}
    for noun in nouns:
        with connection.cursor() as cursor:
            cursor.execute(
                _CLAIMABLE.format(table=KINDS[noun].table, live=_LIVE),
                [settings.STIGMER_MAX_CLAIM_ATTEMPTS],
            )
            found[noun] = cursor.fetchone()
    return found
