"""One execution: its row, and whether somebody may see or change it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from executions.errors import ExecutionNotFound
from executions.kinds import BY_PREFIX, Kind, kind_of
from executions.models import AgentExecution, WorkflowExecution
from executions.models.execution import Execution
from executions.states import LIVE, Visibility
from organizations.authorization import Permission, Resource, authorize
from stigmer.core.callers import SERVICE, Caller
from stigmer.core.errors import PermissionDenied
from stigmer.core.ids import is_id

MODELS: dict[str, type[Execution]] = {
    "workflow_execution": WorkflowExecution,
    "agent_execution": AgentExecution,
}
SERVICES_ONLY = "only a service may do this"


class ExecutionRow(NamedTuple):
    """An execution as plain values; JSON columns are the text PostgreSQL gives."""

    id: str
    organization: str
    name: str
    labels: str
    target: str
    target_slug: str
    target_name: str
    instance: str
    session: str
    visibility: str
    created_by: str
    message: str
    input: str | None
    execution_target: str | None
    phase: str
    tasks: str
    output: str | None
    error: str
    started_at: datetime | None
    completed_at: datetime | None
    cost_micros: int
    input_tokens: int
    output_tokens: int
    pending_approvals: str
    pending_file_reviews: str
    gates: str
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    engine: str
    engine_ref: str
    claimed_by: str | None
    claim_id: str
    claim_digest: str
    claim_attempt: int
    claimable_at: datetime
    last_inbox: int
    has_events: bool
    duration_us: int | None

    @property
    def kind(self) -> Kind:
        """Which of the two it is."""
        return BY_PREFIX[self.id[:3]]


COLUMNS = ExecutionRow._fields
SQL = ", ".join(COLUMNS)
# What a deleted organization left is invisible to everybody from the moment of the delete.
LIVE_SQL = """EXISTS (
    SELECT 1 FROM organizations_organizationslug s
    WHERE s.slug = e.organization AND s.retired_at IS NULL
)"""


def fetch(sql: str, params: Any) -> ExecutionRow | None:
    """The one row that this statement gives, or None."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    return None if row is None else ExecutionRow._make(row)


def find(kind: Kind, id: str) -> ExecutionRow | None:
    """The execution whoever asks, or None; what may be said of it is decided elsewhere."""
    if not is_id(kind.prefix, id):
        return None
    return fetch(f"SELECT {SQL} FROM {kind.table} e WHERE id = %s AND {LIVE_SQL}", [id])


def lock(kind: Kind, id: str) -> ExecutionRow | None:
    """Lock the execution until the transaction ends (children do not wait), or None."""
    if not is_id(kind.prefix, id):
        return None
    return fetch(
        f"SELECT {SQL} FROM {kind.table} e WHERE id = %s AND {LIVE_SQL} FOR NO KEY UPDATE OF e",
        [id],
    )


def private_to(row: ExecutionRow) -> str | None:
    """The one principal who sees it, besides platform admins, or None."""
    return row.created_by if row.visibility == Visibility.PRIVATE else None


def resource_of(row: ExecutionRow) -> Resource:
    """What the authorizer is asked about."""
    return Resource(row.kind.noun, row.id, row.organization, private_to(row))


def check(
    viewer: Caller, kind: Kind, id: str, row: ExecutionRow | None, permission: str
) -> ExecutionRow:
    """The row, if the viewer has this permission on it.

    Raises ExecutionNotFound, PermissionDenied, AuthorizationUnavailable.
    """
    missing = ExecutionNotFound.of(kind.noun, id)
    if row is None:
        raise missing
    authorize(viewer, permission, resource_of(row), missing=missing)
    return row


def check_service(viewer: Caller, kind: Kind, id: str, row: ExecutionRow | None) -> ExecutionRow:
    """The row, if the viewer is a service that may run it; private ones are no secret to those.

    Raises ExecutionNotFound, PermissionDenied, AuthorizationUnavailable.
    """
    missing = ExecutionNotFound.of(kind.noun, id)
    if row is None:
        raise missing
    if viewer.kind != SERVICE:
        authorize(viewer, Permission.READ, resource_of(row), missing=missing)
        raise PermissionDenied(SERVICES_ONLY)
    resource = Resource(kind.noun, id, row.organization)
    authorize(viewer, Permission.WRITE, resource, missing=missing)
    return row


def readable(viewer: Caller, kind: Kind, id: str) -> ExecutionRow:
    """The execution, if the viewer sees it. Raises ExecutionNotFound."""
    return check(viewer, kind, id, find(kind, id), Permission.READ)


def writable(viewer: Caller, kind: Kind, id: str) -> ExecutionRow:
    """The execution, if the viewer may write on it. Raises ExecutionNotFound, PermissionDenied."""
    return check(viewer, kind, id, find(kind, id), Permission.WRITE)


def reportable(viewer: Caller, kind: Kind, id: str) -> ExecutionRow:
    """The execution, if the viewer is a service of its organization.

    Raises ExecutionNotFound, PermissionDenied.
    """
    return check_service(viewer, kind, id, find(kind, id))


def manageable(viewer: Caller, id: str) -> ExecutionRow:
    """The execution of either kind, if the viewer is a service of its organization.

    Raises ExecutionNotFound, PermissionDenied.
    """
    kind = kind_of(id)
    if kind is None:
        raise ExecutionNotFound(f"execution not found: {id}")
    return reportable(viewer, kind, id)


def locate(kind: Kind, id: str) -> Resource | None:
    """What an authorizer that needs the organization finds by the id alone."""
    row = find(kind, id)
    return None if row is None else resource_of(row)


def live_count(kind: Kind, organization: str) -> int:
    """How many executions of this organization have not ended."""
    return MODELS[kind.noun].objects.filter(organization=organization, phase__in=LIVE).count()


def users(resource_kind: str, id: str) -> int:
    """How many live executions run this workflow, agent or instance."""
    column = "instance" if resource_kind.endswith("_instance") else "target"
    kinds = [kind for kind in MODELS if kind.removesuffix("_execution") in resource_kind]
    return sum(
        MODELS[kind].objects.filter(**{column: id}, phase__in=LIVE).count() for kind in kinds
    )
