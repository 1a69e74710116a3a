"""Tables of work items and everything that hangs on one."""

from workitems.models.hanging import SurfaceRef, WorkItemEvent, WorkItemExecution, WorkItemIntent
from workitems.models.items import WorkItem, WorkItemTitle
from workitems.models.receipts import CreateRequest, ItemRequest

__all__ = [
    "CreateRequest",
    "ItemRequest",
    "SurfaceRef",
    "WorkItem",
    "WorkItemEvent",
    "WorkItemExecution",
    "WorkItemIntent",
    "WorkItemTitle",
]
