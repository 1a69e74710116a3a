"""The routes of what hangs on a work item."""

from __future__ import annotations

from django.http import HttpResponse

from stigmer.core.errors import (
    InvalidTransition,
    PermissionDenied,
)
from stigmer.core.secrets import SecretInText
from stigmer.http.pagination import cursor_for
from stigmer.http.views import Call, Door, door, reply
from workitems import operations, queries
from workitems.api import answers, bodies, paging, showing
from workitems.api.views.shared import KEYED, NEW_OR_KNOWN, SEEN, given, status_of
from workitems.errors import ExecutionActive, IntentNotFound, WorkItemNotFound
from workitems.states import Engine, Phase


class Executions(Door):
    """Attach and list the executions of a work item."""

    @door(
        summary="Correlate a work item with a run, or record its later phase",
        body=bodies.AttachExecution,
        answer=answers.ExecutionAnswer,
        gate=queries.writable,
        statuses=NEW_OR_KNOWN,
        refusals=(*KEYED, InvalidTransition, ExecutionActive),
        rate="writes",
        keyed=True,
    )
    def post(self, call: Call, item: str) -> HttpResponse:
        body = call.body
        made = operations.attach_execution(
            item=item,
            run=operations.Run(Engine(body.engine), body.engine_ref),
            phase=Phase(body.phase),
            by=call.act(),
            now=call.now,
            facts=call.facts(),
        )
        execution = showing.execution_of(made.execution)
        answer = answers.ExecutionAnswer(execution=execution, created=made.created)
        return reply(answer, status_of(made.created))

    @door(
        summary="List the executions of a work item by attempt",
        answer=answers.Executions,
        gate=queries.readable,
        refusals=SEEN,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        found = queries.executions(call.caller, item)
        return reply(answers.Executions(executions=[showing.execution_of(row) for row in found]))


class Intents(Door):
    """Append and list what was asked for on a work item."""

    @door(
        summary="Append an intent",
        body=bodies.AppendIntent,
        answer=answers.AppendedAnswer,
        gate=queries.writable,
        statuses=NEW_OR_KNOWN,
        refusals=(*KEYED, SecretInText, InvalidTransition),
        rate="writes",
        keyed=True,
    )
    def post(self, call: Call, item: str) -> HttpResponse:
        body = call.body
        made = operations.append_intent(
            item=item,
            text=body.text,
            params=body.params,
            by=call.act(body.surface),
            now=call.now,
            facts=call.facts(),
        )
        intent = showing.intent_of(made.intent)
        answer = answers.AppendedAnswer(intent=intent, created=made.created)
        return reply(answer, status_of(made.created))

    @door(
        summary="List the intents of a work item",
        query=bodies.IntentsQuery,
        answer=answers.Intents,
        gate=queries.readable,
        refusals=SEEN,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        limit, after = paging.limit_of(call), paging.behind(call.query.after_id)
        found = queries.intents(call.caller, item, after, limit + 1)
        shown = [showing.intent_of(row) for row in found[:limit]]
        return reply(answers.Intents(intents=shown, truncated=len(found) > limit))


class Intent(Door):
    """Read one intent."""

    @door(
        summary="Read an intent",
        answer=answers.IntentAnswer,
        gate=lambda caller, item, intent: queries.readable(caller, item),
        refusals=(*SEEN, IntentNotFound),
        etag=True,
    )
    def get(self, call: Call, item: str, intent: str) -> HttpResponse:
        found = queries.intent(call.caller, item, intent)
        return reply(answers.IntentAnswer(intent=showing.intent_of(found)))


class Events(Door):
    """Read what happened to a work item."""

    @door(
        summary="List the events of a work item",
        query=bodies.EventsQuery,
        answer=answers.Events,
        gate=queries.readable,
        refusals=SEEN,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        limit, after = paging.limit_of(call), paging.behind(call.query.after_seq)
        found = queries.events(call.caller, item, after, limit + 1)
        shown = [showing.event_of(row) for row in found[:limit]]
        return reply(answers.Events(events=shown, truncated=len(found) > limit))


class SurfaceRefs(Door):
    """Remember and list where conversations about a work item go on."""

    @door(
        summary="Remember a conversation of a surface",
        body=bodies.LinkSurface,
        answer=answers.SurfaceRefAnswer,
        gate=queries.writable,
        statuses={201: "New.", 200: "Known; seen again now."},
        refusals=(WorkItemNotFound, PermissionDenied, SecretInText),
        rate="writes",
    )
    def post(self, call: Call, item: str) -> HttpResponse:
        body = call.body
        made = operations.link_surface(
            item=item,
            surface=body.surface,
            external_id=body.external_id,
            actor_external_id=given(body.actor_external_id, ""),
            by=call.act(body.surface),
            now=call.now,
        )
        ref = showing.surface_ref_of(made.ref)
        return reply(answers.SurfaceRefAnswer(surface_ref=ref), status_of(made.created))

    @door(
        summary="List the surface references of a work item",
        query=bodies.PageQuery,
        answer=answers.SurfaceRefPage,
        gate=queries.readable,
        refusals=SEEN,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        limit, filters = paging.limit_of(call), paging.filters_of(call, item=item)
        position = paging.texts(call, item, filters)
        rows = queries.surface_refs(call.caller, item, position, limit + 1)
        shown = rows[:limit]
        more = len(rows) > limit
        cursor = cursor_for((shown[-1].surface, shown[-1].external_id), filters) if more else None
        items = [showing.surface_ref_of(row) for row in shown]
        return reply(answers.SurfaceRefPage(items=items, next_cursor=cursor))
