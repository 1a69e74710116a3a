"""The two kinds of executions: what each is called and where it lives."""

from __future__ import annotations

from typing import NamedTuple

from stigmer.core.ids import is_id


class Kind(NamedTuple):
    """One kind of execution.

    `noun` names it in texts and to the authorizer, `target` is what it runs.
    """

    noun: str
    document: str
    prefix: str
    target: str
    table: str
    inbox: str
    receipt: str

    @property
    def words(self) -> str:
        """The noun as prose: `workflow execution`."""
        return self.noun.replace("_", " ")


WORKFLOW = Kind(
    noun="workflow_execution",
    document="WorkflowExecution",
    prefix="wfe",
    target="workflow",
    table="executions_workflowexecution",
    inbox="executions_workflowinboxentry",
    receipt="workflow_execution",
)
AGENT = Kind(
    noun="agent_execution",
    document="AgentExecution",
    prefix="aex",
    target="agent",
    table="executions_agentexecution",
    inbox="executions_agentinboxentry",
    receipt="agent_execution",
)
KINDS = {kind.noun: kind for kind in (WORKFLOW, AGENT)}
BY_PREFIX = {kind.prefix: kind for kind in (WORKFLOW, AGENT)}


def kind_of(execution: str) -> Kind | None:
    """The kind that this id belongs to, or None for what is no id of an execution."""
    return next((kind for kind in KINDS.values() if is_id(kind.prefix, execution)), None)
