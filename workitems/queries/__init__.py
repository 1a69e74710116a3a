"""Every read of work items and of what hangs on them; the first argument is whose eyes see."""

from workitems.queries.children import events, executions, intent, intents, surface_refs, view_of
from workitems.queries.items import (
    beside,
    check,
    find,
    lock_one,
    lock_open,
    open_count,
    readable,
    resource_of,
    successor_seen,
    view,
    writable,
)
from workitems.queries.lists import OPEN, Filters, Position, need_live, need_tenant, page
from workitems.queries.rows import (
    EXECUTION_SQL,
    EventRow,
    ExecutionRow,
    IntentRow,
    ItemRow,
    ItemView,
    RefRow,
)

__all__ = [
    "EXECUTION_SQL",
    "OPEN",
    "EventRow",
    "ExecutionRow",
    "Filters",
    "IntentRow",
    "ItemRow",
    "ItemView",
    "Position",
    "RefRow",
    "beside",
    "check",
    "events",
    "executions",
    "find",
    "intent",
    "intents",
    "lock_one",
    "lock_open",
    "need_live",
    "need_tenant",
    "open_count",
    "page",
    "readable",
    "resource_of",
    "successor_seen",
    "surface_refs",
    "view",
    "view_of",
    "writable",
]
