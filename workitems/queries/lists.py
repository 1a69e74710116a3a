"""Lists of items: plain rows by one statement, newest updated first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from organizations.authorization import Permission, Resource, authorize, scope_clause
from organizations.errors import OrganizationNotFound
from organizations.queries import is_live
from stigmer.core.callers import Caller
from stigmer.core.json_sql import members, moment
from workitems.errors import TenantForbidden
from workitems.models import WorkItem
from workitems.queries.items import FROM_SEEN, LIVE
from workitems.queries.matching import Search, first, newest_first
from workitems.queries.rows import ItemRow
from workitems.states import LIFECYCLE, WorkItemState

OPEN = "open"  # the virtual state of everything that is not terminal
Position = tuple[datetime, str]

# The states are literals: a statement prepared with parameters could not use the partial index.
_OPEN_STATES = ", ".join(f"'{state.value}'" for state in sorted(LIFECYCLE.open))
_EXACT = {
    "tenant": "item.organization = %s",
    "owner": "item.owner = %s",
    "external_key": "item.external_key = %s AND NOT item.external_key = ''",
    "surface": "item.origin_surface = %s",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows a list of items; all that are given hold together."""

    tenant: str | None = None
    state: str = OPEN
    owner: str | None = None
    external_key: str | None = None
    surface: str | None = None
    q: str | None = None


def page(viewer: Caller, filters: Filters, position: Position | None, limit: int) -> list[ItemRow]:
    """At most `limit` items that the viewer sees, behind this position (updated_at, id)."""
    where, params = _where(viewer, filters, position)
    if filters.q is None:
        return newest_first(f"{FROM_SEEN} WHERE {where}", params, limit)
    return first(Search(where, params, filters.q, filters.tenant), limit)


class Shown(NamedTuple):
    """An item as JSON text, and where it stands in the list."""

    json: str
    updated_at: datetime
    id: str


# The members of a work item, in the order of the answer; a test compares both.
_MEMBERS = {
    "id": "item.id",
    "tenant": "item.organization",
    "owner_principal": "item.owner",
    "visibility": "item.visibility",
    "origin_surface": "item.origin_surface",
    "title": "item.title",
    "external_key": "NULLIF(item.external_key, '')",
    "state": "item.state",
    "waiting_reason": "NULLIF(item.waiting_reason, '')",
    "superseded_by": "NULL::text",
    "state_version": "item.state_version",
    "created_by": "item.created_by",
    "created_at": moment("item.created_at"),
    "updated_at": moment("item.updated_at"),
    "completed_at": moment("item.completed_at"),
    "schema_version": "'workitem/v1'",
}
_JSON = members(_MEMBERS)


def page_as_json(
    viewer: Caller, filters: Filters, position: Position | None, limit: int
) -> list[Shown] | None:
    """As `page`, written as JSON by PostgreSQL: half the cost of a page.

    None where an answer needs more than the item's row: a search, and superseded items, whose
    successor the authorizer judges.
    """
    if filters.q is not None or filters.state == WorkItemState.SUPERSEDED:
        return None
    where, params = _where(viewer, filters, position)
    sql = f"""
        SELECT row_to_json(shown)::text, item.updated_at, item.id
        FROM (
            SELECT item.* FROM workitems_workitem item WHERE {where}
            ORDER BY item.updated_at DESC, item.id DESC LIMIT %s
        ) item CROSS JOIN LATERAL (SELECT {_JSON}) shown
        ORDER BY item.updated_at DESC, item.id DESC
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, [*params, limit])
        return [Shown._make(row) for row in cursor.fetchall()]


def need_live(caller: Caller, tenant: str) -> None:
    """Whoever needs no membership may name what is not there. Raises OrganizationNotFound."""
    if caller.role_in(tenant) is None and not is_live(tenant):
        raise OrganizationNotFound


def need_tenant(viewer: Caller, tenant: str | None) -> None:
    """Judge the tenant that a list names, if it names one.

    Raises TenantForbidden, OrganizationNotFound.
    """
    if tenant is None:
        return
    resource = Resource("organization", tenant, tenant)
    authorize(viewer, Permission.READ, resource, missing=TenantForbidden)
    need_live(viewer, tenant)


def _where(viewer: Caller, filters: Filters, position: Position | None) -> tuple[str, list[Any]]:
    scope, params = scope_clause(viewer, "work_item", WorkItem, "item")
    clauses, values = [scope, _state(filters.state)], list(params)
    for name, clause in _EXACT.items():
        value = getattr(filters, name)
        if value is not None:
            clauses.append(clause)
            values.append(value)
    if filters.tenant is None:
        clauses.append(LIVE)
    if position is not None:
        clauses.append("(item.updated_at, item.id) < (%s, %s)")
        values += position
    return " AND ".join(clauses), values


def _state(state: str) -> str:
    # The enum refuses anything that is no state before it becomes text of a statement.
    if state == OPEN:
        return f"item.state IN ({_OPEN_STATES})"
    return f"item.state = '{WorkItemState(state).value}'"
