"""What every write of a document shares: rows in and out, versions, the log."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any

from django.db.models import Max

from organizations.authorization import Permission, authorize
from organizations.authorization import Resource as Protected
from organizations.errors import OrganizationNotFound
from organizations.operations import audit
from organizations.operations.holding import hold
from resources.documents import Document, Draft, as_json, in_order
from resources.kinds import KINDS, Kind
from resources.models import Resource, ResourceVersion
from stigmer.core.callers import Act, Caller
from stigmer.core.canonical import canonical
from stigmer.core.constraints import refusing
from stigmer.core.errors import AlreadyExists, InvalidRequest
from stigmer.core.ids import new_id
from stigmer.core.search import fold

DENIED = "you may not write in this organization"


def creatable(caller: Caller, document: Any) -> str:
    """The organization that a document names, if the caller may write there.

    Raises InvalidRequest, OrganizationNotFound, PermissionDenied.
    """
    metadata = document.get("metadata") if isinstance(document, dict) else None
    org = metadata.get("org") if isinstance(metadata, dict) else None
    if org is None or org == "":
        raise InvalidRequest("metadata.org is required", pointer="/metadata/org", fault="missing")
    if not isinstance(org, str):
        raise InvalidRequest("org must be a text", pointer="/metadata/org", fault="wrong_type")
    authorize(
        caller,
        Permission.WRITE,
        Protected("organization", org, org),
        missing=OrganizationNotFound,
        denied=DENIED,
    )
    return org


def hold_organization(org: str) -> None:
    """Keep the organization from being deleted meanwhile. Raises OrganizationNotFound."""
    if not hold(org):
        raise OrganizationNotFound


def insert(kind: Kind, draft: Draft, status: dict[str, Any], *, by: Act, now: datetime) -> Document:
    """Store a new document and, where the kind keeps versions, its first version.

    Raises AlreadyExists.
    """
    document = Document(
        id=new_id(kind.prefix),
        kind=kind.name,
        organization=draft.org,
        slug=draft.slug,
        name=draft.name,
        visibility=draft.visibility,
        labels=draft.labels,
        annotations=draft.annotations,
        tags=draft.tags,
        spec=draft.spec,
        status=in_order(status),
        resource_version=1,
        created_at=now,
        created_by=by.actor,
        updated_at=now,
        updated_by=by.actor,
    )
    refusal = partial(taken, kind.name, draft.org, draft.slug)
    with refusing(resource_slug_once=refusal, resource_default_instance_once=refusal):
        Resource.objects.bulk_create([_row(document, draft.sealed)])
    if kind.versioned:
        archive(document, by=by, now=now)
    note("resource_created", document, by)
    return document


def taken(kind: str, org: str, slug: str) -> AlreadyExists:
    """The refusal of a slug that another document of the kind has."""
    return AlreadyExists(f"the slug {slug} is taken in {org}", kind=kind, org=org, slug=slug)


def rewrite(
    before: Document, draft: Draft, status: dict[str, Any], *, by: Act, now: datetime
) -> Document:
    """Store a locked document anew; a changed spec becomes a version where the kind keeps them."""
    document = before._replace(
        name=draft.name,
        visibility=draft.visibility,
        labels=draft.labels,
        annotations=draft.annotations,
        tags=draft.tags,
        spec=draft.spec,
        status=in_order(status),
        resource_version=before.resource_version + 1,
        updated_at=now,
        updated_by=by.actor,
    )
    Resource.objects.filter(pk=before.id).update(
        **{field: getattr(document, field) for field in _CHANGING},
        updated_by_id=by.actor,
        sealed=draft.sealed,
        words=_words(document),
    )
    if KINDS[document.kind].versioned and hash_of(document.spec) != hash_of(before.spec):
        archive(document, by=by, now=now)
    note("resource_changed", document, by)
    return document


_CHANGING = (
    "name", "visibility", "labels", "annotations", "tags", "spec", "status", "resource_version",
    "updated_at",
)  # fmt: skip


def hash_of(spec: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON (RFC 8785) of a spec."""
    return sha256(canonical(spec)).hexdigest()


def archive(document: Document, *, by: Act, now: datetime) -> ResourceVersion:
    """Keep the whole document as its newest version; its row is locked or new."""
    newest = ResourceVersion.objects.filter(resource=document.id).aggregate(Max("archived_at"))
    # A clock that went back must not hide the current spec behind an older one.
    at = max(now, newest["archived_at__max"] or now)
    return ResourceVersion.objects.create(
        kind=document.kind,
        resource_id=document.id,
        version_hash=hash_of(document.spec),
        archived_at=at,
        archived_by_id=by.actor,
        snapshot=as_json(document),
    )


def note(event: str, document: Document, by: Act) -> None:
    """Log a write once it is committed: ids, never content."""
    audit.record(
        event, by=by, kind=document.kind, id=document.id, organization=document.organization
    )


def _row(document: Document, sealed: dict[str, str]) -> Resource:
    plain = document._asdict()
    keys = {f"{name}_id": plain.pop(name) for name in ("organization", "created_by", "updated_by")}
    return Resource(**plain, **keys, sealed=sealed, words=_words(document))


def _words(document: Document) -> dict[str, str]:
    texts = {
        "name": document.name,
        "tags": " ".join(document.tags),
        "description": document.spec.get("description") or "",
    }
    return {key: fold(text) for key, text in texts.items() if text}


def remove(document: Document, *, by: Act) -> None:
    """Delete a locked document; the database deletes its versions with it."""
    Resource.objects.filter(pk=document.id).delete()
    note("resource_deleted", document, by)
