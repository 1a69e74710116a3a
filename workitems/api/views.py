"""The routes of work items: typed body in, one domain call, plain data out."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import HttpResponse

from organizations.errors import OrganizationNotFound
from stigmer.core.errors import (
    IdempotencyKeyReused,
    InvalidRequest,
    PermissionDenied,
    PreconditionFailed,
)
from stigmer.core.secrets import SecretInText
from stigmer.http import etags
from stigmer.http.fields import UNSET
from stigmer.http.pagination import cursor_for
from stigmer.http.views import Call, Door, door, reply
from workitems import operations, queries
from workitems.api import paging, schemas
from workitems.errors import (
    ExecutionActive,
    ExternalKeyInUse,
    IntentNotFound,
    InvalidTransition,
    StateVersionConflict,
    TenantForbidden,
    WorkItemNotFound,
)
from workitems.states import Engine, Phase, Visibility

SEEN = (WorkItemNotFound,)
KEYED = (WorkItemNotFound, PermissionDenied, IdempotencyKeyReused)
NEW_OR_KNOWN = {201: "New.", 200: "Known: a replay or the same thing again."}


def _given(value: Any, absent: Any = None) -> Any:
    return absent if value is UNSET else value


class WorkItems(Door):
    """Open and list work items."""

    @door(
        summary="Open a work item",
        body=schemas.CreateWorkItem,
        answer=schemas.CreatedAnswer,
        gate=lambda caller, data: operations.creatable(caller, data.get("tenant")),
        statuses={201: "A new item.", 200: "The item that the key or the external key stands for."},
        refusals=(
            TenantForbidden, PermissionDenied, OrganizationNotFound, SecretInText,
            IdempotencyKeyReused, ExternalKeyInUse,
        ),
        rate="writes",
        keyed=True,
    )  # fmt: skip
    def post(self, call: Call) -> HttpResponse:
        body = call.body
        made = operations.create_work_item(
            tenant=body.tenant,
            title=body.title,
            external_key=_given(body.external_key, ""),
            visibility=Visibility(body.visibility),
            by=call.act(body.origin_surface),
            now=call.now,
            facts=call.facts(),
        )
        members = schemas.view_members(call.caller, made.view)
        return reply(schemas.CreatedAnswer(**members, created=made.created), _status(made.created))

    @door(
        summary="List work items, newest updated first",
        query=schemas.WorkItemsQuery,
        answer=schemas.WorkItemPage,
        refusals=(TenantForbidden, OrganizationNotFound),
    )
    def get(self, call: Call) -> HttpResponse:
        filters = paging.filters_of(call)
        queries.need_tenant(call.caller, filters.get("tenant"))
        limit, position = paging.limit_of(call), paging.moment_and_id(call, filters)
        rows = queries.page(call.caller, queries.Filters(**filters), position, limit + 1)
        shown = rows[:limit]
        more = len(rows) > limit
        cursor = cursor_for((shown[-1].updated_at, shown[-1].id), filters) if more else None
        items = [schemas.work_item_of(call.caller, row) for row in shown]
        return reply(schemas.WorkItemPage(items=items, next_cursor=cursor))


class WorkItem(Door):
    """Read one work item and move it along its lifecycle."""

    @door(
        summary="Read a work item",
        answer=schemas.ItemAnswer,
        gate=queries.readable,
        refusals=SEEN,
        etag=True,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        view = queries.view(call.caller, item)
        return reply(schemas.ItemAnswer(**schemas.view_members(call.caller, view)))

    @door(
        summary="Move a work item along its lifecycle",
        body=schemas.TransitionWorkItem,
        answer=schemas.MovedAnswer,
        gate=queries.writable,
        refusals=(*KEYED, PreconditionFailed, StateVersionConflict, InvalidTransition),
        rate="writes",
        keyed=True,
        if_match=True,
    )
    def patch(self, call: Call, item: str) -> HttpResponse:
        body = _transition_body(call.body)
        moved = operations.transition(
            item=item,
            action=body.action,
            expected_state_version=body.expected_state_version,
            waiting_reason=_given(body.waiting_reason, ""),
            superseded_by=_given(body.superseded_by),
            by=call.act(),
            now=call.now,
            facts=call.facts(),
            unchanged=_unchanged(call),
        )
        members = schemas.view_members(call.caller, moved.view)
        return reply(schemas.MovedAnswer(**members, replayed=moved.replayed))


class Resume(Door):
    """Start the next execution of a work item."""

    @door(
        summary="Resume a work item with its next execution",
        body=schemas.ResumeWorkItem,
        answer=schemas.ResumedAnswer,
        gate=queries.writable,
        statuses=NEW_OR_KNOWN,
        refusals=(*KEYED, PreconditionFailed, StateVersionConflict, InvalidTransition,
                  ExecutionActive),
        rate="writes",
        keyed=True,
        if_match=True,
    )  # fmt: skip
    def post(self, call: Call, item: str) -> HttpResponse:
        body = call.body
        made = operations.resume(
            item=item,
            expected_state_version=body.expected_state_version,
            run=operations.Run(Engine(body.engine), body.engine_ref),
            resumed_from=_given(body.resumed_from_execution_id),
            by=call.act(),
            now=call.now,
            facts=call.facts(),
            unchanged=_unchanged(call),
        )
        return reply(schemas.resumed_answer(call.caller, made), _status(made.created))


class Executions(Door):
    """Attach and list the executions of a work item."""

    @door(
        summary="Correlate a work item with a run, or record its later phase",
        body=schemas.AttachExecution,
        answer=schemas.ExecutionAnswer,
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
        execution = schemas.execution_of(made.execution)
        answer = schemas.ExecutionAnswer(execution=execution, created=made.created)
        return reply(answer, _status(made.created))

    @door(
        summary="List the executions of a work item by attempt",
        answer=schemas.Executions,
        gate=queries.readable,
        refusals=SEEN,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        found = queries.executions(call.caller, item)
        return reply(schemas.Executions(executions=[schemas.execution_of(row) for row in found]))


class Intents(Door):
    """Append and list what was asked for on a work item."""

    @door(
        summary="Append an intent",
        body=schemas.AppendIntent,
        answer=schemas.AppendedAnswer,
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
        intent = schemas.intent_of(made.intent)
        answer = schemas.AppendedAnswer(intent=intent, created=made.created)
        return reply(answer, _status(made.created))

    @door(
        summary="List the intents of a work item",
        query=schemas.IntentsQuery,
        answer=schemas.Intents,
        gate=queries.readable,
        refusals=SEEN,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        limit, after = paging.limit_of(call), paging.behind(call.query.after_id)
        found = queries.intents(call.caller, item, after, limit + 1)
        shown = [schemas.intent_of(row) for row in found[:limit]]
        return reply(schemas.Intents(intents=shown, truncated=len(found) > limit))


class Intent(Door):
    """Read one intent."""

    @door(
        summary="Read an intent",
        answer=schemas.IntentAnswer,
        gate=lambda caller, item, intent: queries.readable(caller, item),
        refusals=(*SEEN, IntentNotFound),
        etag=True,
    )
    def get(self, call: Call, item: str, intent: str) -> HttpResponse:
        found = queries.intent(call.caller, item, intent)
        return reply(schemas.IntentAnswer(intent=schemas.intent_of(found)))


class Events(Door):
    """Read what happened to a work item."""

    @door(
        summary="List the events of a work item",
        query=schemas.EventsQuery,
        answer=schemas.Events,
        gate=queries.readable,
        refusals=SEEN,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        limit, after = paging.limit_of(call), paging.behind(call.query.after_seq)
        found = queries.events(call.caller, item, after, limit + 1)
        shown = [schemas.event_of(row) for row in found[:limit]]
        return reply(schemas.Events(events=shown, truncated=len(found) > limit))


class SurfaceRefs(Door):
    """Remember and list where conversations about a work item go on."""

    @door(
        summary="Remember a conversation of a surface",
        body=schemas.LinkSurface,
        answer=schemas.SurfaceRefAnswer,
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
            actor_external_id=_given(body.actor_external_id, ""),
            by=call.act(body.surface),
            now=call.now,
        )
        ref = schemas.surface_ref_of(made.ref)
        return reply(schemas.SurfaceRefAnswer(surface_ref=ref), _status(made.created))

    @door(
        summary="List the surface references of a work item",
        query=schemas.PageQuery,
        answer=schemas.SurfaceRefPage,
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
        items = [schemas.surface_ref_of(row) for row in shown]
        return reply(schemas.SurfaceRefPage(items=items, next_cursor=cursor))


def _status(created: bool) -> int:
    return 201 if created else 200


def _transition_body(body: schemas.TransitionWorkItem) -> schemas.TransitionWorkItem:
    """What goes with which action is a rule of the body."""
    for field, action in (("waiting_reason", "wait"), ("superseded_by", "supersede")):
        given = getattr(body, field) is not UNSET
        if body.action == action and not given:
            raise InvalidRequest(
                f"{field} is required with {action}", pointer=f"/{field}", fault="missing"
            )
        if body.action != action and given:
            raise InvalidRequest(
                f"{field} goes only with {action}", pointer=f"/{field}", fault="unexpected"
            )
    return body


def _unchanged(call: Call) -> Any:
    """What judges `If-Match` on the answer of GET as it is under the lock; None without it."""
    tags = etags.wanted(call.request)
    if tags is None:
        return None

    def judge(view: queries.ItemView) -> bool:
        answer = schemas.ItemAnswer(**schemas.view_members(call.caller, view))
        return etags.holds(tags, msgspec.json.encode(answer))

    return judge
