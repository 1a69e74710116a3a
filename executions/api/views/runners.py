"""The runner protocol: claim, heartbeat, inbox."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from executions import operations, queries
from executions.api import serving
from executions.api.schemas import answers, asked, bodies, shown
from executions.api.serving import given
from executions.errors import ClaimLost, ExecutionNotFound
from executions.kinds import KINDS
from stigmer.core.errors import PermissionDenied
from stigmer.http import streams
from stigmer.http.fields import stamp
from stigmer.http.views import Call, Door, door, reply

TOKEN_HEADER = "HTTP_X_STIGMER_CLAIM_TOKEN"  # noqa: S105 the name of a header


def claim(call: Call) -> HttpResponse | None:
    """The oldest waiting execution, or None."""
    body = call.body
    made = operations.claim_execution(
        kinds=[kind for noun, kind in KINDS.items() if noun in body.kinds],
        labels=given(body.labels, {}),
        lease_seconds=body.lease_seconds,
        claim_id=given(body.claim_id, ""),
        by=call.act(),
        now=call.now,
    )
    return None if made is None else reply(shown.claimed_of(made))


def inbox(call: Call, execution: str) -> HttpResponse | None:
    """What the runner is told, or None."""
    found = operations.read_inbox(
        id=execution,
        claim_token=token_of(call.request),
        after=serving.counter("after", call.query.after),
        by=call.act(),
        now=call.now,
    )
    return reply(shown.inbox_of(found)) if found else None


def token_of(request: HttpRequest) -> str | None:
    """The claim token of the header, or None."""
    return request.META.get(TOKEN_HEADER) or None


class Claims(Door):
    """`/runner/claim`; it waits where the process can."""

    @door(
        summary="Claim the oldest waiting execution",
        body=bodies.Claim,
        answer=answers.ClaimedExecution,
        gate=lambda caller, data: operations.runner_only(caller),
        statuses={200: "Yours until the lease ends.", 204: "Nothing waits."},
        refusals=(PermissionDenied,),
        rate="claims",
    )
    def post(self, call: Call) -> HttpResponse:
        topics = [f"claims:{noun}" for noun in call.body.kinds]
        return streams.poll(
            call, topics, call.body.wait_seconds, claim, empty=lambda: reply(None, 204)
        )


class Heartbeats(Door):
    """`/runner/executions/{id}/heartbeat`"""

    @door(
        summary="Keep the claim on an execution",
        body=bodies.Heartbeat,
        answer=answers.Lease,
        gate=queries.manageable,
        refusals=(ExecutionNotFound, PermissionDenied, ClaimLost),
        rate="claims",
    )
    def post(self, call: Call, id: str) -> HttpResponse:
        until = operations.extend_lease(
            id=id,
            claim_token=call.body.claim_token,
            lease_seconds=call.body.lease_seconds,
            by=call.act(),
            now=call.now,
        )
        return reply(answers.Lease(lease_expires_at=stamp(until)))


class Inboxes(Door):
    """`/runner/executions/{id}/signals`; it waits where the process can."""

    @door(
        summary="Read what the runner of an execution is told",
        query=asked.InboxQuery,
        answer=answers.Inbox,
        gate=queries.manageable,
        statuses={200: "What is not acknowledged yet; `after` acknowledges."},
        refusals=(ExecutionNotFound, PermissionDenied, ClaimLost),
        rate="claims",
    )
    def get(self, call: Call, id: str) -> HttpResponse:
        return streams.poll(
            call,
            [f"execution:{id}"],
            call.query.wait_seconds,
            lambda now: inbox(now, id),
            empty=lambda: reply(shown.inbox_of([])),
        )
