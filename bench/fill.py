"""`python -m bench fill --items N`: rows in bulk, as the product itself would have left them."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import connection

OWNER, TENANTS = "bench", ("bench-a", "bench-b", "bench-c", "bench-d")
_CHUNK = 50_000

_ITEMS = """
INSERT INTO workitems_workitem (
    id, organization, owner, visibility, origin_surface, title, external_key, state,
    waiting_reason, state_version, created_by, created_at, updated_at, completed_at, last_event_seq
)
SELECT 'wi_' || translate(lpad(to_hex(n), 26, '0'), 'abcdef', 'ghjkmn'),
    (ARRAY['bench-a', 'bench-b', 'bench-c', 'bench-d'])[1 + n %% 4], 'bench',
    CASE WHEN n %% 20 = 0 THEN 'private' ELSE 'tenant' END, 'api',
    (ARRAY['Prepare', 'Review', 'Send', 'Translate', 'Check'])[1 + n %% 5] || ' the ' ||
    (ARRAY['quarterly', 'weekly', 'final', 'draft', 'Zürich', 'Москва'])[1 + n %% 6] || ' ' ||
    (ARRAY['report', 'invoice', 'contract', 'ticket', 'budget'])[1 + n / 7 %% 5] || ' no. ' ||
    n || '.' || CASE WHEN n < %s::bigint / 5 THEN ' Paper' ELSE '' END,
    'bench:' || n,
    CASE WHEN n %% 10 < 7 THEN 'completed' WHEN n %% 10 < 9 THEN 'active' ELSE 'waiting' END,
    CASE WHEN n %% 10 = 9 THEN 'input' ELSE '' END,
    CASE WHEN n %% 10 < 7 THEN 2 ELSE 1 END, 'bench', t, t,
    CASE WHEN n %% 10 < 7 THEN t END, 2
FROM generate_series(%s::bigint, %s::bigint) n,
LATERAL (SELECT now() - make_interval(secs => (%s::bigint - n) * 7)) AS moment(t)
"""
_CHILDREN = (
    """
INSERT INTO workitems_workitemtitle (work_item, organization, folded)
SELECT id, organization, lower(title) FROM workitems_workitem WHERE external_key LIKE 'bench:%%'
    AND id BETWEEN %s AND %s
""",
    """
INSERT INTO workitems_workitemevent (
    work_item, seq, kind, from_state, to_state, actor, surface, request_id, detail, created_at
)
SELECT id, seq, CASE seq WHEN 1 THEN 'created' ELSE 'intent_appended' END, NULL,
    CASE seq WHEN 1 THEN 'active' END, 'bench', 'api', 'req_bench', '{}', created_at
FROM workitems_workitem, generate_series(1, 2) seq
WHERE external_key LIKE 'bench:%%' AND id BETWEEN %s AND %s
""",
    """
INSERT INTO workitems_workitemintent (work_item, actor, surface, text, created_at)
SELECT id, 'bench', 'api', 'Please do this: ' || title, created_at
FROM workitems_workitem WHERE external_key LIKE 'bench:%%' AND id BETWEEN %s AND %s
""",
    """
INSERT INTO workitems_workitemexecution (
    id, work_item, engine, engine_ref, attempt, phase, started_at, ended_at
)
SELECT 'we_' || substr(id, 4), id, 'argo', 'run-' || id, 1, 'Succeeded', created_at, created_at
FROM workitems_workitem WHERE external_key LIKE 'bench:%%' AND id BETWEEN %s AND %s
""",
    """
INSERT INTO workitems_createrequest (
    organization, idempotency_key, operation, request_hash, actor, work_item, created_at
)
SELECT organization, 'key:' || id, 'create', 'x', 'bench', id, created_at
FROM workitems_workitem WHERE external_key LIKE 'bench:%%' AND id BETWEEN %s AND %s
""",
)


def principals() -> str:
    """The cast of a measurement; answers a token."""
    from organizations.operations import organizations, principals, tokens
    from organizations.queries import caller_by_name, is_live
    from stigmer.core.callers import system_act

    by, now = system_act(), datetime.now(UTC)
    if caller_by_name(OWNER) is None:
        principals.create_principal(name=OWNER, kind="human", by=by, now=now)
    for tenant in TENANTS:
        if not is_live(tenant):
            organizations.create_organization(name=tenant, slug=tenant, owner=OWNER, by=by, now=now)
    _, secret = tokens.create_token(principal=OWNER, name="bench", expires_at=None, by=by, now=now)
    return secret


def fill(items: int) -> None:
    """Make sure that there are this many work items of the bench, then vacuum and analyze."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SELECT count(*) FROM workitems_workitem WHERE external_key LIKE 'bench:%%'")
        have = int(cursor.fetchone()[0])
        while have < items:
            upto = min(items, have + _CHUNK)
            cursor.execute(_ITEMS, [items, have + 1, upto, items])
            first, last = _id(cursor, have + 1), _id(cursor, upto)
            for statement in _CHILDREN:
                cursor.execute(statement, [first, last])
            have = upto
            print(f"\r{have:,} of {items:,} items", end="", flush=True)
        print()
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute("CHECKPOINT")


def _id(cursor: object, n: int) -> str:
    cursor.execute(  # type: ignore[attr-defined]
        "SELECT 'wi_' || translate(lpad(to_hex(%s::bigint), 26, '0'), 'abcdef', 'ghjkmn')", [n]
    )
    return str(cursor.fetchone()[0])  # type: ignore[attr-defined]
