"""Push: executions run on a Temporal cluster (`temporalio`), reached by one client per process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import TimeoutError as TookTooLong
from contextlib import suppress
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
from temporalio.service import RPCError, RPCStatusCode

from executions.engines.base import EngineError, Envelope, Run, WorkflowNotFoundError

log = structlog.get_logger("stigmer.engines")
START = "startExecution"
TERMINATE_EXISTING = WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
LOOK_EVERY = 1.0
CALL = timedelta(seconds=10)
# How long a caller waits for what runs on the background loop.
PATIENCE = CALL.total_seconds() + 5
Answer = TypeVar("Answer")


class Temporal:
    """One client on a background event loop; `connected` is what the last look found."""

    name = "temporal"
    pull = False

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._looked = threading.Event()
        self._connected = False
        self._client: Client | None = None
        self._watching = self._loop.create_task(self._watch())
        self._thread = threading.Thread(target=self._live, name="temporal", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> bool:
        """Whether the cluster answered a moment ago; the first question waits for a first look."""
        self._looked.wait(timeout=3)
        return self._connected

    def start(self, execution: Run, *, recovery_mode: bool) -> None:
        """Make the execution run; a repeated call is the same start."""
        if recovery_mode:
            self._recover(execution)
            return
        payload = {"recovery_mode": False}
        request = f"start/{execution.id}"
        self.signal_with_start(execution, START, payload, request=request, recovery_mode=False)

    def _recover(self, execution: Run) -> None:
        """A fresh run that ends what is left of the earlier one.

        Not by a signal: only a plain start of the same request id ends nothing when repeated.
        """

        async def call(client: Client) -> None:
            await client.workflow_service.start_workflow_execution(
                StartWorkflowExecutionRequest(
                    namespace=client.namespace,
                    workflow_id=_workflow_id(execution),
                    workflow_type=WorkflowType(name=_workflow_type(execution)),
                    task_queue=TaskQueue(name=settings.TEMPORAL_TASK_QUEUE),
                    input=await _payloads(client, _input(execution, recovery_mode=True)),
                    request_id=f"recover/{execution.id}/{execution.updated_at.isoformat()}",
                    workflow_id_reuse_policy=_reuse(recovery_mode=True),
                    workflow_id_conflict_policy=TERMINATE_EXISTING,
                ),
                retry=True,
                timeout=CALL,
            )

        self._call(call)

    def signal_with_start(
        self, execution: Run, channel: str, payload: Envelope, *, request: str, recovery_mode: bool
    ) -> None:
        """Deliver on a channel; the cluster takes one request id once."""

        async def call(client: Client) -> None:
            await client.workflow_service.signal_with_start_workflow_execution(
                SignalWithStartWorkflowExecutionRequest(
                    namespace=client.namespace,
                    workflow_id=_workflow_id(execution),
                    workflow_type=WorkflowType(name=_workflow_type(execution)),
                    task_queue=TaskQueue(name=settings.TEMPORAL_TASK_QUEUE),
                    input=await _payloads(client, _input(execution, recovery_mode)),
                    request_id=request,
                    # One execution is one run; only a recovery starts another.
                    workflow_id_reuse_policy=_reuse(recovery_mode),
                    signal_name=channel,
                    signal_input=await _payloads(client, payload),
                ),
                retry=True,
                timeout=CALL,
            )

        self._call(call)

    def signal(self, execution: Run, channel: str, payload: Envelope, *, request: str) -> None:
        """Deliver on a channel of a run that is there."""

        async def call(client: Client) -> None:
            await client.workflow_service.signal_workflow_execution(
                SignalWorkflowExecutionRequest(
                    namespace=client.namespace,
                    workflow_execution=WorkflowExecution(workflow_id=_workflow_id(execution)),
                    signal_name=channel,
                    input=await _payloads(client, payload),
                    request_id=request,
                ),
                retry=True,
                timeout=CALL,
            )

        self._call(call)

    def cancel(self, execution: Run) -> None:
        """Ask the run to stop."""

        async def call(client: Client) -> None:
            await client.workflow_service.request_cancel_workflow_execution(
                RequestCancelWorkflowExecutionRequest(
                    namespace=client.namespace,
                    workflow_execution=WorkflowExecution(workflow_id=_workflow_id(execution)),
                    request_id=f"cancel/{execution.id}/{execution.updated_at.isoformat()}",
                ),
                retry=True,
                timeout=CALL,
            )

        self._call(call)

    def terminate(self, execution: Run, reason: str) -> None:
        """Stop the run at once."""

        async def call(client: Client) -> None:
            await client.workflow_service.terminate_workflow_execution(
                TerminateWorkflowExecutionRequest(
                    namespace=client.namespace,
                    workflow_execution=WorkflowExecution(workflow_id=_workflow_id(execution)),
                    reason=reason,
                ),
                retry=True,
                timeout=CALL,
            )

        self._call(call)

    def close(self) -> None:
        """End the background loop."""
        self._loop.call_soon_threadsafe(self._watching.cancel)
        self._thread.join(timeout=10)

    # The background loop --------------------------------------------------------------------------

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._watching)
        self._loop.close()

    async def _watch(self) -> None:
        while True:
            healthy = await self._healthy()
            if healthy != self._connected:
                log.info("temporal", connected=healthy)
            self._connected = healthy
            self._looked.set()
            await asyncio.sleep(LOOK_EVERY)

    async def _healthy(self) -> bool:
        try:
            client = await self._reach()
            return await client.service_client.check_health(timeout=timedelta(seconds=2))
        except (RPCError, RuntimeError, OSError):
            return False

    async def _reach(self) -> Client:
        """The client, which connects by itself when it is used, again and again."""
        if self._client is None:
            self._client = await Client.connect(
                settings.TEMPORAL_ADDRESS,
                namespace=settings.TEMPORAL_NAMESPACE,
                tls=settings.TEMPORAL_TLS,
                api_key=settings.TEMPORAL_API_KEY or None,
                lazy=True,
            )
        return self._client

    def _call(self, work: Callable[[Client], Awaitable[Answer]]) -> Answer:
        async def run() -> Answer:
            return await work(await self._reach())

        future = asyncio.run_coroutine_threadsafe(run(), self._loop)
        try:
            return future.result(timeout=PATIENCE)
        except RPCError as cause:
            if cause.status is RPCStatusCode.NOT_FOUND:
                raise WorkflowNotFoundError(f"workflow not found: {cause.message}") from cause
            raise EngineError(f"{cause.status.name}: {cause.message}") from cause
        except (RuntimeError, OSError, TookTooLong) as cause:
            future.cancel()
            raise EngineError(f"{type(cause).__name__}: {cause}") from cause


def _noun(execution: Run) -> str:
    return "agent" if execution.id.startswith("aex_") else "workflow"


def _workflow_id(execution: Run) -> str:
    return f"stigmer/{_noun(execution)}-execution/invoke/{execution.id}"


def _workflow_type(execution: Run) -> str:
    return f"Invoke{_noun(execution).capitalize()}Execution"


def _reuse(recovery_mode: bool) -> Any:
    if recovery_mode:
        return WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
    return WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE


def _input(execution: Run, recovery_mode: bool) -> dict[str, Any]:
    """What the run is told of itself."""
    return {
        "execution_id": execution.id,
        "target_id": execution.target,
        "instance_id": execution.instance,
        "org": execution.organization,
        "message": execution.message,
        "input": None if execution.input is None else msgspec.json.decode(execution.input),
        "recovery_mode": recovery_mode,
    }


async def _payloads(client: Client, value: Any) -> Payloads:
    return Payloads(payloads=await client.data_converter.encode([value]))
