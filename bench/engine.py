"""`python -m bench engine`: whole executions through the runner protocol, by several runners."""

from __future__ import annotations

import json
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from bench import fill, fill_executions, installation
from bench.load import Connection, measure

TASKS = [{"name": "build", "status": "WORKFLOW_TASK_COMPLETED"}]


def run(*, runners: list[int], seconds: float) -> None:
    """Fill, serve, run, print."""
    installation.prepare()
    fill.principals()
    token = fill_executions.runner()
    fill_executions.prepared()
    table = Table(title=f"claim, start, finish with 3 events; {seconds:g} s each")
    for name in ("runners", "executions/s", "p50 ms", "p95 ms"):
        table.add_column(name, justify="right")
    with installation.serving() as server:
        for number in runners:
            found = measure(_runner(server, token), clients=number, seconds=seconds)
            table.add_row(str(number), f"{found.rate:,.0f}", f"{found.p50:.1f}", f"{found.p95:.1f}")
    Console().print(table)


def _runner(server: installation.Server, token: str) -> Callable[[int], Callable[[], None]]:
    def make(_: int) -> Callable[[], None]:
        connection = Connection(server.host, server.port, token)

        def send(path: str, body: object) -> bytes:
            raw = json.dumps(body).encode()
            status, answer = connection.send("POST", f"/api/v1{path}", raw)
            if status != 200:
                raise RuntimeError(f"{path}: {status} {answer[:300]!r}")
            return answer

        def call() -> None:
            made = json.loads(send("/runner/claim", {"kinds": ["workflow_execution"]}))
            path = f"/workflow-executions/{made['execution']['metadata']['id']}/status"
            held = {"claim_token": made["claim_token"]}
            for phase, events in (("IN_PROGRESS", [1, 2]), ("COMPLETED", [3])):
                status = {"phase": f"EXECUTION_{phase}", "tasks": TASKS}
                logged = [{"sequence_number": n, "event_type": "log"} for n in events]
                send(path, {**held, "status": status, "events": logged})

        return call

    return make
