"""Create, apply, update, replace, delete: one document, one transaction."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from organizations.authorization import Permission
from resources.documents import MANAGED, Document, as_json, draft_of, metadata_of, slug_of
from resources.errors import ResourceNotFound
from resources.kinds import Kind, stored
from resources.operations import parents, versions, writing
from resources.queries import documents as reading
from stigmer.core.callers import Act
from stigmer.core.errors import (
    AlreadyExists,
    InvalidRequest,
    PreconditionFailed,
    StoreUnavailable,
)

Modify = Callable[[dict[str, Any]], dict[str, Any]]
Expected = Callable[[Document], bool]
Locked = tuple[Document, dict[str, str]]
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Applied:
    """The document as it is stored now, and what that took."""

    document: Document
    created: bool
    changed: bool = True


@transaction.atomic
def create(*, kind: str, document: dict[str, Any], by: Act, now: datetime) -> Document:
    """Store a new document, given as `{"metadata", "spec"}`.

    Raises UnknownKind, OrganizationNotFound, PermissionDenied, InvalidRequest, AlreadyExists, and
    what the parent of an instance is refused with.
    """
    known = stored(kind)
    org = writing.creatable(by.caller, document)
    _check_members(document, ("metadata", "spec"))
    writing.hold_organization(org)
    return _insert(known, document, by, now)


@transaction.atomic
def apply(
    *,
    kind: str,
    document: dict[str, Any],
    expected: Expected | None = None,
    by: Act,
    now: datetime,
) -> Applied:
    """Create the document, or give the one of this organization and slug this spec.

    Of an existing document the metadata that is absent stays as it is. Raises as `create` and
    `update`; AlreadyExists when the slug belongs to a document that the caller cannot see.
    """
    known = stored(kind)
    org = writing.creatable(by.caller, document)
    _check_members(document, ("metadata", "spec"))
    slug = slug_of(metadata_of(document["metadata"]))
    writing.hold_organization(org)
    for _ in range(_ROUNDS):
        found = reading.locked_by_slug(known.name, org, slug)
        if found is not None:
            _let_apply(found[0], by)
            return Applied(_replace(known, found, document, expected, by, now), created=False)
        if expected is not None:
            raise PreconditionFailed
        try:
            return Applied(_insert(known, document, by, now), created=True)
        except AlreadyExists:
            # Another create of this slug committed between the look and the insert.
            continue
    raise StoreUnavailable


@transaction.atomic
def ensure(*, kind: str, document: dict[str, Any], by: Act, now: datetime) -> Applied:
    """As `apply`, and nothing is written when the document says so already."""
    known = stored(kind)
    org = writing.creatable(by.caller, document)
    _check_members(document, ("metadata", "spec"))
    slug = slug_of(metadata_of(document["metadata"]))
    found = reading.locked_by_slug(known.name, org, slug)
    if found is not None:
        before, sealed = found
        draft = draft_of(known, document["metadata"], document.get("spec", {}), before, sealed)
        if draft.says(before, sealed):
            return Applied(before, created=False, changed=False)
    return apply(kind=kind, document=document, by=by, now=now)


@transaction.atomic
def update(
    *,
    kind: str,
    id: str,
    modify: Modify,
    expected: Expected | None = None,
    by: Act,
    now: datetime,
) -> Document:
    """Read, modify and store a document under its lock; `modify` gets the whole document.

    What `modify` raises propagates and nothing is written. Raises UnknownKind, ResourceNotFound,
    PermissionDenied, PreconditionFailed when `expected` says no, InvalidRequest.
    """
    known = stored(kind)
    found = reading.locked(known.name, id)
    if found is None:
        raise ResourceNotFound.of(kind, id)
    reading.check(by.caller, found[0], Permission.WRITE)
    changed = None
    if expected is None or expected(found[0]):
        changed = modify(copy.deepcopy(as_json(found[0])))
    return _replace(known, found, changed, expected, by, now)


@transaction.atomic
def replace_if_unchanged(
    *,
    kind: str,
    id: str,
    expected_version: int,
    document: dict[str, Any],
    by: Act,
    now: datetime,
) -> bool:
    """Store this whole document unless anything wrote since `expected_version`, or it is gone.

    Never inserts. Raises UnknownKind, InvalidRequest.
    """
    known = stored(kind)
    # After waiting for the lock PostgreSQL looks at the version again.
    found = reading.locked(known.name, id, resource_version=expected_version)
    if found is None or not reading.sees(by.caller, found[0]):
        return False
    reading.check(by.caller, found[0], Permission.WRITE)
    _replace(known, found, document, None, by, now)
    return True


@transaction.atomic
def delete(
    *, kind: str, id: str, expected: Expected | None = None, by: Act, now: datetime
) -> Document | None:
    """Delete a document with its versions, and a workflow with its default instance.

    Answers what was deleted, None when there was nothing that the caller can see. Raises
    UnknownKind, PermissionDenied, PreconditionFailed, InUse.
    """
    known = stored(kind)
    found = reading.locked_for_delete(known.name, [id])
    if not found or not reading.sees(by.caller, found[0]):
        return None
    document = reading.check(by.caller, found[0], Permission.WRITE)
    if expected is not None and not expected(document):
        raise PreconditionFailed
    for going in parents.going_with(document):
        if known.versioned:
            versions.delete_versions(kind=going.kind, id=going.id)
        writing.remove(going, by=by)
    return document


def _insert(known: Kind, document: dict[str, Any], by: Act, now: datetime) -> Document:
    draft = draft_of(known, document["metadata"], document.get("spec", {}))
    parents.check_parent(known, draft, by=by)
    return writing.insert(known, draft, parents.first_status(known), by=by, now=now)


def _replace(
    known: Kind,
    found: Locked,
    changed: Any,
    expected: Expected | None,
    by: Act,
    now: datetime,
) -> Document:
    before, sealed = found
    if expected is not None and not expected(before):
        raise PreconditionFailed
    _check_members(changed, ("metadata", "spec", "status", "api_version", "kind"))
    _check_managed(before, changed)
    metadata = {k: v for k, v in changed["metadata"].items() if k not in MANAGED}
    draft = draft_of(known, metadata, changed.get("spec", {}), before, sealed)
    parents.check_parent(known, draft, before, by=by)
    return writing.rewrite(before, draft, changed.get("status", before.status), by=by, now=now)


def _let_apply(document: Document, by: Act) -> None:
    try:
        reading.check(by.caller, document, Permission.WRITE)
    except ResourceNotFound:
        raise writing.taken(document.kind, document.organization, document.slug) from None


def _check_members(document: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(document, dict) or not isinstance(document.get("metadata"), dict):
        raise InvalidRequest("metadata is required", pointer="/metadata", fault="missing")
    for name in document:
        if name not in allowed:
            raise InvalidRequest(
                f"{name!r} is not a field of a document", pointer=f"/{name}", fault="unknown_field"
            )
    if not isinstance(document.get("status", {}), dict):
        raise InvalidRequest("status must be an object", pointer="/status", fault="wrong_type")


def _check_managed(before: Document, changed: dict[str, Any]) -> None:
    shown = as_json(before)
    given = [("metadata", name, shown["metadata"][name]) for name in MANAGED]
    for place, name, value in given:
        if changed[place].get(name, value) != value:
            raise InvalidRequest(
                f"{name} is written by the store alone",
                pointer=f"/{place}/{name}",
                fault="immutable",
            )
