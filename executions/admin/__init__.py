"""Console pages of executions."""

from executions.admin.executions import AgentExecutionAdmin, WorkflowExecutionAdmin

__all__ = ["AgentExecutionAdmin", "WorkflowExecutionAdmin"]
