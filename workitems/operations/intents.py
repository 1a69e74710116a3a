"""Intents: what was asked for on an item, in the words it was asked in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from stigmer.core import texts
from stigmer.core.callers import Act
from stigmer.core.canonical import canonical
from stigmer.core.errors import InvalidRequest
from stigmer.core.idempotency import keyed
from stigmer.core.secrets import refuse_secrets
from workitems import queries
from workitems.models import WorkItemIntent
from workitems.operations.writing import Note, lock, record
from workitems.queries import IntentRow
from workitems.states import EventKind

PARAMS_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Appended:
    """The intent as it is now, and whether it is new."""

    intent: IntentRow
    created: bool


@transaction.atomic
def append_intent(
    *,
    item: str,
    text: str,
    params: dict[str, Any] | None,
    by: Act,
    now: datetime,
    facts: dict[str, Any],
) -> Appended:
    """Record what was asked for on an open item.

    Raises WorkItemNotFound, PermissionDenied, SecretInText, IdempotencyKeyReused,
    InvalidTransition on a terminal item.
    """
    _need_fitting(params)
    refuse_secrets(text=text, params=params)
    request = keyed(operation="append_intent", target=item, body=facts, by=by)
    under = lock(item, by=by)
    if under.replays(request):
        return Appended(queries.intent(by.caller, item, under.result_id), created=False)
    under.need_open("append an intent")
    made = WorkItemIntent.objects.create(
        work_item_id=item,
        actor_id=by.actor,
        surface=by.surface,
        text=text,
        params=params,
        created_at=now,
    )
    note = Note(EventKind.INTENT_APPENDED, detail={"intent_id": made.id})
    record(under.item, note, by=by, now=now, request=request, result_id=str(made.id))
    row = IntentRow(made.id, item, by.actor, by.surface, text, params, now)
    return Appended(row, created=True)


def _need_fitting(params: dict[str, Any] | None) -> None:
    if params is None:
        return
    _need_text(params, "/params")
    if len(canonical(params)) > PARAMS_BYTES:
        raise InvalidRequest(
            f"params has more than {PARAMS_BYTES} bytes in canonical JSON",
            pointer="/params",
            fault="too_long",
        )


def _need_text(value: Any, pointer: str) -> None:
    """Every key and string is text as an intent is; the body's depth bounds the recursion."""
    if isinstance(value, str):
        texts.check_text(value, pointer=pointer, max_bytes=PARAMS_BYTES, min_bytes=0)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _need_text(key, pointer)
            _need_text(inner, pointer + "/" + key.replace("~", "~0").replace("/", "~1"))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _need_text(inner, f"{pointer}/{index}")
