"""Tables of executions and everything that hangs on one."""

from executions.models.execution import AgentExecution, WorkflowExecution
from executions.models.trail import (
    AgentInboxEntry,
    ExecutionRequest,
    SignalClaim,
    WorkflowExecutionEvent,
    WorkflowInboxEntry,
)

__all__ = [
    "AgentExecution",
    "AgentInboxEntry",
    "ExecutionRequest",
    "SignalClaim",
    "WorkflowExecution",
    "WorkflowExecutionEvent",
    "WorkflowInboxEntry",
]
