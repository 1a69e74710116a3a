"""Targeted updates of workflow instances, and the instance that a workflow gets by itself."""

from __future__ import annotations

from datetime import datetime

import structlog
from django.db import transaction

from organizations.authorization import Permission
from resources.documents import Document, draft_of
from resources.errors import LoadFailed, ResourceNotFound
from resources.kinds import KINDS
from resources.operations import writing
from resources.operations.documents import Expected, Locked
from resources.queries import documents as reading
from resources.states import INSTANCE_VISIBILITIES, Visibility
from stigmer.core.callers import Act
from stigmer.core.errors import AlreadyExists, InvalidRequest, PreconditionFailed, StoreUnavailable

log = structlog.get_logger("stigmer.resources")
KIND = KINDS["workflow_instance"]


@transaction.atomic
def set_visibility(
    *, id: str, visibility: str, expected: Expected | None = None, by: Act, now: datetime
) -> Document:
    """Set who sees an instance.

    Raises ResourceNotFound, PermissionDenied, PreconditionFailed, LoadFailed, InvalidRequest.
    """
    document, sealed = _load(id, expected, by)
    metadata = {
        "org": document.organization, "name": document.name, "visibility": visibility,
    }  # fmt: skip
    draft = draft_of(KIND, metadata, document.spec, document, sealed)
    return writing.rewrite(document, draft, document.status, by=by, now=now)


@transaction.atomic
def set_execution_visibility(
    *, id: str, visibility: str, expected: Expected | None = None, by: Act, now: datetime
) -> Document:
    """Set who sees the executions that are started from this instance from now on.

    Raises ResourceNotFound, PermissionDenied, PreconditionFailed, LoadFailed, InvalidRequest.
    """
    if visibility not in INSTANCE_VISIBILITIES:
        raise InvalidRequest(
            "visibility must be visibility_private or visibility_org",
            pointer="/visibility",
            fault="wrong_type",
        )
    document, sealed = _load(id, expected, by)
    metadata = {"org": document.organization, "name": document.name}
    draft = draft_of(KIND, metadata, document.spec, document, sealed)
    status = {**document.status, "execution_visibility": visibility}
    return writing.rewrite(document, draft, status, by=by, now=now)


@transaction.atomic
def default_instance(*, workflow: str, by: Act, now: datetime) -> Document:
    """The instance by which a workflow is run when none is named; made at the first time.

    Raises ResourceNotFound, OrganizationNotFound.
    """
    parent = reading.held("workflow", workflow)
    if parent is None or not reading.sees(by.caller, parent):
        raise ResourceNotFound(f"Workflow not found: {workflow}")
    writing.hold_organization(parent.organization)
    for _ in range(2):
        found = reading.default_instance_of(workflow)
        if found is not None:
            return found
        metadata = {
            "org": parent.organization,
            "name": parent.name,
            "slug": f"default-{workflow.rpartition('_')[2]}",
        }
        draft = draft_of(KIND, metadata, {"workflow_id": workflow})
        status = {"default": True, "execution_visibility": Visibility.ORG.value}
        try:
            return writing.insert(KIND, draft, status, by=by, now=now)
        except AlreadyExists:
            # Another first run made it between the look and the insert.
            continue
    raise StoreUnavailable


@transaction.atomic
def hold_instance(*, id: str) -> Document | None:
    """Keep an instance from being deleted until the transaction around this ends, and read it.

    Whoever starts something that uses the instance holds it; a delete then sees what was started.
    """
    return reading.held(KIND.name, id)


def _load(id: str, expected: Expected | None, by: Act) -> Locked:
    try:
        found = reading.locked(KIND.name, id)
    except Exception as cause:
        log.exception("workflow_instance_load_failed", instance=id)
        raise LoadFailed("failed to load workflow instance") from cause
    if found is None or not reading.sees(by.caller, found[0]):
        raise ResourceNotFound(f"workflow instance not found: {id}")
    reading.check(by.caller, found[0], Permission.WRITE)
    if expected is not None and not expected(found[0]):
        raise PreconditionFailed
    return found
