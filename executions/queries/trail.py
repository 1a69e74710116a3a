"""The event log of a workflow execution, read by cursor."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import DatabaseError, connection

from executions.errors import EventLogFailed
from executions.kinds import WORKFLOW, Kind
from organizations.authorization import Permission, Resource, permitted
from stigmer.core.callers import Caller
from stigmer.core.errors import PermissionDenied
from stigmer.core.ids import is_id

STREAM = "unauthorized to get {words} stream"
SUBSCRIBE = "unauthorized to subscribe to workflow execution events"
LOG = "unauthorized to get workflow execution event log"


class EventRow(NamedTuple):
    """One event as plain values; `data` is JSON text."""

    execution: str
    sequence_number: int
    event_id: str
    event_type: str
    task_name: str
    occurred_at: datetime | None
    data: str
    created_at: datetime


class EventPage(NamedTuple):
    """Events in order, and whether more follow."""

    events: list[EventRow]
    has_more: bool


def permit(viewer: Caller, kind: Kind, id: str, denied: str) -> None:
    """Ask the authorizer before anything is read or subscribed to.

    The organization is not known yet: an authorizer that needs it looks the id up itself. A denial
    and an id that does not exist are one refusal. Raises PermissionDenied.
    """
    if not permitted(viewer, Permission.READ, Resource(kind.noun, id, organization="")):
        raise PermissionDenied(denied)


def event_log(
    viewer: Caller,
    execution: str,
    *,
    after: int,
    limit: int,
    types: Sequence[str] = (),
    task: str | None = None,
) -> EventPage:
    """One page of the log; an execution that does not exist has an empty one.

    Raises PermissionDenied, EventLogFailed.
    """
    permit(viewer, WORKFLOW, execution, LOG)
    if not is_id(WORKFLOW.prefix, execution):
        return EventPage([], has_more=False)
    try:
        return events(execution, after=after, limit=limit, types=types, task=task)
    except DatabaseError as cause:
        raise EventLogFailed from cause


_EVENTS = f"""
SELECT {", ".join(EventRow._fields)} FROM executions_workflowexecutionevent e
WHERE execution = %(execution)s AND sequence_number > %(after)s
  AND EXISTS (
    SELECT 1 FROM executions_workflowexecution x
    JOIN organizations_organizationslug s ON s.slug = x.organization AND s.retired_at IS NULL
    WHERE x.id = %(execution)s
  )
"""


def events(
    execution: str,
    *,
    after: int,
    limit: int,
    types: Sequence[str] = (),
    task: str | None = None,
) -> EventPage:
    """At most `limit` events behind this sequence number, whoever asks."""
    params: dict[str, Any] = {"execution": execution, "after": after, "limit": limit + 1}
    sql = _EVENTS
    if types:
        sql += " AND event_type = ANY(%(types)s)"
        params["types"] = list(types)
    if task is not None:
        sql += " AND task_name = %(task)s"
        params["task"] = task
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} ORDER BY sequence_number LIMIT %(limit)s", params)
        found = [EventRow._make(row) for row in cursor.fetchall()]
    return EventPage(found[:limit], has_more=len(found) > limit)
