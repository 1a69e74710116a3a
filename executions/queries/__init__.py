"""Every read of executions; the first argument is whose eyes see."""

from executions.queries.lists import Filters, Position, Sort, after, executions
from executions.queries.pending import Waiting, pending_approvals
from executions.queries.rows import (
    ExecutionRow,
    find,
    manageable,
    private_to,
    readable,
    reportable,
    resource_of,
    writable,
)
from executions.queries.summaries import Summary, summary
from executions.queries.trail import EventPage, EventRow, event_log, events

__all__ = [
    "EventPage",
    "EventRow",
    "ExecutionRow",
    "Filters",
    "Position",
    "Sort",
    "Summary",
    "Waiting",
    "after",
    "event_log",
    "events",
    "executions",
    "find",
    "manageable",
    "pending_approvals",
    "private_to",
    "readable",
    "reportable",
    "resource_of",
    "summary",
    "writable",
]
