"""Push: the Temporal SDK against a cluster; one client per process on an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import msgspec
import structlog
from django.conf import settings
from temporalio.api.common.v1 import Payloads, WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import WorkflowIdConflictPolicy, WorkflowIdReusePolicy
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    RequestCancelWorkflowExecutionRequest,
    SignalWithStartWorkflowExecutionRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
    TerminateWorkflowExecutionRequest,
)
from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from executions.engines.base import EngineError, Envelope, Run, WorkflowNotFoundError

log = structlog.get_logger("stigmer.engines")
Result = TypeVar("Result")
IDENTITY = "stigmer"
# How often the connection is looked at, and how long an answer may take.
LOOK_EVERY = 1.0
ANSWER = timedelta(seconds=2)
# The SDK repeats a call by itself; a claim of a signal's key outlives this.
CALL_SECONDS = 60.0
CALL = timedelta(seconds=10)


class Temporal:
    """Calls carry a request id that says what they are for: a repeated one is one effect."""

    name = "temporal"
    pull = False

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._looked = threading.Event()
        self._live = False
        threading.Thread(target=self._loop.run_forever, name="temporal", daemon=True).start()
        self._client = self._run(self._connect())
        asyncio.run_coroutine_threadsafe(self._look(), self._loop)

    @property
    def connected(self) -> bool:
        """Whether the cluster answered when it was last asked, a second ago at most."""
        self._looked.wait(ANSWER.total_seconds() + LOOK_EVERY)
        return self._live

    def start(self, execution: Run, *, recovery_mode: bool) -> None:
        """Start the run; recovery replaces what is left of an earlier one."""
        request = StartWorkflowExecutionRequest(
            **self._named(execution),
            **self._begun(execution, recovery_mode),
            request_id=start_request(execution, recovery_mode),
        )
        if recovery_mode:
            request.workflow_id_conflict_policy = (
                WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
            )
        self._call("start_workflow_execution", request)

    def signal_with_start(
        self, execution: Run, channel: str, payload: Envelope, *, request: str, recovery_mode: bool
    ) -> None:
        """Deliver a signal; the first one starts the run."""
        self._call(
            "signal_with_start_workflow_execution",
            SignalWithStartWorkflowExecutionRequest(
                **self._named(execution),
                **self._begun(execution, recovery_mode),
                signal_name=channel,
                signal_input=self._payloads(payload),
                request_id=request,
            ),
        )

    def signal(self, execution: Run, channel: str, payload: Envelope, *, request: str) -> None:
        """Deliver a signal to a run that was started."""
        self._call(
            "signal_workflow_execution",
            SignalWorkflowExecutionRequest(
                namespace=settings.TEMPORAL_NAMESPACE,
                workflow_execution=WorkflowExecution(workflow_id=workflow_id(execution)),
                signal_name=channel,
                input=self._payloads(payload),
                identity=IDENTITY,
                request_id=request,
            ),
        )

    def cancel(self, execution: Run) -> None:
        """Ask the run to stop."""
        self._call(
            "request_cancel_workflow_execution",
            RequestCancelWorkflowExecutionRequest(
                namespace=settings.TEMPORAL_NAMESPACE,
                workflow_execution=WorkflowExecution(workflow_id=workflow_id(execution)),
                identity=IDENTITY,
                request_id=f"{execution.id}/cancel",
            ),
        )

    def terminate(self, execution: Run, reason: str) -> None:
        """Stop the run at once."""
        self._call(
            "terminate_workflow_execution",
            TerminateWorkflowExecutionRequest(
                namespace=settings.TEMPORAL_NAMESPACE,
                workflow_execution=WorkflowExecution(workflow_id=workflow_id(execution)),
                identity=IDENTITY,
                reason=reason,
            ),
        )

    # What calls are made of -----------------------------------------------------------------------

    def _named(self, execution: Run) -> dict[str, Any]:
        return {
            "namespace": settings.TEMPORAL_NAMESPACE,
            "workflow_id": workflow_id(execution),
            "workflow_type": WorkflowType(name=workflow_type(execution)),
            "task_queue": TaskQueue(name=settings.TEMPORAL_TASK_QUEUE),
            "identity": IDENTITY,
        }

    def _begun(self, execution: Run, recovery_mode: bool) -> dict[str, Any]:
        policy = WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
        if recovery_mode:
            policy = WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
        return {
            "input": self._payloads(argument(execution, recovery_mode)),
            "workflow_id_reuse_policy": policy,
        }

    def _payloads(self, value: Any) -> Payloads:
        return Payloads(payloads=self._run(DataConverter.default.encode([value])))

    # The client -----------------------------------------------------------------------------------

    async def _connect(self) -> Client:
        return await Client.connect(
            settings.TEMPORAL_ADDRESS,
            namespace=settings.TEMPORAL_NAMESPACE,
            api_key=settings.TEMPORAL_API_KEY or None,
            tls=settings.TEMPORAL_TLS,
            identity=IDENTITY,
            lazy=True,
        )

    async def _look(self) -> None:
        while True:
            try:
                live = await self._client.service_client.check_health(timeout=ANSWER)
            except (RPCError, RuntimeError, OSError) as cause:
                if self._live or not self._looked.is_set():
                    log.warning("temporal_away", cause=str(cause).partition("\n")[0])
                live = False
            self._live = live
            self._looked.set()
            await asyncio.sleep(LOOK_EVERY)

    def _call(self, method: str, request: Any) -> None:
        call = getattr(self._client.workflow_service, method)
        try:
            self._run(call(request, retry=True, timeout=CALL))
        except RPCError as cause:
            if cause.status is RPCStatusCode.NOT_FOUND:
                raise WorkflowNotFoundError(cause.message) from cause
            raise EngineError(cause.message) from cause
        except (RuntimeError, OSError, TimeoutError) as cause:
            raise EngineError(str(cause) or type(cause).__name__) from cause

    def _run(self, call: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result(CALL_SECONDS)


def workflow_type(execution: Run) -> str:
    """The name under which workers register what runs executions of this kind."""
    kind = "agent" if execution.id.startswith("aex_") else "workflow"
    return f"stigmer/{kind}-execution/invoke"


def workflow_id(execution: Run) -> str:
    """The one id that the runs of an execution have at the cluster."""
    return f"{workflow_type(execution)}/{execution.id}"


def start_request(execution: Run, recovery_mode: bool) -> str:
    """The same for a repeated start, another for each recovery."""
    if not recovery_mode:
        return f"{execution.id}/start"
    return f"{execution.id}/recover/{execution.updated_at.isoformat()}"


def argument(execution: Run, recovery_mode: bool) -> dict[str, Any]:
    """What a worker is told."""
    return {
        "execution_id": execution.id,
        "org": execution.organization,
        "target_id": execution.target,
        "instance_id": execution.instance,
        "message": execution.message,
        "input": None if execution.input is None else msgspec.json.decode(execution.input),
        "recovery_mode": recovery_mode,
    }
