"""Versions: what specs a document had."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from resources.errors import VersionNotFound
from resources.models import ResourceVersion

Position = tuple[datetime, int]


class Version(NamedTuple):
    """One archived spec; `snapshot` is the whole document as it was."""

    id: int
    version_hash: str
    tag: str | None
    archived_at: datetime
    archived_by: str
    snapshot: dict[str, Any]


def of(kind: str, id: str) -> QuerySet[ResourceVersion]:
    """The versions of a document, newest first; what the same moment archived, last first.

    Whether the caller may read the document has been decided.
    """
    found = ResourceVersion.objects.filter(kind=kind, resource=id)
    return found.order_by("-archived_at", "-id")


def after(found: QuerySet[ResourceVersion], position: Position | None) -> QuerySet[ResourceVersion]:
    """The versions behind this position (archived_at, id)."""
    if position is None:
        return found
    moment, id = position
    return found.filter(Q(archived_at__lte=moment) & (Q(archived_at__lt=moment) | Q(id__lt=id)))


def rows(found: QuerySet[ResourceVersion]) -> list[Version]:
    """These versions as plain values."""
    return [Version._make(row) for row in found.values_list(*Version._fields)]


def by_hash(kind: str, id: str, version_hash: str) -> Version:
    """The newest version with this hash. Raises VersionNotFound."""
    return _first(of(kind, id).filter(version_hash=version_hash), f"version {version_hash}")


def by_tag(kind: str, id: str, tag: str) -> Version:
    """The version that holds this tag. Raises VersionNotFound."""
    return _first(of(kind, id).filter(tag=tag), f"tag {tag}")


def holder(kind: str, id: str, tag: str) -> Version | None:
    """The version that holds this tag, or None."""
    return next(iter(rows(of(kind, id).filter(tag=tag)[:1])), None)


def latest_hash(kind: str, id: str) -> str:
    """The hash of the newest version. Raises VersionNotFound."""
    return _first(of(kind, id), "any version").version_hash


def count(kind: str, id: str) -> int:
    """How many versions the document has."""
    return of(kind, id).count()


def _first(found: QuerySet[ResourceVersion], what: str) -> Version:
    versions = rows(found[:1])
    if not versions:
        raise VersionNotFound(f"version not found: {what}")
    return versions[0]
