"""The routes of work items: typed body in, one domain call, plain data out."""

from workitems.api.views.children import Events, Executions, Intent, Intents, SurfaceRefs
from workitems.api.views.items import Resume, WorkItem, WorkItems

__all__ = [
    "Events",
    "Executions",
    "Intent",
    "Intents",
    "Resume",
    "SurfaceRefs",
    "WorkItem",
    "WorkItems",
]
