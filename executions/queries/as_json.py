"""An execution as the API shows it, written by PostgreSQL; a test compares both ways."""

from __future__ import annotations

from executions.kinds import AGENT, WORKFLOW, Kind
from stigmer.core.json_sql import json_object, moment

_SPECS = {
    False: {
        "workflow_id": "e.target",
        "workflow_instance_id": "e.instance",
        "trigger_message": "NULLIF(e.message, '')",
    },
    True: {
        "agent_id": "e.target",
        "agent_instance_id": "NULLIF(e.instance, '')",
        "session_id": "NULLIF(e.session, '')",
        "message": "NULLIF(e.message, '')",
    },
}
_METADATA = {
    "id": "e.id",
    "name": "e.name",
    "slug": "e.id",
    "org": "e.organization",
    "visibility": "e.visibility",
    "labels": "e.labels",
    "created_at": moment("e.created_at"),
    "created_by": "e.created_by",
}
_AUDIT = {"created_at": moment("e.created_at"), "updated_at": moment("e.updated_at")}
_STATUS = {
    "phase": "e.phase",
    "tasks": "e.tasks",
    "output": "e.output",
    "error": "NULLIF(e.error, '')",
    "started_at": moment("e.started_at"),
    "completed_at": moment("e.completed_at"),
    "engine_ref": "NULLIF(e.engine_ref, '')",
    "total_cost_micros": "e.cost_micros",
    "total_input_tokens": "e.input_tokens",
    "total_output_tokens": "e.output_tokens",
    "pending_approvals": "e.pending_approvals",
    "pending_file_reviews": "e.pending_file_reviews",
    "audit": json_object(_AUDIT),
}


def _envelope(kind: Kind) -> str:
    agent = kind is AGENT
    spec = _SPECS[agent] | {"input": "e.input", "execution_target": "e.execution_target"}
    whole = {
        "api_version": "'agentic.stigmer.ai/v1'::text",
        "kind": f"'{'Agent' if agent else 'Workflow'}Execution'::text",
        "metadata": json_object(_METADATA),
        "spec": json_object(spec),
        "status": json_object(_STATUS),
    }
    return f"{json_object(whole)}::text"


# By the noun of the kind: SQL over `e`.
ENVELOPE = {kind.noun: _envelope(kind) for kind in (AGENT, WORKFLOW)}
