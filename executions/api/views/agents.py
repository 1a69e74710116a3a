"""Agent executions."""

from __future__ import annotations

from django.http import HttpResponse

from executions import operations, queries
from executions.api import serving
from executions.api.schemas import answers, asked, bodies, shown
from executions.api.serving import given
from executions.errors import (
    ClaimLost,
    EngineCommandFailed,
    EngineStartFailed,
    EngineUnavailable,
    ExecutionNotFound,
    FailedPrecondition,
)
from executions.kinds import AGENT
from organizations.errors import OrganizationNotFound
from resources.errors import ResourceNotFound
from stigmer.core.errors import (
    IdempotencyKeyReused,
    InvalidTransition,
    PermissionDenied,
    PreconditionFailed,
)
from stigmer.core.secrets import SecretInText
from stigmer.http.views import Call, Door, door, reply

MIB = 1024 * 1024
SEEN = (ExecutionNotFound,)
WRITTEN = (ExecutionNotFound, PermissionDenied)


class AgentExecutions(Door):
    """`/agent-executions`"""

    @door(
        summary="List agent executions",
        query=asked.AgentListQuery,
        answer=answers.AgentExecutionPage,
        statuses={200: "One page; what never started or has not ended sorts last."},
    )
    def get(self, call: Call) -> HttpResponse:
        return serving.page(call, AGENT)

    @door(
        summary="Run an agent",
        body=bodies.CreateAgentExecution,
        answer=answers.AgentExecution,
        gate=serving.creates,
        statuses={201: "Created and given to the engine.", 200: "What the key stands for."},
        refusals=(
            OrganizationNotFound, PermissionDenied, IdempotencyKeyReused, EngineUnavailable,
            ResourceNotFound, EngineStartFailed,
        ),
        rate="writes",
        keyed=True,
    )  # fmt: skip
    def post(self, call: Call) -> HttpResponse:
        new = _new(call.body)
        made = operations.create_execution(
            kind=AGENT, new=new, by=call.act(), now=call.now, facts=call.facts()
        )
        return reply(shown.execution_of(made.execution), 201 if made.created else 200)


def _new(body: bodies.CreateAgentExecution) -> operations.NewExecution:
    return operations.NewExecution(
        org=body.metadata.org,
        name=given(body.metadata.name),
        labels=given(body.metadata.labels),
        target=given(body.spec.agent_id),
        instance=given(body.spec.agent_instance_id),
        session=given(body.spec.session_id, ""),
        message=given(body.spec.message, ""),
        input=given(body.spec.input),
        execution_target=given(body.spec.execution_target),
    )


class AgentExecution(Door):
    """`/agent-executions/{id}`"""

    @door(
        summary="Get an agent execution",
        answer=answers.AgentExecution,
        statuses={200: "The execution.", 304: "You have it already."},
        refusals=SEEN,
        etag=True,
    )
    def get(self, call: Call, execution: str) -> HttpResponse:
        return reply(shown.execution_of(queries.readable(call.caller, AGENT, execution)))

    @door(
        summary="Change a pending agent execution",
        body=bodies.ChangeAgentExecution,
        answer=answers.AgentExecution,
        gate=serving.writes(AGENT),
        refusals=(*WRITTEN, PreconditionFailed, FailedPrecondition),
        rate="writes",
        if_match=True,
    )
    def patch(self, call: Call, execution: str) -> HttpResponse:
        row = operations.change_execution(
            kind=AGENT,
            id=execution,
            message=given(call.body.spec.message),
            expected=serving.expected(call),
            by=call.act(),
            now=call.now,
        )
        return serving.tagged(row)

    @door(
        summary="Delete an ended agent execution",
        answer=answers.AgentExecution,
        gate=serving.writes(AGENT),
        statuses={200: "Deleted; this is what it was."},
        refusals=(*WRITTEN, PreconditionFailed, FailedPrecondition),
        rate="writes",
        if_match=True,
    )
    def delete(self, call: Call, execution: str) -> HttpResponse:
        row = operations.delete_execution(
            kind=AGENT,
            id=execution,
            expected=serving.expected(call),
            by=call.act(),
            now=call.now,
        )
        return reply(shown.execution_of(row))


class AgentStatus(Door):
    """`/agent-executions/{id}/status`"""

    @door(
        summary="Report what an agent execution does",
        body=bodies.AgentReport,
        answer=answers.AgentReported,
        gate=serving.reports(AGENT),
        statuses={200: "Merged."},
        refusals=(*WRITTEN, ClaimLost, InvalidTransition),
        limit=4 * MIB,
        rate="writes",
    )
    def post(self, call: Call, execution: str) -> HttpResponse:
        made = serving.report(call, AGENT, execution)
        return reply(answers.AgentReported(**shown.reported(made)))


class AgentSummary(Door):
    """`/agent-executions/summary`"""

    @door(
        summary="Agent executions in numbers",
        query=asked.AgentSummaryQuery,
        answer=answers.AgentSummary,
    )
    def get(self, call: Call) -> HttpResponse:
        found = queries.summary(
            call.caller,
            AGENT,
            org=given(call.query.org),
            window=call.query.time_window,
            target=given(call.query.agent_id),
            now=call.now,
        )
        return reply(answers.AgentSummary(**shown.summary_members(found)))


class AgentCommand(Door):
    """`/agent-executions/{id}/cancel`, `…/terminate`, `…/pause`, `…/resume`, `…/recover`."""

    command = ""

    @door(
        summary="Cancel, terminate, pause, resume or recover an agent execution",
        body=bodies.Reason,
        answer=answers.AgentExecution,
        gate=serving.writes(AGENT),
        statuses={200: "Done, or it was so already."},
        refusals=(*WRITTEN, SecretInText, FailedPrecondition, EngineCommandFailed),
        rate="writes",
    )
    def post(self, call: Call, execution: str) -> HttpResponse:
        return serving.command(call, AGENT, execution, self.command)
