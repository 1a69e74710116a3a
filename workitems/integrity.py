"""What must be true of every work item, as queries that answer the ids of which it is not."""

# Only names of states and tables are put into these queries.

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection, transaction

from workitems.states import LIFECYCLE, PHASES

SHOWN = 20
_TERMINAL = ", ".join(sorted(f"'{state}'" for state in LIFECYCLE.terminal))
_ENDED = ", ".join(sorted(f"'{phase}'" for phase in PHASES.terminal))


class Invariant(NamedTuple):
    """A rule by name; its query answers one id per row that breaks it."""

    name: str
    sql: str


class Broken(NamedTuple):
    """An invariant that does not hold: how many rows break it, and the first of their ids."""

    name: str
    many: int
    ids: list[str]


_OF_ITEMS = (
    # What moves the state names where to; the first of these is the create, version 1.
    Invariant(
        "the version counts the events that moved the state",
        """
        SELECT i.id FROM workitems_workitem i WHERE i.state_version <> (
            SELECT count(*) FROM workitems_workitemevent e
            WHERE e.work_item = i.id AND e.to_state IS NOT NULL
        )
        """,
    ),
    Invariant(
        "events count from 1 to last_event_seq without gaps",
        """
        SELECT i.id FROM workitems_workitem i LEFT JOIN (
            SELECT work_item, count(*) AS many, min(seq) AS first, max(seq) AS last
            FROM workitems_workitemevent GROUP BY work_item
        ) e ON e.work_item = i.id
        WHERE (e.first, e.last, e.many) IS DISTINCT FROM (1, i.last_event_seq, i.last_event_seq)
        """,
    ),
    Invariant(
        "the first event and no other is the create",
        """
        SELECT work_item || ' ' || seq FROM workitems_workitemevent
        WHERE (seq = 1) <> (kind = 'created')
        """,
    ),
    Invariant(
        "each event starts in the state that the one before left",
        """
        SELECT work_item || ' ' || seq FROM (
            SELECT work_item, seq, from_state,
                lag(to_state) OVER (PARTITION BY work_item ORDER BY seq) AS before
            FROM workitems_workitemevent WHERE to_state IS NOT NULL
        ) moves WHERE from_state IS DISTINCT FROM before
        """,
    ),
    Invariant(
        "the last event that moved the state tells the item's state",
        """
        SELECT i.id FROM workitems_workitem i WHERE i.state IS DISTINCT FROM (
            SELECT e.to_state FROM workitems_workitemevent e
            WHERE e.work_item = i.id AND e.to_state IS NOT NULL ORDER BY e.seq DESC LIMIT 1
        )
        """,
    ),
    Invariant(
        "nothing moves a terminal item",
        f"""
        SELECT work_item || ' ' || seq FROM workitems_workitemevent
        WHERE to_state IS NOT NULL AND from_state IN ({_TERMINAL})
        """,
    ),
    Invariant(
        "one open item has an external key",
        f"""
        SELECT string_agg(id, ' ' ORDER BY id) FROM workitems_workitem
        WHERE external_key <> '' AND state NOT IN ({_TERMINAL})
        GROUP BY organization, external_key HAVING count(*) > 1
        """,
    ),
    Invariant(
        "an item is completed exactly when it is terminal",
        f"""
        SELECT id FROM workitems_workitem
        WHERE (state IN ({_TERMINAL})) <> (completed_at IS NOT NULL)
        """,
    ),
    Invariant(
        "an item has a reason exactly when it waits",
        """
        SELECT id FROM workitems_workitem WHERE (state = 'waiting') <> (waiting_reason <> '')
        """,
    ),
    Invariant(
        "an item has a successor exactly when it is superseded",
        """
        SELECT id FROM workitems_workitem
        WHERE (state = 'superseded') <> (superseded_by IS NOT NULL) OR superseded_by = id
        """,
    ),
    Invariant(
        "a successor is of the same organization",
        """
        SELECT i.id FROM workitems_workitem i JOIN workitems_workitem s ON s.id = i.superseded_by
        WHERE s.organization <> i.organization
        """,
    ),
    Invariant(
        "no event names a successor",
        """
        SELECT e.work_item || ' ' || e.seq FROM workitems_workitemevent e
        JOIN workitems_workitem i ON i.id = e.work_item
        WHERE i.superseded_by IS NOT NULL AND strpos(e.detail::text, i.superseded_by) > 0
        """,
    ),
    Invariant(
        "time goes forward",
        """
        SELECT id FROM workitems_workitem
        WHERE updated_at < created_at OR completed_at < created_at OR completed_at > updated_at
        """,
    ),
    Invariant(
        "an open item is of a live organization",
        f"""
        SELECT i.id FROM workitems_workitem i
        LEFT JOIN organizations_organization o ON o.slug = i.organization
        WHERE i.state NOT IN ({_TERMINAL}) AND o.slug IS NULL
        """,
    ),
    Invariant(
        "every item can be found by its title",
        """
        SELECT i.id FROM workitems_workitem i
        LEFT JOIN workitems_workitemtitle t ON t.work_item = i.id WHERE t.work_item IS NULL
        """,
    ),
)

_OF_EXECUTIONS = (
    Invariant(
        "one execution of an item is open",
        f"""
        SELECT work_item FROM workitems_workitemexecution WHERE phase NOT IN ({_ENDED})
        GROUP BY work_item HAVING count(*) > 1
        """,
    ),
    Invariant(
        "an execution has ended exactly when its phase is terminal",
        f"""
        SELECT id FROM workitems_workitemexecution
        WHERE (phase IN ({_ENDED})) <> (ended_at IS NOT NULL) OR ended_at < started_at
        """,
    ),
    Invariant(
        "attempts count from 1 without gaps",
        """
        SELECT work_item FROM workitems_workitemexecution GROUP BY work_item
        HAVING min(attempt) <> 1 OR max(attempt) <> count(*)
        """,
    ),
    Invariant(
        "an execution continues an earlier one of its item",
        """
        SELECT x.id FROM workitems_workitemexecution x
        LEFT JOIN workitems_workitemexecution b ON b.id = x.resumed_from
            AND b.work_item = x.work_item AND b.attempt < x.attempt
        WHERE x.resumed_from IS NOT NULL AND b.id IS NULL
        """,
    ),
    Invariant(
        "every execution and every intent has its event",
        """
        SELECT made.id FROM (
            SELECT work_item, id, 'execution_id' AS named FROM workitems_workitemexecution
            UNION ALL SELECT work_item, id::text, 'intent_id' FROM workitems_workitemintent
        ) made LEFT JOIN (
            SELECT work_item, kind, 'intent_id' AS named, detail ->> 'intent_id' AS id
            FROM workitems_workitemevent WHERE kind = 'intent_appended'
            UNION ALL SELECT work_item, kind, 'execution_id', detail ->> 'execution_id'
            FROM workitems_workitemevent
            WHERE kind IN ('resumed', 'execution_attached', 'execution_request_fulfilled')
        ) told USING (work_item, named, id)
        WHERE told.kind IS NULL
        """,
    ),
)

_CHILDREN = ("title", "event", "intent", "execution")
_HANGING = (*(f"workitems_workitem{child}" for child in _CHILDREN), "workitems_surfaceref")
_OF_RECEIPTS = (
    Invariant(
        "every receipt points to an item",
        """
        SELECT r.organization || ' ' || r.idempotency_key FROM workitems_createrequest r
        LEFT JOIN workitems_workitem i ON i.id = r.work_item AND i.organization = r.organization
        WHERE i.id IS NULL
        UNION ALL
        SELECT r.work_item || ' ' || r.idempotency_key FROM workitems_itemrequest r
        LEFT JOIN workitems_workitem i ON i.id = r.work_item WHERE i.id IS NULL
        """,
    ),
    Invariant(
        "every receipt points to what its request made",
        """
        SELECT r.work_item || ' ' || r.idempotency_key FROM workitems_itemrequest r
        LEFT JOIN workitems_workitemintent n
            ON n.work_item = r.work_item AND n.id::text = r.result_id
        LEFT JOIN workitems_workitemexecution x
            ON x.work_item = r.work_item AND x.id = r.result_id
        WHERE (r.operation = 'append_intent' AND n.id IS NULL)
            OR (r.operation IN ('attach_execution', 'resume') AND x.id IS NULL)
        """,
    ),
    Invariant(
        "what hangs on an item has its item",
        " UNION ALL ".join(
            f"""
            SELECT '{table} ' || c.work_item FROM {table} c
            LEFT JOIN workitems_workitem i ON i.id = c.work_item WHERE i.id IS NULL
            """
            for table in _HANGING
        ),
    ),
)

INVARIANTS: tuple[Invariant, ...] = _OF_ITEMS + _OF_EXECUTIONS + _OF_RECEIPTS


def check() -> Iterator[tuple[Invariant, Broken | None]]:
    """Each invariant with what breaks it, or None; over everybody's rows, however long it takes."""
    for invariant in INVARIANTS:
        yield invariant, _broken(invariant)


@transaction.atomic
def _broken(invariant: Invariant) -> Broken | None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(
            f"SELECT count(*) OVER (), id FROM ({invariant.sql}) found (id) LIMIT {SHOWN}"
        )
        rows = cursor.fetchall()
    return Broken(invariant.name, rows[0][0], [str(row[1]) for row in rows]) if rows else None
