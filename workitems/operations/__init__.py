"""Every write on work items: one function, one transaction, one event."""

from workitems.operations.creating import Created, creatable, create_work_item
from workitems.operations.executing import Attached, Resumed, Run, attach_execution, resume
from workitems.operations.intents import Appended, append_intent
from workitems.operations.surfaces import Linked, link_surface
from workitems.operations.transitions import Moved, transition

__all__ = [
    "Appended",
    "Attached",
    "Created",
    "Linked",
    "Moved",
    "Resumed",
    "Run",
    "append_intent",
    "attach_execution",
    "creatable",
    "create_work_item",
    "link_surface",
    "resume",
    "transition",
]
