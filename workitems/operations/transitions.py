"""Transitions: wait, complete, supersede, archive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from organizations.authorization import Permission, permitted
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidRequest, InvalidTransition
from stigmer.core.idempotency import keyed
from workitems import queries
from workitems.operations.writing import Change, Note, Under, lock, move
from workitems.queries import ItemRow, ItemView
from workitems.states import LIFECYCLE, EventKind, WorkItemState

BAD_SUCCESSOR = "superseded_by is not a work item you can see"


@dataclass(frozen=True, slots=True)
class Moved:
    """The item after a transition, and whether an earlier request had made it."""

    view: ItemView
    replayed: bool


@transaction.atomic
def transition(
    *,
    item: str,
    action: str,
    expected_state_version: int,
    by: Act,
    now: datetime,
    facts: dict[str, Any],
    waiting_reason: str = "",
    superseded_by: str | None = None,
    unchanged: Callable[[ItemView], bool] | None = None,
) -> Moved:
    """Move an item along its lifecycle.

    `unchanged` judges the caller's `If-Match` on the item as it is under the lock.
    Raises WorkItemNotFound, PermissionDenied, IdempotencyKeyReused, PreconditionFailed,
    StateVersionConflict, InvalidTransition, InvalidRequest for a bad successor.
    """
    request = keyed(operation="transition", target=item, body=facts, by=by)
    under = lock(item, by=by)
    if under.replays(request):
        return Moved(under.view, replayed=True)
    under.need_unchanged(unchanged)
    under.need_version(expected_state_version)
    target = _target(under, action)
    successor = None if superseded_by is None else _successor(under, superseded_by, by)
    note = Note(EventKind.STATE_CHANGED, under.item.state, target.value, _detail(waiting_reason))
    change = Change(target, waiting_reason, superseded_by)
    moved = move(under, change, note, by=by, now=now, request=request)
    return Moved(ItemView(queries.beside(moved, successor), under.latest), replayed=False)


def _detail(waiting_reason: str) -> dict[str, Any]:
    return {"waiting_reason": waiting_reason} if waiting_reason else {}


def _target(under: Under, action: str) -> WorkItemState:
    target = LIFECYCLE.move(under.item.state, action)
    if target is None:
        raise under.conflict(InvalidTransition, f"cannot {action} when {under.item.state}")
    return target


def _successor(under: Under, superseded_by: str, by: Act) -> ItemRow:
    found = queries.find(superseded_by)
    if (
        found is None
        or found.id == under.item.id
        or found.organization != under.item.organization
        or not permitted(by.caller, Permission.READ, queries.resource_of(found))
    ):
        raise InvalidRequest(BAD_SUCCESSOR, pointer="/superseded_by", fault="not_found")
    return found
