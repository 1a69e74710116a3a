"""What the views of work items share."""

from __future__ import annotations

from typing import Any

from stigmer.core.errors import IdempotencyKeyReused, PermissionDenied
from stigmer.http.fields import UNSET
from workitems.errors import WorkItemNotFound

SEEN = (WorkItemNotFound,)
KEYED = (WorkItemNotFound, PermissionDenied, IdempotencyKeyReused)
NEW_OR_KNOWN = {201: "New.", 200: "Known: a replay or the same thing again."}


def given(value: Any, absent: Any = None) -> Any:
    """The value of a field, or this when it is absent."""
    return absent if value is UNSET else value


def status_of(created: bool) -> int:
    """201 for what is new, 200 for what was known."""
    return 201 if created else 200
