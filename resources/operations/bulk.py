"""Deletes of many documents: maintenance, and what a deleted organization leaves."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from resources.kinds import TRUSTED, stored
from resources.models import Resource
from stigmer.core.callers import Act
from stigmer.core.errors import PermissionDenied


@transaction.atomic
def delete_by_kind(*, kind: str, by: Act) -> int:
    """Delete every document of a kind with its versions; how many there were.

    Maintenance, which asks nobody whether they are in use. Raises UnknownKind, PermissionDenied.
    """
    _let_maintain(by)
    return _delete(kind=stored(kind).name)


@transaction.atomic
def delete_by_id_prefix(*, prefix: str, by: Act) -> int:
    """Delete every document whose id starts with these characters, none of which is a wildcard.

    An empty prefix deletes nothing. Raises PermissionDenied.
    """
    _let_maintain(by)
    return _delete(id__startswith=prefix) if prefix else 0


def delete_trusted(organization: str, now: datetime) -> dict[str, int]:
    """The gate of an organization's delete: what grants trust or acts by itself goes at once."""
    _delete(organization=organization, kind__in=TRUSTED)
    return {}


@transaction.atomic
def purge(cutoff: datetime, size: int) -> int:
    """Delete at most `size` documents that deleted organizations left; how many there were."""
    left = _left().select_for_update(of=("self",), skip_locked=True)
    return _delete(pk__in=list(left.values_list("pk", flat=True)[:size]))


def left_by_deleted(cutoff: datetime) -> int:
    """How many documents deleted organizations left."""
    return _left().count()


def _left() -> QuerySet[Resource]:
    return Resource.objects.filter(organization__retired_at__isnull=False)


def _delete(**which: Any) -> int:
    # The database deletes the versions.
    count, _ = Resource.objects.filter(**which).delete()
    return count


def _let_maintain(by: Act) -> None:
    if not by.caller.sees_all:
        raise PermissionDenied("only a platform admin deletes documents in bulk")
