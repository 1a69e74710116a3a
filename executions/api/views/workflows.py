"""Workflow executions."""

from __future__ import annotations

from django.http import HttpResponse

from executions import operations, queries, targets
from executions.api import serving
from executions.api.schemas import answers, asked, bodies, shown
from executions.api.serving import given
from executions.errors import (
    Aborted,
    ApprovalAlreadyDecided,
    ClaimLost,
    EngineCommandFailed,
    EngineSignalFailed,
    EngineStartFailed,
    EngineUnavailable,
    EventLogFailed,
    ExecutionNotFound,
    FailedPrecondition,
    TaskNotFound,
)
from executions.kinds import WORKFLOW
from executions.queries.trail import LOG, permit
from executions.states import Decision
from organizations.errors import OrganizationNotFound
from resources.errors import ResourceNotFound
from stigmer.core.errors import (
    AlreadyExists,
    IdempotencyKeyReused,
    InvalidTransition,
    PermissionDenied,
    PreconditionFailed,
    StoreUnavailable,
)
from stigmer.core.secrets import SecretInText, refuse_secrets
from stigmer.http.views import Call, Door, door, reply

MIB = 1024 * 1024
SEEN = (ExecutionNotFound,)
WRITTEN = (ExecutionNotFound, PermissionDenied)


class WorkflowExecutions(Door):
    """`/workflow-executions`"""

    @door(
        summary="List workflow executions",
        query=asked.WorkflowListQuery,
        answer=answers.WorkflowExecutionPage,
        statuses={200: "One page; what never started or has not ended sorts last."},
    )
    def get(self, call: Call) -> HttpResponse:
        return serving.page(call, WORKFLOW)

    @door(
        summary="Run a workflow",
        body=bodies.CreateWorkflowExecution,
        answer=answers.WorkflowExecution,
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
            kind=WORKFLOW, new=new, by=call.act(), now=call.now, facts=call.facts()
        )
        return reply(shown.execution_of(made.execution), 201 if made.created else 200)


def _new(body: bodies.CreateWorkflowExecution) -> operations.NewExecution:
    return operations.NewExecution(
        org=body.metadata.org,
        name=given(body.metadata.name),
        labels=given(body.metadata.labels),
        target=given(body.spec.workflow_id),
        instance=given(body.spec.workflow_instance_id),
        message=given(body.spec.trigger_message, ""),
        input=given(body.spec.input),
        execution_target=given(body.spec.execution_target),
    )


class WorkflowExecution(Door):
    """`/workflow-executions/{id}`"""

    @door(
        summary="Get a workflow execution",
        answer=answers.WorkflowExecution,
        statuses={200: "The execution.", 304: "You have it already."},
        refusals=SEEN,
        etag=True,
    )
    def get(self, call: Call, execution: str) -> HttpResponse:
        return reply(shown.execution_of(queries.readable(call.caller, WORKFLOW, execution)))

    @door(
        summary="Change a pending workflow execution",
        body=bodies.ChangeWorkflowExecution,
        answer=answers.WorkflowExecution,
        gate=serving.writes(WORKFLOW),
        refusals=(*WRITTEN, PreconditionFailed, FailedPrecondition),
        rate="writes",
        if_match=True,
    )
    def patch(self, call: Call, execution: str) -> HttpResponse:
        row = operations.change_execution(
            kind=WORKFLOW,
            id=execution,
            message=given(call.body.spec.trigger_message),
            input=given(call.body.spec.input),
            expected=serving.expected(call),
            by=call.act(),
            now=call.now,
        )
        return serving.tagged(row)

    @door(
        summary="Delete an ended workflow execution",
        answer=answers.WorkflowExecution,
        gate=serving.writes(WORKFLOW),
        statuses={200: "Deleted with its events and signals; this is what it was."},
        refusals=(*WRITTEN, PreconditionFailed, FailedPrecondition),
        rate="writes",
        if_match=True,
    )
    def delete(self, call: Call, execution: str) -> HttpResponse:
        row = operations.delete_execution(
            kind=WORKFLOW,
            id=execution,
            expected=serving.expected(call),
            by=call.act(),
            now=call.now,
        )
        return reply(shown.execution_of(row))


class WorkflowStatus(Door):
    """`/workflow-executions/{id}/status`"""

    @door(
        summary="Report what a workflow execution does",
        body=bodies.WorkflowReport,
        answer=answers.WorkflowReported,
        gate=serving.reports(WORKFLOW),
        statuses={200: "Merged; events that were there already are skipped."},
        refusals=(*WRITTEN, ClaimLost, InvalidTransition),
        limit=4 * MIB,
        rate="writes",
    )
    def post(self, call: Call, execution: str) -> HttpResponse:
        made = serving.report(call, WORKFLOW, execution)
        return reply(answers.WorkflowReported(**shown.reported(made)))


class WorkflowEvents(Door):
    """`/workflow-executions/{id}/events`"""

    @door(
        summary="Read the event log of a workflow execution",
        query=asked.EventsQuery,
        answer=answers.Events,
        gate=lambda caller, execution: permit(caller, WORKFLOW, execution, LOG),
        statuses={200: "One page; an execution that does not exist has an empty one."},
        refusals=(PermissionDenied, EventLogFailed),
    )
    def get(self, call: Call, execution: str) -> HttpResponse:
        found = queries.event_log(call.caller, execution, **serving.log_page(call, execution))
        return reply(shown.events_of(found))


class WorkflowSummary(Door):
    """`/workflow-executions/summary`"""

    @door(
        summary="Workflow executions in numbers",
        query=asked.WorkflowSummaryQuery,
        answer=answers.WorkflowSummary,
    )
    def get(self, call: Call) -> HttpResponse:
        found = queries.summary(
            call.caller,
            WORKFLOW,
            org=given(call.query.org),
            window=call.query.time_window,
            target=given(call.query.workflow_id),
            now=call.now,
        )
        return reply(shown.workflow_summary(found))


class PendingApprovals(Door):
    """`/workflow-executions/pending-approvals`"""

    @door(
        summary="List tasks that wait for a person's decision",
        query=asked.PendingQuery,
        answer=answers.PendingApprovals,
        statuses={200: "The oldest first; `total_count` is before the limit."},
    )
    def get(self, call: Call) -> HttpResponse:
        limit = serving.number("limit", call.query.limit, least=1, most=100, absent=20)
        found = queries.pending_approvals(call.caller, given(call.query.org))
        hints = targets.ui_hints(one.workflow for one in found[:limit] if one.ui_hint is None)
        entries = [
            shown.pending_of(one, one.ui_hint or hints.get((one.workflow, one.task_name)))
            for one in found[:limit]
        ]
        return reply(answers.PendingApprovals(entries=entries, total_count=len(found)))


class WorkflowCommand(Door):
    """`/workflow-executions/{id}/cancel`, `…/terminate`, `…/pause`, `…/resume`, `…/recover`."""

    command = ""

    @door(
        summary="Cancel, terminate, pause, resume or recover a workflow execution",
        body=bodies.Reason,
        answer=answers.WorkflowExecution,
        gate=serving.writes(WORKFLOW),
        statuses={200: "Done, or it was so already."},
        refusals=(*WRITTEN, SecretInText, FailedPrecondition, EngineCommandFailed),
        rate="writes",
    )
    def post(self, call: Call, execution: str) -> HttpResponse:
        return serving.command(call, WORKFLOW, execution, self.command)


class Signals(Door):
    """`/workflow-executions/{id}/signals`"""

    @door(
        summary="Send a signal to a workflow execution",
        body=bodies.SendSignal,
        answer=answers.WorkflowExecution,
        gate=serving.writes(WORKFLOW),
        statuses={202: "Delivered to the engine."},
        refusals=(
            *WRITTEN, FailedPrecondition, AlreadyExists, Aborted, EngineSignalFailed,
            StoreUnavailable,
        ),
        rate="writes",
        keyed=True,
    )  # fmt: skip
    def post(self, call: Call, execution: str) -> HttpResponse:
        row = operations.send_signal(
            execution=execution,
            signal=given(call.body.signal_name, ""),
            payload=call.body.payload,
            by=call.act(),
            now=call.now,
        )
        return reply(shown.execution_of(row), 202)


class TaskApproval(Door):
    """`/workflow-executions/{id}/tasks/{task_name}/approval`"""

    @door(
        summary="Approve or reject a task that waits",
        body=bodies.DecideTask,
        answer=answers.WorkflowExecution,
        gate=operations.deciding,
        statuses={202: "Decided and relayed.", 200: "It was decided so already."},
        refusals=(
            *WRITTEN, SecretInText, EngineUnavailable, TaskNotFound, FailedPrecondition,
            ApprovalAlreadyDecided, EngineSignalFailed,
        ),
        rate="writes",
    )  # fmt: skip
    def post(self, call: Call, execution: str, task: str) -> HttpResponse:
        comment = given(call.body.comment, "")
        refuse_secrets(comment=comment)
        made = operations.decide_task(
            execution=execution,
            task=task,
            decision=Decision(call.body.decision),
            comment=comment,
            by=call.act(),
            now=call.now,
        )
        return reply(shown.execution_of(made.execution), 202 if made.new else 200)
