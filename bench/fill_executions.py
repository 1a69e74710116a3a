"""Workflow executions in bulk, as runners would have left them: a tenth belongs to one tenant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection

from bench import fill
from stigmer.core.ids import new_id

RUNNER = "service:bench"
HELD, WAITING = 400, 60_000
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


# Executions to report on and to claim

_CLAIMED = """
INSERT INTO executions_workflowexecution (
    id, organization, name, labels, target, target_slug, target_name, instance, session,
    visibility, created_by, message, phase, tasks, error, cost_micros, input_tokens, output_tokens,
    pending_approvals, pending_file_reviews, gates, created_at, updated_at, engine, engine_ref,
    claimed_by, claim_id, claim_digest, claim_attempt, claimable_at, last_inbox, has_events
)
SELECT id, 'bench-a', 'Held', '{}', 'wfl_bench', 'flow', 'Flow', 'win_bench', '',
    'visibility_org', 'bench', '', %(phase)s::text, '[]', '', 0, 0, 0, '[]', '[]', '{}', now(),
    now(), 'runner', '', %(by)s::text, '', %(digest)s::text, %(attempt)s::int,
    %(until)s::timestamptz, 0, false
FROM unnest(%(ids)s::text[]) id
"""
CLAIM_TOKEN = "claim_bench"


def _insert(count: int, phase: str, *, held: bool) -> list[str]:
    from django.db import connection

    from executions.operations.holding import digest_of

    ids = [new_id("wfe") for _ in range(count)]
    now = datetime.now(UTC)
    values: dict[str, Any] = {
        "ids": ids, "phase": phase, "attempt": int(held),
        "by": RUNNER if held else None,
        "digest": digest_of(CLAIM_TOKEN) if held else "",
        "until": now + timedelta(days=1) if held else now,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_CLAIMED, values)
    return ids


def prepared() -> list[str]:
    """Executions that a runner holds, beside many that wait; what an earlier run left is gone."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SELECT set_config('stigmer.purge', 'on', false)")
        cursor.execute("DELETE FROM executions_workflowexecution WHERE name = 'Held'")
        cursor.execute("SELECT set_config('stigmer.purge', 'off', false)")
    held = _insert(HELD, "EXECUTION_IN_PROGRESS", held=True)
    _insert(WAITING, "EXECUTION_PENDING", held=False)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE) executions_workflowexecution")
    connection.close()
    return held
