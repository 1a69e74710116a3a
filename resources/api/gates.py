"""What a caller must be to come in: first that the thing is visible, then the role."""

from __future__ import annotations

from typing import Any

from resources.errors import ResourceNotFound
from resources.kinds import stored
from resources.operations.writing import creatable
from resources.queries import documents
from stigmer.core.callers import Caller


def known(caller: Caller, kind: str) -> None:
    """The kind exists."""
    stored(kind)


def creates(caller: Caller, data: dict[str, Any]) -> None:
    """Members write in the organization that the body names."""
    creatable(caller, data)


def sees(caller: Caller, kind: str, id: str, **_more: str) -> None:
    """Members see a document; everybody sees a public one."""
    documents.readable(caller, stored(kind).name, id)


def sees_slug(caller: Caller, kind: str, org: str, slug: str) -> None:
    """As `sees`."""
    documents.readable_by_slug(caller, stored(kind).name, org, slug)


def changes(caller: Caller, kind: str, id: str, **_more: str) -> None:
    """Members change a document of their organization."""
    documents.writable(caller, stored(kind).name, id)


def changes_instance(caller: Caller, id: str) -> None:
    """As `changes`, for the targeted updates of workflow instances."""
    try:
        documents.writable(caller, "workflow_instance", id)
    except ResourceNotFound:
        raise ResourceNotFound(f"workflow instance not found: {id}") from None
