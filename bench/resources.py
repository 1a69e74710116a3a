"""`python -m bench.resources`: plans and times of the store at a million documents.

Fills the database of DATABASE_URL with documents in organizations of its own, captures the plan of
every hot query, times search against the same SQL without the product around it, and deletes what
it made. `--documents N` chooses how many, `--keep` leaves them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stigmer.settings")
os.environ.setdefault("STIGMER_STATEMENT_TIMEOUT", "0")
django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from resources.queries import documents, fields  # noqa: E402
from resources.search import Search, search  # noqa: E402
from stigmer.core.callers import Caller  # noqa: E402

PREFIX = "bench-resources"
ORGANIZATIONS = 100
BATCH = 50_000
KINDS = ("agent", "skill", "workflow_instance", "memory")
# Ids of the right form and in the order of their numbers: base32 digits of a TypeID.
_ID = """
    CASE n % 4 WHEN 0 THEN 'agt' WHEN 1 THEN 'skl' WHEN 2 THEN 'win' ELSE 'mem' END
    || '_01' || lpad(to_hex(n), 24, '0')
"""
_FILL = f"""
INSERT INTO resources_resource (
    id, kind, organization, slug, name, visibility, labels, annotations, tags, spec, status,
    sealed, words, resource_version, created_at, created_by, updated_at, updated_by)
SELECT {_ID},
    (ARRAY['agent', 'skill', 'workflow_instance', 'memory'])[n %% 4 + 1],
    %(prefix)s::text || '-' || n %% {ORGANIZATIONS},
    'document-' || n,
    words.name,
    CASE WHEN n %% 50 = 0 THEN 'visibility_public' WHEN n %% 50 = 1 THEN 'visibility_private'
        ELSE 'visibility_org' END,
    jsonb_build_object('team', 't' || n %% 5000, 'env', (ARRAY['prod', 'test'])[n %% 2 + 1]),
    '{{}}', '["bench"]',
    jsonb_build_object('description', 'Document number ' || n, 'workflow_id',
        'wfl_01' || lpad(to_hex(n / 40), 24, '0')),
    '{{}}', '{{}}',
    jsonb_build_object('name', words.name, 'tags', 'bench', 'description',
        'document number ' || n),
    1, %(now)s::timestamptz - n * interval '1 second', 'service:stigmer', %(now)s, 'service:stigmer'
FROM generate_series(%(first)s::int, %(last)s::int) AS n,
    LATERAL (SELECT concat_ws(' ',
        (ARRAY['common', 'ordinary'])[n %% 2 + 1],
        CASE WHEN n %% 10000 = 7 THEN 'rareword' END,
        'word' || n %% 20000) AS name) AS words
""".replace("n % 4 ", "n %% 4 ")


def execute(sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    """The rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


def fill(count: int) -> None:
    """Organizations and documents, straight into the tables."""
    now = timezone.now()
    for table, columns, values in (
        ("organizations_organizationslug", "slug, claimed_at", "%(p)s::text || '-' || n, %(now)s"),
        (
            "organizations_organization",
            "slug, name, description, created_at, updated_at",
            "%(p)s::text || '-' || n, 'Bench ' || n, '', %(now)s, %(now)s",
        ),
    ):
        execute(
            f"INSERT INTO {table} ({columns}) SELECT {values} "
            f"FROM generate_series(0, {ORGANIZATIONS - 1}) AS n",
            {"p": PREFIX, "now": now},
        )
    began = time.monotonic()
    for first in range(0, count, BATCH):
        last = min(first + BATCH, count) - 1
        execute(_FILL, {"prefix": PREFIX, "now": now, "first": first, "last": last})
        print(f"  {last + 1:>9,} documents, {time.monotonic() - began:6.1f} s", flush=True)
    for table in ("resources_resource", "organizations_organizationslug"):
        execute(f"VACUUM ANALYZE {table}")


def clear() -> None:
    """Delete what `fill` made."""
    execute("DELETE FROM resources_resource WHERE organization LIKE %s", [f"{PREFIX}-%"])
    execute("DELETE FROM organizations_organization WHERE slug LIKE %s", [f"{PREFIX}-%"])
    execute("DELETE FROM organizations_organizationslug WHERE slug LIKE %s", [f"{PREFIX}-%"])


# Plans --------------------------------------------------------------------------------------------


def statements_of(call: Callable[[], Any]) -> list[tuple[str, Any]]:
    """What the call sends, with its parameters."""
    sent: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        sent.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        call()
    return [(sql, params) for sql, params in sent if sql.lstrip().startswith("SELECT")]


def nodes(plan: dict[str, Any]) -> list[str]:
    """Every scan of the documents in a plan, with the index it uses."""
    found = []
    if plan["Node Type"] == "Seq Scan" and plan.get("Relation Name") == "resources_resource":
        found.append("SEQ SCAN")
    if "Index Name" in plan and plan["Index Name"].startswith("resource"):
        found.append(f"{plan['Node Type']} {plan['Index Name']}")
    return found + [name for child in plan.get("Plans", []) for name in nodes(child)]


def plan_of(call: Callable[[], Any]) -> tuple[list[str], float]:
    """The scans of the call's last statement, and its time in milliseconds."""
    sql, params = statements_of(call)[-1]
    (row,) = execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
    (explained,) = row[0]
    return nodes(explained["Plan"]), explained["Execution Time"]


def timed(call: Callable[[], Any], rounds: int) -> float:
    """The median time in milliseconds."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def queries(member: Caller, admin: Caller, count: int) -> dict[str, Callable[[], Any]]:
    """The hot queries by name."""
    org = f"{PREFIX}-8"

    def page(viewer: Caller, kind: str, **filters: Any) -> Callable[[], Any]:
        asked = documents.Filters(**filters)
        return lambda: documents.rows(documents.documents(viewer, kind, asked)[:101])

    def deep(viewer: Caller, kind: str) -> Callable[[], Any]:
        found = documents.documents(viewer, kind, documents.Filters(org=org))
        middle = found[(count // 200) : (count // 200) + 1][0]
        position = (middle.created_at, middle.pk)
        return lambda: documents.rows(documents.after(found, position)[:101])

    parent = f"wfl_01{count // 80:024x}"
    number = (count // 2) // 100 * 100 + 8
    return {
        "list by organization": page(member, "agent", org=org),
        "the same, a page in the middle": deep(member, "agent"),
        "list, no organization named": page(member, "agent"),
        "list of everything (admin)": page(admin, "agent"),
        "list by parent": page(admin, "workflow_instance", parent=parent),
        "list by label, rare": page(admin, "agent", labels=(("team", "t8"),)),
        "list by label, common": page(admin, "agent", labels=(("env", "prod"),)),
        "get by id": lambda: documents.find("agent", f"agt_01{number:024x}"),
        "get by slug": lambda: documents.find_by_slug("agent", org, f"document-{number}"),
        "find_by_field, indexed": lambda: fields.find_all_by_field(
            admin, "workflow_instance", "spec.workflow_id", parent
        ),
        "find_by_label": lambda: fields.find_all_by_label(admin, "agent", "team", "t8"),
        "scan": lambda: documents.scan(admin, "agent", f"agt_01{number:024x}", 500),
    }


# Search -------------------------------------------------------------------------------------------

_BARE_COUNT = """
    SELECT kind, count(*) FROM resources_resource r
    JOIN organizations_organizationslug s ON s.slug = r.organization AND s.retired_at IS NULL
    WHERE kind = ANY(%(kinds)s) {words} GROUP BY kind
"""
_BARE_PAGE = """
    SELECT kind, id, name, r.slug, organization, {score} AS score, created_at
    FROM resources_resource r
    JOIN organizations_organizationslug s ON s.slug = r.organization AND s.retired_at IS NULL
    WHERE kind = ANY(%(kinds)s) {words} ORDER BY {order} LIMIT 100
"""


def bare(words: str, query: str) -> Callable[[], Any]:
    """The same page and counts as plain SQL."""
    held = f"AND terms @@ {query}" if words else ""
    score = f"ts_rank(terms, {query}, 32)" if words else "1.0"
    order = "score DESC, created_at DESC, id DESC" if words else "created_at DESC, id DESC"
    params = {"kinds": ["agent", "skill", "workflow_instance"], "words": words}
    return lambda: (
        execute(_BARE_COUNT.format(words=held), params),
        execute(_BARE_PAGE.format(words=held, score=score, order=order), params),
    )


def searches(admin: Caller) -> None:
    """Ours ÷ the same SQL."""
    print("\n| search | ours ms | bare SQL ms | ratio |\n|---|---|---|---|")
    plain, prefix = "plainto_tsquery('simple', %(words)s)", "(%(words)s || ':*')::tsquery"
    for name, words, query in (
        ("common term", "common", prefix),
        ("rare term", "rareword", prefix),
        ("prefix", "rarew", prefix),
        ("two terms", "common rareword", plain),
        ("list", "", ""),
    ):
        rounds = 5 if name in ("common term", "list") else 21
        kinds = frozenset({"agent", "skill", "workflow_instance"})
        asked = Search(q=words, kinds=kinds)
        limit = timed(bare(words, query), rounds)
        ours = timed(lambda asked=asked: search(admin, asked), rounds)  # type: ignore[misc]
        print(f"| {name} | {ours:.1f} | {limit:.1f} | {ours / limit:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--filled", action="store_true", help="measure what --keep left")
    chosen = parser.parse_args()
    admin = Caller("", "service:stigmer", "service", platform_admin=True)
    member = Caller("", "service:stigmer", "service", roles={f"{PREFIX}-8": "member"})
    try:
        if not chosen.filled:
            fill(chosen.documents)
        print("\n| query | index | ms |\n|---|---|---|")
        for name, call in queries(member, admin, chosen.documents).items():
            found, taken = plan_of(call)
            print(f"| {name} | {', '.join(found)} | {taken:.2f} |", flush=True)
        searches(admin)
    finally:
        if not chosen.keep:
            clear()


if __name__ == "__main__":
    main()
