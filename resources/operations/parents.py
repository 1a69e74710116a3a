"""What binds an instance to its workflow, and what a deleted document takes along."""

from __future__ import annotations

from typing import Any

import structlog

from resources.documents import Document, Draft
from resources.errors import InUse, LoadFailed, ResourceNotFound
from resources.kinds import Kind
from resources.queries import documents as reading
from resources.states import Visibility
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidRequest
from stigmer.core.registries import in_use

log = structlog.get_logger("stigmer.resources")


def first_status(kind: Kind) -> dict[str, Any]:
    """The status that a new document of this kind starts with."""
    if kind.name == "workflow_instance":
        return {"execution_visibility": Visibility.ORG.value}
    return {}


def check_parent(kind: Kind, draft: Draft, before: Document | None = None, *, by: Act) -> None:
    """Load and hold the workflow that an instance names.

    Raises ResourceNotFound, InvalidRequest for another organization's, LoadFailed.
    """
    if kind.name != "workflow_instance":
        return
    workflow = draft.spec["workflow_id"]
    if before is not None and before.spec.get("workflow_id") == workflow:
        return
    parent = _load(workflow)
    if parent is None or not reading.sees(by.caller, parent):
        log.warning("parent_workflow_missing", workflow=workflow, organization=draft.org)
        raise ResourceNotFound(f"Workflow not found: {workflow}")
    if parent.organization != draft.org:
        raise InvalidRequest(
            f"workflow {workflow} belongs to another organization",
            pointer="/spec/workflow_id",
            fault="other_organization",
        )


def _load(workflow: str) -> Document | None:
    try:
        # The workflow cannot be deleted until the instance is committed.
        return reading.held("workflow", workflow)
    except Exception as cause:
        log.exception("parent_workflow_load_failed", workflow=workflow)
        raise LoadFailed("failed to load parent workflow") from cause


def going_with(document: Document) -> list[Document]:
    """What a delete of this locked document removes, the document last.

    Raises InUse while something live uses any of it.
    """
    going = [document]
    if document.kind == "workflow":
        found = reading.instances_of(document.id)
        others = [instance for instance in found if not is_default(instance)]
        if others:
            raise InUse(f"the workflow has {len(others)} instances", count=len(others))
        defaults = [instance.id for instance in found]
        going = [*reading.locked_for_delete("workflow_instance", defaults), document]
    # An execution of the default instance is one of the workflow too.
    live = max(users(one) for one in going)
    if live:
        raise InUse(f"{live} live executions use this resource", count=live)
    return going


def is_default(instance: Document) -> bool:
    """Whether this is the instance that the store made for executions of the workflow itself."""
    return instance.status.get("default") is True


def users(document: Document) -> int:
    """How many live things of the apps above use this document."""
    return sum(count(document.kind, document.id) for _, count in in_use)
