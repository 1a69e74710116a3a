"""Workflow executions in bulk, as runners would have left them: a tenth belongs to one tenant."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import connection

from bench import fill

RUNNER = "service:bench"
_CHUNK = 50_000

_EXECUTIONS = """
INSERT INTO executions_workflowexecution (
    id, organization, name, labels, target, target_slug, target_name, instance, session,
    visibility, created_by, message, phase, tasks, error, started_at, completed_at, cost_micros,
    input_tokens, output_tokens, pending_approvals, pending_file_reviews, gates, created_at,
    updated_at, ended_at, engine, engine_ref, claim_id, claim_digest, claim_attempt, claimable_at,
    last_inbox, has_events
)
SELECT 'wfe_' || translate(lpad(to_hex(n), 26, '0'), 'abcdef', 'ghjkmn'),
    CASE WHEN n %% 10 = 0 THEN 'bench-a'
         ELSE (ARRAY['bench-b', 'bench-c', 'bench-d'])[1 + n %% 3] END,
    'Run ' || n, '{}', 'wfl_bench' || n %% 40, 'flow-' || n %% 40, 'Flow', 'win_bench' || n %% 80,
    '', CASE WHEN n %% 50 = 0 THEN 'visibility_private' ELSE 'visibility_org' END, 'bench', '',
    CASE WHEN n %% 100 < 80 THEN 'EXECUTION_COMPLETED' WHEN n %% 100 < 98 THEN 'EXECUTION_FAILED'
         ELSE 'EXECUTION_IN_PROGRESS' END,
    CASE WHEN n %% 100 BETWEEN 80 AND 97
         THEN '[{"name": "deploy", "status": "WORKFLOW_TASK_FAILED", "retry_count": 1}]'
         ELSE '[{"name": "deploy", "status": "WORKFLOW_TASK_COMPLETED"}]' END::jsonb,
    '', t, CASE WHEN n %% 100 < 98 THEN t + make_interval(secs => n %% 300) END, n %% 1000,
    n %% 5000, n %% 700, '[]', '[]', '{}', t, t, CASE WHEN n %% 100 < 98 THEN t END, 'temporal',
    '', '', '', 0, t, 0, false
FROM generate_series(%s::bigint, %s::bigint) n,
LATERAL (SELECT now() - make_interval(secs => (%s::bigint - n) * 6)) AS moment(t)
"""


def executions(rows: int) -> None:
    """Make sure that there are this many executions of the bench, then vacuum and analyze."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SELECT count(*) FROM executions_workflowexecution WHERE name LIKE 'Run %%'")
        have = int(cursor.fetchone()[0])
        while have < rows:
            upto = min(rows, have + _CHUNK)
            cursor.execute(_EXECUTIONS, [have + 1, upto, rows])
            have = upto
            print(f"\r{have:,} of {rows:,} executions", end="", flush=True)
        print()
        cursor.execute("VACUUM (ANALYZE)")


def runner() -> str:
    """The service that runs executions in every tenant of the bench; answers a token."""
    from organizations.operations import members, principals, tokens
    from organizations.queries import caller_by_name
    from stigmer.core.callers import system_act

    by, now = system_act(), datetime.now(UTC)
    if caller_by_name(RUNNER) is None:
        principals.create_principal(name=RUNNER, kind="service", by=by, now=now)
    for tenant in fill.TENANTS:
        members.put_member(organization=tenant, principal=RUNNER, role="member", by=by, now=now)
    _, secret = tokens.create_token(principal=RUNNER, name="bench", expires_at=None, by=by, now=now)
    return secret
