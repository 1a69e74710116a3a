"""Create: the key if it is known, open work with the external key, or a new item."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from organizations.authorization import Permission, Resource, authorize
from organizations.errors import OrganizationNotFound
from organizations.operations.holding import hold
from stigmer.core.callers import Act, Caller
from stigmer.core.errors import InvalidRequest, StoreUnavailable
from stigmer.core.grams import fold
from stigmer.core.idempotency import Request, check_same, keyed
from stigmer.core.ids import new_id
from stigmer.core.secrets import refuse_secrets
from workitems import queries
from workitems.errors import ExternalKeyInUse, TenantForbidden
from workitems.operations.writing import Note, note_params, tell
from workitems.queries import ItemRow, ItemView
from workitems.states import EventKind, Visibility, WorkItemState

_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Created:
    """The item that a create resolved to, and whether it is new."""

    view: ItemView
    created: bool


def creatable(caller: Caller, tenant: object) -> str:
    """The organization that a create names, if the caller may write there.

    Raises InvalidRequest, TenantForbidden, PermissionDenied, OrganizationNotFound.
    """
    if tenant is None or tenant == "":
        raise InvalidRequest("tenant is required", pointer="/tenant", fault="missing")
    if not isinstance(tenant, str):
        raise InvalidRequest("tenant must be a text", pointer="/tenant", fault="wrong_type")
    authorize(
        caller,
        Permission.WRITE,
        Resource("organization", tenant, tenant),
        missing=TenantForbidden,
    )
    queries.need_live(caller, tenant)
    return tenant


@transaction.atomic
def create_work_item(
    *,
    tenant: str,
    title: str,
    external_key: str,
    visibility: Visibility,
    by: Act,
    now: datetime,
    facts: dict[str, Any],
) -> Created:
    """Open an item, or answer the one that the key or the external key already stands for.

    `by.surface` becomes the origin surface; `facts` is the validated body that the key binds.
    Raises TenantForbidden, PermissionDenied, OrganizationNotFound, SecretInText,
    IdempotencyKeyReused, ExternalKeyInUse.
    """
    creatable(by.caller, tenant)
    refuse_secrets(title=title, external_key=external_key)
    if not hold(tenant):
        raise TenantForbidden if by.caller.role_in(tenant) else OrganizationNotFound
    request = keyed(operation="create", target=tenant, body=facts, by=by)
    item = ItemRow(
        id=new_id("wi"),
        organization=tenant,
        owner=by.actor,
        visibility=visibility.value,
        origin_surface=by.surface,
        title=title,
        external_key=external_key,
        state=WorkItemState.ACTIVE.value,
        waiting_reason="",
        superseded_by=None,
        state_version=1,
        created_by=by.actor,
        created_at=now,
        updated_at=now,
        completed_at=None,
        last_event_seq=1,
    )
    if request is not None and not _claim(item, request, now):
        return _replay(item, request, by=by, now=now)
    return _resolve(item, request, by=by, now=now)


def _resolve(item: ItemRow, request: Request | None, *, by: Act, now: datetime) -> Created:
    # Each round is a fresh look: the item that stood in the way may have ended meanwhile.
    for _ in range(_ROUNDS):
        if _insert(item, by=by, now=now):
            tell("created", item.id, by=by)
            return Created(ItemView(item), created=True)
        holder = queries.lock_open(item.organization, item.external_key)
        if holder is not None:
            return _dedupe(holder, item, request, by=by)
    raise StoreUnavailable("open work with this external key keeps changing; retry")


def _dedupe(holder: ItemRow, wanted: ItemRow, request: Request | None, *, by: Act) -> Created:
    shared = holder.visibility == Visibility.TENANT or holder.owner == by.actor
    if holder.visibility != wanted.visibility or not shared:
        raise ExternalKeyInUse
    if request is not None:
        with connection.cursor() as cursor:
            cursor.execute(_POINT, [holder.id, wanted.organization, request.key])
    tell("deduped", holder.id, by=by)
    return Created(queries.view_of(holder), created=False)


_CLAIM = """
INSERT INTO workitems_createrequest (
    organization, idempotency_key, operation, request_hash, actor, work_item, created_at
) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (organization, idempotency_key) DO NOTHING RETURNING 1
"""
_KEPT = """
SELECT operation, actor, request_hash, work_item FROM workitems_createrequest
WHERE organization = %s AND idempotency_key = %s
"""
_POINT = """
UPDATE workitems_createrequest SET work_item = %s WHERE organization = %s AND idempotency_key = %s
"""
_INSERT = """
WITH item AS (
    INSERT INTO workitems_workitem (
        id, organization, owner, visibility, origin_surface, title, external_key, state,
        waiting_reason, state_version, created_by, created_at, updated_at, last_event_seq
    ) VALUES (
        %(id)s, %(organization)s, %(actor)s, %(visibility)s, %(surface)s, %(title)s,
        %(external_key)s, 'active', '', 1, %(actor)s, %(now)s, %(now)s, 1
    )
    ON CONFLICT (organization, external_key)
        WHERE state IN ('active', 'waiting') AND NOT external_key = '' DO NOTHING
    RETURNING id
), title AS (
    INSERT INTO workitems_workitemtitle (work_item, organization, folded)
    SELECT id, %(organization)s::text, %(folded)s::text FROM item
)
INSERT INTO workitems_workitemevent (
    work_item, seq, kind, from_state, to_state, actor, acting_principal, surface, request_id,
    detail, created_at
)
SELECT id, 1, %(kind)s::text, %(from_state)s::text, %(to_state)s::text, %(actor)s::text,
    %(acting)s::text, %(surface)s::text, %(request_id)s::text, %(detail)s::jsonb,
    %(now)s::timestamptz
FROM item RETURNING seq
"""


def _claim(item: ItemRow, request: Request, now: datetime) -> bool:
    """Take the key for this item; false when somebody committed it (a claim in flight is awaited).

    The key points at an item that this transaction inserts later: the foreign key is deferred.
    """
    values = (request.key, request.operation, request.digest, request.actor, item.id, now)
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [item.organization, *values])
        return cursor.fetchone() is not None


def _replay(item: ItemRow, request: Request, *, by: Act, now: datetime) -> Created:
    for _ in range(_ROUNDS):
        with connection.cursor() as cursor:
            cursor.execute(_KEPT, [item.organization, request.key])
            row = cursor.fetchone()
        if row is not None:
            check_same(row[:3], request)
            return Created(queries.view(by.caller, row[3]), created=False)
        # Retention removed the receipt between the two looks: the key is free again.
        if _claim(item, request, now):
            return _resolve(item, request, by=by, now=now)
    raise StoreUnavailable("this idempotency key keeps changing; retry")


def _insert(item: ItemRow, *, by: Act, now: datetime) -> bool:
    note = Note(EventKind.CREATED, to_state=item.state)
    params = {
        "id": item.id,
        "organization": item.organization,
        "visibility": item.visibility,
        "title": item.title,
        "external_key": item.external_key,
        "folded": fold(item.title),
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, params | note_params(note, by=by, now=now))
        return cursor.fetchone() is not None
