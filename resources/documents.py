"""Documents as plain values: the row, the JSON that everybody sees, the draft of a write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import UNSET

from organizations.naming import check_slug, slug_from
from resources import secrets
from resources.kinds import KINDS, Kind
from resources.specs.metadata import Metadata, check_keys
from resources.states import Visibility
from stigmer.core.errors import InvalidRequest
from stigmer.http.fields import stamp
from stigmer.http.json_text import check_characters
from stigmer.http.parsing import typed

NAME_BYTES = 256
# What only the store writes.
MANAGED = ("id", "resource_version", "created_at", "created_by", "updated_at", "updated_by")


class Document(NamedTuple):
    """A stored document; sealed values are no part of it."""

    id: str
    kind: str
    organization: str
    slug: str
    name: str
    visibility: str
    labels: dict[str, str]
    annotations: dict[str, str]
    tags: list[str]
    spec: dict[str, Any]
    status: dict[str, Any]
    resource_version: int
    created_at: datetime
    created_by: str
    updated_at: datetime
    updated_by: str

    @property
    def private_to(self) -> str | None:
        """The one principal who sees it, or None."""
        return self.created_by if self.visibility == Visibility.PRIVATE else None


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything of a document that a caller decides, checked; sealed values apart."""

    name: str
    slug: str
    org: str
    visibility: str
    labels: dict[str, str]
    annotations: dict[str, str]
    tags: list[str]
    spec: dict[str, Any]
    sealed: dict[str, str]

    def says(self, document: Document, sealed: dict[str, str]) -> bool:
        """Whether this document, with these sealed values, holds all of it already."""
        return self.sealed == sealed and all(
            getattr(self, name) == getattr(document, name)
            for name in ("name", "visibility", "labels", "annotations", "tags", "spec")
        )


def as_json(document: Document) -> dict[str, Any]:
    """The whole document as JSON data; what snapshots, answers and `modify` see."""
    kind = KINDS[document.kind]
    return {
        "api_version": kind.group,
        "kind": kind.display,
        "metadata": {
            "id": document.id,
            "name": document.name,
            "slug": document.slug,
            "org": document.organization,
            "visibility": document.visibility,
            "labels": document.labels,
            "annotations": document.annotations,
            "tags": document.tags,
            "resource_version": document.resource_version,
            "created_at": stamp(document.created_at),
            "created_by": document.created_by,
            "updated_at": stamp(document.updated_at),
            "updated_by": document.updated_by,
        },
        "spec": document.spec,
        "status": document.status,
    }


def draft_of(
    kind: Kind,
    metadata: Any,
    spec: Any,
    before: Document | None = None,
    sealed: dict[str, str] | None = None,
) -> Draft:
    """Check what a caller wants to be stored; `before` and `sealed` are what is stored now.

    Metadata that is absent stays as it is. Raises InvalidRequest that names the place.
    """
    given = metadata_of(metadata)
    check_characters(spec, "/spec")
    if not isinstance(spec, dict):
        raise InvalidRequest("spec must be an object", pointer="/spec", fault="wrong_type")
    checked, kept = secrets.split(kind.name, _spec(kind, spec), sealed or {})
    return Draft(
        name=given.name,
        slug=slug_of(given) if before is None else _same(given, before),
        org=given.org,
        visibility=_or(given.visibility, before and before.visibility, Visibility.ORG.value),
        labels=in_order(_or(given.labels, before and before.labels, {})),
        annotations=in_order(_or(given.annotations, before and before.annotations, {})),
        tags=_or(given.tags, before and before.tags, []),
        spec=in_order(checked),
        sealed=kept,
    )


def in_order(value: Any) -> Any:
    """The same data with its keys as jsonb gives them back: by length, then by bytes.

    So the answer to a write and a later read are the same bytes, and have the same tag.
    """
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        return {key: in_order(value[key]) for key in keys}
    return [in_order(item) for item in value] if isinstance(value, list) else value


def metadata_of(data: Any) -> Metadata:
    """Metadata as a caller gives it. Raises InvalidRequest that names the place."""
    check_characters(data, "/metadata")
    try:
        given = typed(data, Metadata)
    except InvalidRequest as fault:
        raise _under("/metadata", fault) from None
    check_keys(given)
    return given


def _spec(kind: Kind, spec: dict[str, Any]) -> dict[str, Any]:
    try:
        return kind.rules(spec)
    except InvalidRequest as fault:
        raise _under("/spec", fault) from None


def _under(at: str, fault: InvalidRequest) -> InvalidRequest:
    return InvalidRequest(fault.detail, pointer=at + fault.pointer, fault=fault.fault)


def slug_of(given: Metadata) -> str:
    """The slug that is given, or the one that the name becomes. Raises InvalidRequest."""
    if given.slug is not UNSET:
        return check_slug(str(given.slug), pointer="/metadata/slug")
    derived = slug_from(given.name)
    if not derived:
        raise InvalidRequest(
            "no slug can be derived from this name; send a slug",
            pointer="/metadata/name",
            fault="no_slug",
        )
    return derived


def _same(given: Metadata, before: Document) -> str:
    fixed = (("slug", given.slug, before.slug), ("org", given.org, before.organization))
    for field, new, old in fixed:
        if new is not UNSET and new != old:
            raise InvalidRequest(
                "slug and org never change", pointer=f"/metadata/{field}", fault="immutable"
            )
    return before.slug


def _or(given: Any, before: Any, default: Any) -> Any:
    if given is not UNSET:
        return given
    return default if before is None else before
