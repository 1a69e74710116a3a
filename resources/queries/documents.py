"""Documents: one, many, all of a kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from organizations.authorization import Permission, authorize, restrict
from organizations.authorization import Resource as Protected
from resources.documents import Document
from resources.errors import ResourceNotFound
from resources.kinds import KINDS
from resources.models import Resource
from resources.states import Visibility
from stigmer.core.callers import Caller
from stigmer.core.errors import InvalidRequest, PermissionDenied
from stigmer.core.ids import is_id

DENIED = "you may not change this resource"
_COLUMNS = Document._fields
# What a deleted organization left is invisible to everybody from the moment of the delete.
LIVE = Resource.objects.filter(organization__retired_at__isnull=True)


def find(kind: str, id: str) -> Document | None:
    """The document whoever asks, or None; what may be said of it is decided elsewhere."""
    if not is_id(KINDS[kind].prefix, id):
        return None
    return _one(LIVE.filter(pk=id, kind=kind))


def find_by_slug(kind: str, org: str, slug: str) -> Document | None:
    """The document of this slug whoever asks, or None."""
    return _one(LIVE.filter(kind=kind, organization=org, slug=slug))


def sees(viewer: Caller, document: Document | None) -> bool:
    """Whether the viewer may read this document."""
    if document is None:
        return False
    try:
        check(viewer, document, Permission.READ)
    except ResourceNotFound:
        return False
    return True


def check(viewer: Caller, document: Document, permission: str) -> Document:
    """The document, if the viewer has this permission on it; a public one is read by everybody.

    Raises ResourceNotFound, PermissionDenied, AuthorizationUnavailable.
    """
    public = document.visibility == Visibility.PUBLIC
    if public and permission == Permission.READ:
        return document
    protected = Protected(document.kind, document.id, document.organization, document.private_to)
    try:
        authorize(viewer, permission, protected, missing=ResourceNotFound, denied=DENIED)
    except ResourceNotFound:
        if public:
            raise PermissionDenied(DENIED) from None
        raise ResourceNotFound.of(document.kind, document.id) from None
    return document


def readable(viewer: Caller, kind: str, id: str) -> Document:
    """The document, if the viewer sees it. Raises ResourceNotFound."""
    return _allowed(viewer, find(kind, id), Permission.READ, kind, id)


def writable(viewer: Caller, kind: str, id: str) -> Document:
    """The document, if the viewer may change it. Raises ResourceNotFound, PermissionDenied."""
    return _allowed(viewer, find(kind, id), Permission.WRITE, kind, id)


def readable_by_slug(viewer: Caller, kind: str, org: str, slug: str) -> Document:
    """The document of this slug, if the viewer sees it. Raises ResourceNotFound."""
    found = find_by_slug(kind, org, slug)
    name = f"{org}/{slug}"
    if not sees(viewer, found):
        raise ResourceNotFound.of(kind, name)
    assert found is not None
    return found


def _allowed(
    viewer: Caller, document: Document | None, permission: str, kind: str, id: str
) -> Document:
    if document is None:
        raise ResourceNotFound.of(kind, id)
    return check(viewer, document, permission)


def _one(found: QuerySet[Resource]) -> Document | None:
    row = found.order_by("pk").values_list(*_COLUMNS).first()
    return None if row is None else Document._make(row)


# Lists --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows a list; all that are given hold together."""

    org: str | None = None
    parent: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    visibility: str | None = None


def documents(viewer: Caller, kind: str, filters: Filters) -> QuerySet[Resource]:
    """The documents of a kind in the viewer's organizations, newest first."""
    found = restrict(LIVE.filter(kind=kind), viewer, kind)
    exact = {
        "organization": filters.org,
        "parent": filters.parent,
        "visibility": filters.visibility,
    }
    found = found.filter(**{name: value for name, value in exact.items() if value is not None})
    if filters.labels:
        found = found.filter(labels__contains=dict(filters.labels))
        if len(dict(filters.labels)) < len(set(filters.labels)):
            found = found.none()  # one label cannot have two values
    return found.order_by("-created_at", "-id")


def after(found: QuerySet[Resource], position: tuple[datetime, str] | None) -> QuerySet[Resource]:
    """The rows behind this position (created_at, id) in the order of `documents`."""
    if position is None:
        return found
    moment, id = position
    return found.filter(Q(created_at__lte=moment) & (Q(created_at__lt=moment) | Q(id__lt=id)))


def rows(found: QuerySet[Resource]) -> list[Document]:
    """These documents as plain values."""
    return [Document._make(row) for row in found.values_list(*_COLUMNS)]


def scan(viewer: Caller, kind: str, after: str, limit: int) -> list[Document]:
    """The next documents of a kind in id order behind `after`, which is "" at first.

    Raises InvalidRequest.
    """
    if limit <= 0:
        raise InvalidRequest("limit must be positive", pointer="limit", fault="out_of_range")
    found = seen(viewer, kind).filter(id__gt=after).order_by("id")
    return rows(found[:limit])


def seen(viewer: Caller, kind: str) -> QuerySet[Resource]:
    """Every document of a kind that the viewer may read, public ones of others included."""
    live = LIVE.filter(kind=kind)
    if viewer.sees_all:
        return live
    return restrict(live, viewer, kind) | live.filter(visibility=Visibility.PUBLIC)


# Rows under the lock ------------------------------------------------------------------------------


def locked(kind: str, id: str, **more: Any) -> tuple[Document, dict[str, str]] | None:
    """Lock a document until the transaction ends; also its sealed values. None when it is gone."""
    if not is_id(KINDS[kind].prefix, id):
        return None
    return _with_sealed(LIVE.filter(pk=id, kind=kind, **more).locked())


def locked_by_slug(kind: str, org: str, slug: str) -> tuple[Document, dict[str, str]] | None:
    """As `locked`, for the document of this slug."""
    return _with_sealed(LIVE.filter(kind=kind, organization=org, slug=slug).locked())


def _with_sealed(found: QuerySet[Resource]) -> tuple[Document, dict[str, str]] | None:
    row = found.values_list(*_COLUMNS, "sealed").first()
    return None if row is None else (Document._make(row[:-1]), row[-1])


def locked_for_delete(kind: str, ids: Sequence[str]) -> list[Document]:
    """Lock documents against everything, also against those that only refer to them."""
    found = LIVE.filter(pk__in=ids, kind=kind).order_by("pk").select_for_update(of=("self",))
    return rows(found)


def held(kind: str, id: str) -> Document | None:
    """The document, which cannot be deleted until the transaction ends; other holders do not wait.

    None when it is gone.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [id, kind])
        found = cursor.fetchone()
    return None if found is None else find(kind, id)


_HOLD = "SELECT 1 FROM resources_resource WHERE id = %s AND kind = %s FOR KEY SHARE"


def instances_of(workflow: str) -> list[Document]:
    """Every instance of a workflow, by id."""
    found = LIVE.filter(kind="workflow_instance", parent=workflow).order_by("id")
    return rows(found)


def default_instance_of(workflow: str) -> Document | None:
    """The instance that the store made for a workflow, or None."""
    return _one(LIVE.filter(kind="workflow_instance", parent=workflow, status__default=True))
