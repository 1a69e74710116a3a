"""An execution as the API shows it, written by PostgreSQL; a test compares both ways."""

from __future__ import annotations

from executions.kinds import AGENT, WORKFLOW, Kind
from executions.queries.rows import MODELS
from stigmer.core.json_sql import json_object, moment

_SPECS = {
    False: {
        "workflow_id": "{t}.target",
        "workflow_instance_id": "{t}.instance",
        "trigger_message": "NULLIF({t}.message, '')",
    },
    True: {
        "agent_id": "{t}.target",
        "agent_instance_id": "NULLIF({t}.instance, '')",
        "session_id": "NULLIF({t}.session, '')",
        "message": "NULLIF({t}.message, '')",
    },
}
_METADATA = {
    "id": "{t}.id",
    "name": "{t}.name",
    "slug": "{t}.id",
    "org": "{t}.organization",
    "visibility": "{t}.visibility",
    "labels": "{t}.labels",
    "created_at": moment("{t}.created_at"),
    "created_by": "{t}.created_by",
}
_AUDIT = {"created_at": moment("{t}.created_at"), "updated_at": moment("{t}.updated_at")}
_STATUS = {
    "phase": "{t}.phase",
    "tasks": "{t}.tasks",
    "output": "{t}.output",
    "error": "NULLIF({t}.error, '')",
    "started_at": moment("{t}.started_at"),
    "completed_at": moment("{t}.completed_at"),
    "engine_ref": "NULLIF({t}.engine_ref, '')",
    "total_cost_micros": "{t}.cost_micros",
    "total_input_tokens": "{t}.input_tokens",
    "total_output_tokens": "{t}.output_tokens",
    "pending_approvals": "{t}.pending_approvals",
    "pending_file_reviews": "{t}.pending_file_reviews",
    "audit": json_object(_AUDIT),
}


def _envelope(kind: Kind) -> str:
    agent = kind is AGENT
    spec = _SPECS[agent] | {"input": "{t}.input", "execution_target": "{t}.execution_target"}
    whole = {
        "api_version": "'agentic.stigmer.ai/v1'::text",
        "kind": f"'{'Agent' if agent else 'Workflow'}Execution'::text",
        "metadata": json_object(_METADATA),
        "spec": json_object(spec),
        "status": json_object(_STATUS),
    }
    table = MODELS[kind.noun]._meta.db_table
    return f"{json_object(whole)}::text".replace("{t}", table)


# By the noun of the kind: SQL over the table's own name.
ENVELOPE = {kind.noun: _envelope(kind) for kind in (AGENT, WORKFLOW)}
