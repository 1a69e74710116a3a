"""Versions: tags, rollback, the end of all versions of a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection, transaction

from organizations.authorization import Permission
from resources.documents import Document, draft_of
from resources.errors import ResourceNotFound
from resources.kinds import stored
from resources.models import ResourceVersion
from resources.operations import writing
from resources.queries import documents as reading
from resources.queries import versions as reading_versions
from resources.queries.versions import Version
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidRequest, PreconditionFailed

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def check_tag(tag: str) -> str:
    """A tag of the right form. Raises InvalidRequest."""
    if not _TAG.fullmatch(tag):
        raise InvalidRequest(
            "tag must match ^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", pointer="tag", fault="pattern"
        )
    return tag


@transaction.atomic
def set_tag(
    *,
    kind: str,
    id: str,
    tag: str,
    version_hash: str,
    expected: Callable[[Version | None], bool] | None = None,
    by: Act,
    now: datetime,
) -> Version:
    """Give a tag to the newest version with this hash; whoever held it holds it no more.

    A tag the version had is replaced. Raises UnknownKind, ResourceNotFound, PermissionDenied,
    InvalidRequest, PreconditionFailed when `expected` says no of the holder, VersionNotFound; each
    changes nothing.
    """
    document, _ = _locked(kind, id, by)
    check_tag(tag)
    if expected is not None and not expected(reading_versions.holder(kind, document.id, tag)):
        raise PreconditionFailed
    target = reading_versions.by_hash(document.kind, document.id, version_hash)
    if target.tag != tag:
        held = ResourceVersion.objects.filter(resource=document.id, tag=tag)
        held.update(tag=None)
        ResourceVersion.objects.filter(pk=target.id).update(tag=tag)
        writing.note("resource_tagged", document, by)
    return target._replace(tag=tag)


@transaction.atomic
def rollback(
    *,
    kind: str,
    id: str,
    version_hash: str,
    expected: Callable[[Document], bool] | None = None,
    by: Act,
    now: datetime,
) -> Document:
    """Give a document the spec it had in the newest version with this hash, as a new version.

    Raises UnknownKind, ResourceNotFound, PermissionDenied, PreconditionFailed when `expected` says
    no, VersionNotFound, InvalidRequest when today's rules refuse that spec.
    """
    document, sealed = _locked(kind, id, by)
    if expected is not None and not expected(document):
        raise PreconditionFailed
    target = reading_versions.by_hash(document.kind, document.id, version_hash)
    metadata = {"org": document.organization, "name": document.name}
    draft = draft_of(stored(kind), metadata, target.snapshot["spec"], document, sealed)
    rolled = writing.rewrite(document, draft, document.status, by=by, now=now)
    if writing.hash_of(rolled.spec) == writing.hash_of(document.spec):
        # A changed spec has become a version already; a rollback always becomes one.
        writing.archive(rolled, by=by, now=now)
    return rolled


@transaction.atomic
def delete_versions(*, kind: str, id: str) -> int:
    """Delete every version of a document; how many there were, 0 when run again."""
    with _purging():
        count, _ = ResourceVersion.objects.filter(kind=kind, resource=id).delete()
    return count


def _locked(kind: str, id: str, by: Act) -> tuple[Document, dict[str, str]]:
    # One lock for all tags of a document: of two moves the second sees what the first did.
    found = reading.locked(stored(kind).name, id)
    if found is None:
        raise ResourceNotFound.of(kind, id)
    reading.check(by.caller, found[0], Permission.WRITE)
    return found


@contextmanager
def _purging() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('stigmer.purge', 'on', true)")
        yield
        cursor.execute("SELECT set_config('stigmer.purge', 'off', true)")
