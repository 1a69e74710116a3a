"""What happened to an item, and what hangs on it, as tables."""

from __future__ import annotations

import json
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stigmer.console.base import Table, badge, code, moment, prose
from workitems.models import SurfaceRef, WorkItemEvent, WorkItemExecution, WorkItemIntent
from workitems.states import EventKind

SHOWN = 200


def timeline(item: str) -> Table:
    """Events in their order, newest first, each intent's text at the event that recorded it."""
    events = list(WorkItemEvent.objects.filter(work_item=item).order_by("-seq")[: SHOWN + 1])
    shown = events[:SHOWN]
    named = [e.detail.get("intent_id") for e in shown if e.kind == EventKind.INTENT_APPENDED]
    intents = WorkItemIntent.objects.filter(work_item=item, id__in=named).in_bulk() if named else {}
    return Table(
        "Timeline",
        ("No.", "When", "What", "Who", "Surface"),
        [
            (
                event.seq,
                moment(event.created_at),
                _what(event, intents.get(event.detail.get("intent_id"))),
                _who(event),
                prose(event.surface),
            )
            for event in shown
        ],
        note=f"The newest {SHOWN} are shown." if len(events) > SHOWN else "",
    )


def _who(event: WorkItemEvent) -> SafeString:
    if event.acting_principal_id is None:
        return prose(event.actor_id)
    return format_html("{} through {}", event.actor_id, event.acting_principal_id)


def _what(event: WorkItemEvent, intent: WorkItemIntent | None) -> SafeString:
    parts: list[Any] = [badge(event.kind.replace("_", " "), "event")]
    if event.from_state or event.to_state:
        parts.append(_move(event))
    if intent is not None:
        parts.append(_intent(intent))
    elif event.detail:
        parts.append(_detail(event.detail))
    return format_html_join("", '<div class="entry">{}</div>', ((part,) for part in parts))


def _move(event: WorkItemEvent) -> SafeString:
    target = badge(event.to_state) if event.to_state else ""
    if not event.from_state:
        return format_html("{}", target)
    return format_html("{} → {}", badge(event.from_state), target)


def _intent(intent: WorkItemIntent) -> SafeString:
    if intent.text is None:
        return format_html('<em class="redacted">{}</em>', "redacted")
    said = prose(intent.text)
    if intent.params is None:
        return said
    return format_html("{}{}", said, _pre(intent.params))


def _detail(detail: dict[str, Any]) -> SafeString:
    return format_html_join(
        "", "<div>{}: {}</div>", ((key.replace("_", " "), _flat(v)) for key, v in detail.items())
    )


def _flat(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pre(value: Any) -> SafeString:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return format_html('<pre class="params">{}</pre>', text)


def executions(item: str) -> Table:
    """Runs of engines for this item, the latest attempt first."""
    found = list(WorkItemExecution.objects.filter(work_item=item).order_by("-attempt")[: SHOWN + 1])
    return Table(
        "Executions",
        ("Attempt", "Phase", "Engine", "Reference", "Id", "Resumed from", "Started", "Ended"),
        [
            (
                run.attempt,
                badge(run.phase),
                run.engine,
                code(run.engine_ref),
                code(run.id),
                code(run.resumed_from_id),
                moment(run.started_at),
                moment(run.ended_at),
            )
            for run in found[:SHOWN]
        ],
        empty="No execution yet.",
        note=f"The newest {SHOWN} are shown." if len(found) > SHOWN else "",
    )


def surface_refs(item: str) -> Table:
    """The conversations about this item."""
    found = list(
        SurfaceRef.objects.filter(work_item=item).order_by("surface", "external_id")[: SHOWN + 1]
    )
    return Table(
        "Surface references",
        ("Surface", "Conversation", "Person there", "First seen", "Last seen"),
        [
            (
                ref.surface,
                code(ref.external_id),
                code(ref.actor_external_id),
                moment(ref.first_seen_at),
                moment(ref.last_seen_at),
            )
            for ref in found[:SHOWN]
        ],
        empty="No conversation is linked.",
        note=f"The first {SHOWN} are shown." if len(found) > SHOWN else "",
    )
