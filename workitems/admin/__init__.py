"""Console pages of work items."""

from workitems.admin.items import WorkItemAdmin

__all__ = ["WorkItemAdmin"]
