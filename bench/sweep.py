"""`python -m bench sweep`: the p95 of requests, quiet and while retention deletes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

from django.db import connection
from rich.console import Console
from rich.table import Table

from bench import fill, installation, limit
from bench.load import Connection, Measured, measure

TENANT = "bench-a"
DAYS = 3000
_OLD = """
INSERT INTO workitems_workitem (
    id, organization, owner, visibility, origin_surface, title, external_key, state,
    waiting_reason, state_version, created_by, created_at, updated_at, completed_at, last_event_seq
)
SELECT 'wi_6' || substr(md5(random()::text || n), 1, 25), 'bench-c', 'bench', 'tenant', 'api',
    'Old work', '', 'completed', '', 2, 'bench', t, t, t, 2
FROM generate_series(1, %s) n,
LATERAL (SELECT now() - make_interval(days => %s, secs => n)) AS moment(t)
"""
_EVENTS = """
INSERT INTO workitems_workitemevent (
    work_item, seq, kind, actor, surface, request_id, detail, created_at
)
SELECT id, seq, 'created', 'bench', 'api', '', '{}', created_at
FROM workitems_workitem, generate_series(1, 2) seq
WHERE completed_at < now() - make_interval(days => %s)
"""
_LEFT = """
SELECT count(*) FROM workitems_workitem WHERE completed_at < now() - make_interval(days => %s)
"""


def run(*, rows: int, seconds: float, clients: int) -> None:
    """Measure both, in one run, and print the ratio."""
    installation.prepare()
    token = fill.principals()
    fill.fill(10_000)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(_OLD, [rows, DAYS])
        cursor.execute(_EVENTS, [DAYS])
        cursor.execute("VACUUM (ANALYZE)")
    connection.close()
    with installation.serving() as server:
        calls = _calls(server, token)
        quiet = {name: measure(c, clients=clients, seconds=seconds) for name, c in calls.items()}
        began = time.monotonic()
        sweep = subprocess.Popen(
            [
                sys.executable, "manage.py", "shell", "-c",
                ("from django.utils import timezone; from stigmer.background import sweeps; "
                "sweeps.run(sweeps.find('workitems.sweep_retention'), now=timezone.now(), "
                f"older_than={DAYS - 1})"),
            ],
            cwd=installation.PROJECT,
        )  # fmt: skip
        busy = {name: measure(c, clients=clients, seconds=seconds) for name, c in calls.items()}
        left = _left()
        sweep.wait()
    _print(rows, left, time.monotonic() - began, quiet, busy)


def _left() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_LEFT, [DAYS - 1])
        found = int(cursor.fetchone()[0])
    connection.close()
    return found


def _calls(
    server: installation.Server, token: str
) -> dict[str, Callable[[int], Callable[[], None]]]:
    def call(method: str, path: str, expected: int) -> Callable[[int], Callable[[], None]]:
        def make(_: int) -> Callable[[], None]:
            api = Connection(server.host, server.port, token)

            def one() -> None:
                key = limit.unique()
                body = {"tenant": TENANT, "title": "Prepare it", "external_key": key}
                sent = json.dumps(body).encode() if method == "POST" else b""
                head = f"Idempotency-Key: {key}\r\n" if method == "POST" else ""
                status, answer = api.send(method, f"/api/v1{path}", sent, head)
                if status != expected:
                    raise RuntimeError(f"{path}: {status} {answer[:200]!r}")

            return one

        return make

    return {
        "create": call("POST", "/work-items", 201),
        "list": call("GET", f"/work-items?tenant={TENANT}&limit=50", 200),
    }


def _print(
    rows: int, left: int, took: float, quiet: dict[str, Measured], busy: dict[str, Measured]
) -> None:
    table = Table(title=f"retention of {rows:,} items beside requests")
    for name in ("call", "quiet p95 ms", "beside p95 ms", "ratio", "quiet /s", "beside /s"):
        table.add_column(name, justify="left" if name == "call" else "right")
    for name, calm in quiet.items():
        under = busy[name]
        table.add_row(
            name, f"{calm.p95:.1f}", f"{under.p95:.1f}", f"{under.p95 / calm.p95:.2f}",
            f"{calm.rate:,.0f}", f"{under.rate:,.0f}",
        )  # fmt: skip
    Console().print(table)
    print(f"{left:,} rows were left when the measurement ended; the sweep took {took:.0f} s")
