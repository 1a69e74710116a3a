"""Console pages of resources."""

from resources.admin.documents import ResourceAdmin

__all__ = ["ResourceAdmin"]
