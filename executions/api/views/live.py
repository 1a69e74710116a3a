"""The event streams of executions; the authorizer is asked before anything is read or awaited."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse

from executions.api import serving
from executions.api.following import Log, State, topic_of
from executions.api.schemas import answers, asked
from executions.api.serving import given
from executions.errors import ExecutionNotFound
from executions.kinds import AGENT, WORKFLOW, Kind
from executions.queries.trail import STREAM, SUBSCRIBE, permit
from stigmer.core.callers import Caller
from stigmer.core.errors import PermissionDenied
from stigmer.http import streams
from stigmer.http.errors import StreamsElsewhere
from stigmer.http.streams import EVENT_STREAM, StreamDoor
from stigmer.http.views import Call, door

REFUSALS = (PermissionDenied, ExecutionNotFound, StreamsElsewhere)


def _permit(kind: Kind, denied: str) -> Any:
    """The gate of a stream: who may read this execution."""

    def gate(caller: Caller, execution: str) -> None:
        permit(caller, kind, execution, denied)

    return gate


reads_workflow = _permit(WORKFLOW, STREAM.format(words=WORKFLOW.words))
reads_agent = _permit(AGENT, STREAM.format(words=AGENT.words))
reads_events = _permit(WORKFLOW, SUBSCRIBE)


def _follow(call: Call, kind: Kind, execution: str, gate: Any) -> HttpResponse:
    gate(call.caller, execution)
    return streams.follow(
        call, topic_of(execution), State(kind, execution), partial(gate, execution=execution)
    )


class WorkflowStream(StreamDoor):
    """`/workflow-executions/{id}/stream`"""

    @door(
        summary="Follow the state of a workflow execution",
        answer=answers.WorkflowExecution,
        gate=reads_workflow,
        statuses={200: "The state, then each changed one, until a terminal phase."},
        refusals=REFUSALS,
        media=EVENT_STREAM,
    )
    def get(self, call: Call, execution: str) -> HttpResponse:
        return _follow(call, WORKFLOW, execution, reads_workflow)


class AgentStream(StreamDoor):
    """`/agent-executions/{id}/stream`"""

    @door(
        summary="Follow the state of an agent execution",
        answer=answers.AgentExecution,
        gate=reads_agent,
        statuses={200: "The state, then each changed one, until a terminal phase."},
        refusals=REFUSALS,
        media=EVENT_STREAM,
    )
    def get(self, call: Call, execution: str) -> HttpResponse:
        return _follow(call, AGENT, execution, reads_agent)


class EventStream(StreamDoor):
    """`/workflow-executions/{id}/events/stream`"""

    @door(
        summary="Follow the event log of a workflow execution",
        query=asked.EventStreamQuery,
        answer=answers.Event,
        gate=reads_events,
        statuses={200: "The events behind the cursor and what follows, until the execution ends."},
        refusals=REFUSALS,
        media=EVENT_STREAM,
        resumes=True,
    )
    def get(self, call: Call, execution: str) -> HttpResponse:
        reads_events(call.caller, execution)
        after = serving.counter("after_sequence", call.query.after_sequence)
        last = streams.last_event_id(call)
        source = Log(execution, after if last is None else last, given(call.query.event_type, ()))
        gate = partial(reads_events, execution=execution)
        return streams.follow(call, topic_of(execution), source, gate)
