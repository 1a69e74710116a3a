"""The routes of work items: typed body in, one domain call, plain data out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from django.http import HttpResponse

from organizations.errors import OrganizationNotFound
from stigmer.core.errors import (
    IdempotencyKeyReused,
    InvalidRequest,
    InvalidTransition,
    PermissionDenied,
    PreconditionFailed,
)
from stigmer.core.secrets import SecretInText
from stigmer.http import etags
from stigmer.http.fields import UNSET
from stigmer.http.pagination import cursor_for
from stigmer.http.views import Call, Door, door, reply
from workitems import operations, queries
from workitems.api import answers, bodies, paging, showing
from workitems.api.views.shared import KEYED, NEW_OR_KNOWN, SEEN, given, status_of
from workitems.errors import (
    ExecutionActive,
    ExternalKeyInUse,
    StateVersionConflict,
    TenantForbidden,
)
from workitems.states import Engine, Visibility


class WorkItems(Door):
    """Open and list work items."""

    @door(
        summary="Open a work item",
        body=bodies.CreateWorkItem,
        answer=answers.CreatedAnswer,
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
            external_key=given(body.external_key, ""),
            visibility=Visibility(body.visibility),
            by=call.act(body.origin_surface),
            now=call.now,
            facts=call.facts(),
        )
        members = showing.view_members(call.caller, made.view)
        return reply(
            answers.CreatedAnswer(**members, created=made.created), status_of(made.created)
        )

    @door(
        summary="List work items, newest updated first",
        query=bodies.WorkItemsQuery,
        answer=answers.WorkItemPage,
        refusals=(TenantForbidden, OrganizationNotFound),
    )
    def get(self, call: Call) -> HttpResponse:
        filters = paging.filters_of(call)
        queries.need_tenant(call.caller, filters.get("tenant"))
        limit, position = paging.limit_of(call), paging.moment_and_id(call, filters)
        found = queries.Filters(**filters)
        rows: Sequence[queries.Shown | queries.ItemRow] | None
        rows = queries.page_as_json(call.caller, found, position, limit + 1)
        if rows is None:
            rows = queries.page(call.caller, found, position, limit + 1)
        shown, more = rows[:limit], len(rows) > limit
        cursor = cursor_for((shown[-1].updated_at, shown[-1].id), filters) if more else None
        items = showing.items_of(call.caller, shown)
        return reply(answers.WorkItemPage(items=items, next_cursor=cursor))


class WorkItem(Door):
    """Read one work item and move it along its lifecycle."""

    @door(
        summary="Read a work item",
        answer=answers.ItemAnswer,
        gate=queries.readable,
        refusals=SEEN,
        etag=True,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        view = queries.view(call.caller, item)
        return reply(answers.ItemAnswer(**showing.view_members(call.caller, view)))

    @door(
        summary="Move a work item along its lifecycle",
        body=bodies.TransitionWorkItem,
        answer=answers.MovedAnswer,
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
            waiting_reason=given(body.waiting_reason, ""),
            superseded_by=given(body.superseded_by),
            by=call.act(),
            now=call.now,
            facts=call.facts(),
            unchanged=_unchanged(call),
        )
        members = showing.view_members(call.caller, moved.view)
        return reply(answers.MovedAnswer(**members, replayed=moved.replayed))


class Resume(Door):
    """Start the next execution of a work item."""

    @door(
        summary="Resume a work item with its next execution",
        body=bodies.ResumeWorkItem,
        answer=answers.ResumedAnswer,
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
            resumed_from=given(body.resumed_from_execution_id),
            by=call.act(),
            now=call.now,
            facts=call.facts(),
            unchanged=_unchanged(call),
        )
        return reply(showing.resumed_answer(call.caller, made), status_of(made.created))


def _transition_body(body: bodies.TransitionWorkItem) -> bodies.TransitionWorkItem:
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
        answer = answers.ItemAnswer(**showing.view_members(call.caller, view))
        return etags.holds(tags, msgspec.json.encode(answer))

    return judge
