"""`python -m bench executions`: executions over HTTP beside bare psycopg."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from rich.console import Console
from rich.table import Table

from bench import fill, fill_executions, installation, limit
from bench.load import Connection, measure

TENANT = "bench-a"
GOALS = {
    "event batch 100": 0.45, "list first": 0.40, "list deep": 0.40, "get": 0.40, "summary": 0.5,
    "claim": 0.25,
}  # fmt: skip
BATCH = 100
TASKS = [{"name": f"task-{n}", "status": "WORKFLOW_TASK_IN_PROGRESS"} for n in range(8)]

# What one call sends: method, path, body; and what it must answer.
Request = tuple[str, str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of call: `http(client)` makes its requests, `swap` freshens recorded values."""

    name: str
    http: Callable[[int], Iterator[Request]]
    status: tuple[int, ...]
    token: str
    swap: Callable[[int], Callable[[str, Any], Any]]
    headers: Callable[[], str] = lambda: ""
    write: bool = True


def run(*, rows: int, seconds: float, clients: list[int], only: list[str]) -> None:
    """Fill, serve, measure, print."""
    installation.prepare()
    owner, runner = fill.principals(), fill_executions.runner()
    fill_executions.executions(rows)
    with installation.serving() as server:
        table = Table(title=f"{rows:,} executions; {seconds:g} s each; rates per second")
        for name in ("call", "clients", "ours", "limit", "ratio", "goal", "p50 ms", "p95 ms"):
            table.add_column(name, justify="left" if name == "call" else "right")
        for scenario in scenarios(server, owner, runner):
            if not only or scenario.name in only:
                for row in _measured(scenario, server, clients, seconds):
                    table.add_row(*row)
    Console().print(table)


def _measured(
    scenario: Scenario, server: installation.Server, clients: list[int], seconds: float
) -> Iterator[list[str]]:
    statements = _record(scenario)
    for number in clients:
        ours = measure(_over_http(scenario, server), clients=number, seconds=seconds)
        most = measure(_bare(scenario, statements), clients=number, seconds=seconds)
        goal = GOALS.get(scenario.name)
        yield [
            scenario.name, str(number), f"{ours.rate:,.0f}", f"{most.rate:,.0f}",
            f"{ours.rate / most.rate:.2f}", f"{goal:.2f}" if goal and number == 8 else "",
            f"{ours.p50:.1f}", f"{ours.p95:.1f}",
        ]  # fmt: skip


def _over_http(scenario: Scenario, server: installation.Server) -> Any:
    def make(number: int) -> Callable[[], None]:
        connection = Connection(server.host, server.port, scenario.token)
        requests = scenario.http(number)

        def call() -> None:
            method, path, body = next(requests)
            raw = b"" if body is None else json.dumps(body).encode()
            status, answer = connection.send(method, f"/api/v1{path}", raw, scenario.headers())
            if status not in scenario.status:
                raise RuntimeError(f"{scenario.name}: {status} {answer[:300]!r}")

        return call

    return make


def _record(scenario: Scenario) -> list[tuple[str, Any]]:
    """The statements of one call through the whole application, authentication included."""
    from django.db import connection
    from django.test import Client

    method, path, body = next(scenario.http(10_001))
    headers = {"Authorization": f"Bearer {scenario.token}"}
    for line in filter(None, scenario.headers().split("\r\n")):
        name, _, value = line.partition(": ")
        headers[name] = value

    def call() -> None:
        client = Client(headers=headers, SERVER_NAME="localhost")
        raw = b"" if body is None else json.dumps(body).encode()
        answer = client.generic(method, f"/api/v1{path}", raw, content_type="application/json")
        if answer.status_code not in scenario.status:
            raise RuntimeError(f"{scenario.name}: {answer.status_code} {answer.content!r}")

    sent = [(sql, params) for sql, params in limit.record(call) if "SAVEPOINT" not in sql]
    connection.close()
    return sent


def _bare(scenario: Scenario, statements: list[tuple[str, Any]]) -> Any:
    """Clients that send the same statements through psycopg alone."""

    def make(number: int) -> Callable[[], None]:
        connection = psycopg.connect(installation.conninfo(), autocommit=not scenario.write)
        connection.prepare_threshold = 5
        connection.adapters.register_loader("timestamptz", limit.Text)
        swap = scenario.swap(number)

        def call() -> None:
            for sql, params in statements:
                cursor = connection.execute(sql, swap(sql, params))
                if cursor.description:
                    cursor.fetchall()
            if scenario.write:
                connection.commit()

        return call

    return make


# What is measured ---------------------------------------------------------------------------------


def scenarios(server: installation.Server, owner: str, runner: str) -> list[Scenario]:
    """What is measured."""
    held = fill_executions.prepared()
    logged = held[0]
    api = Connection(server.host, server.port, runner)
    for first in range(1, 1001, 100):
        api.send("POST", f"/api/v1/workflow-executions/{logged}/status",
                 json.dumps(_batch(range(first, first + 100))).encode())  # fmt: skip
    return [
        _report("status update", held[1:], runner, events=0),
        _report("event batch 100", held[1:], runner, events=BATCH),
        _read("event page", f"/workflow-executions/{logged}/events?page_size=100", owner),
        _read("list first", f"/workflow-executions?org={TENANT}&limit=50", owner),
        _read("list deep", _deep(server, owner), owner),
        _read("get", f"/workflow-executions/{logged}", owner),
        _read("summary", f"/workflow-executions/summary?org={TENANT}&time_window=ALL_TIME", owner),
        _signal(held[1:], owner),
        _claim(runner),
    ]  # fmt: skip


def _read(name: str, path: str, token: str) -> Scenario:
    return Scenario(
        name, lambda _: itertools.repeat(("GET", path, None)), (200,), token,
        lambda _: lambda _sql, params: params, write=False,
    )  # fmt: skip


def _batch(numbers: range) -> dict[str, Any]:
    events = [
        {"sequence_number": n, "event_id": f"ev-{n}", "event_type": "log", "task_name": "build",
         "occurred_at": "2026-01-31T09:30:00Z", "data": {"line": f"step {n} is done"}}
        for n in numbers
    ]  # fmt: skip
    return {"claim_token": fill_executions.CLAIM_TOKEN, "status": {}, "events": events}


def _report(name: str, held: list[str], token: str, *, events: int) -> Scenario:
    """Reports by many runners, each about an execution of its own."""

    def first(number: int) -> Iterator[int]:
        start = random.randrange(2**20, 2**45)
        return itertools.count(start, max(1, events))

    def http(number: int) -> Iterator[Request]:
        path = f"/workflow-executions/{held[number % len(held)]}/status"
        for at in first(number):
            body = _batch(range(at, at + events))
            if not events:
                status = {"tasks": TASKS, "total_cost_micros": at % 10**9 + 1}
                body = {"claim_token": fill_executions.CLAIM_TOKEN, "status": status}
            yield "POST", path, body

    def swap(number: int) -> Callable[[str, Any], Any]:
        id, recorded, numbers = held[number % len(held)], held[10_001 % len(held)], first(number)

        def fresh(_sql: str, params: Any) -> Any:
            if isinstance(params, dict):
                at = next(numbers)
                made = {k: id if v == recorded else v for k, v in params.items()}
                if "sequences" in made:
                    made["sequences"] = list(range(at, at + events))
                if "cost_micros" in made:
                    made["cost_micros"] = at % 10**9 + 1
                return made
            return [id if value == recorded else value for value in params or ()]

        return fresh

    return Scenario(name, http, (200,), token, swap)


def _signal(held: list[str], token: str) -> Scenario:
    def http(number: int) -> Iterator[Request]:
        path = f"/workflow-executions/{held[number % len(held)]}/signals"
        return itertools.repeat(("POST", path, {"signal_name": "go", "payload": {"n": 1}}))

    def swap(number: int) -> Callable[[str, Any], Any]:
        id, recorded = held[number % len(held)], held[10_001 % len(held)]

        def fresh(_sql: str, params: Any) -> Any:
            if isinstance(params, dict):
                if "key" in params:
                    return {**params, "execution": id, "key": limit.unique(),
                            "fence": limit.unique()}  # fmt: skip
                return {k: id if v == recorded else v for k, v in params.items()}
            return [id if value == recorded else value for value in params or ()]

        return fresh

    return Scenario(
        "signal", http, (202,), token, swap,
        lambda: f"Idempotency-Key: {limit.unique()}\r\n",
    )  # fmt: skip


def _claim(token: str) -> Scenario:
    body = {"kinds": ["workflow_execution"], "lease_seconds": 900}

    def swap(_: int) -> Callable[[str, Any], Any]:
        def fresh(_sql: str, params: Any) -> Any:
            if isinstance(params, dict) and "until" in params:
                now = datetime.now(UTC)
                return {**params, "now": now, "until": now + timedelta(seconds=900)}
            return params

        return fresh

    return Scenario(
        "claim", lambda _: itertools.repeat(("POST", "/runner/claim", body)), (200,), token, swap
    )


def _deep(server: installation.Server, token: str) -> str:
    """A page some pages down."""
    api, cursor = Connection(server.host, server.port, token), ""
    path = f"/workflow-executions?org={TENANT}&limit=50"
    for _ in range(8):
        found = json.loads(api.send("GET", f"/api/v1{path}{cursor}")[1])["next_cursor"]
        cursor = f"&cursor={found}"
    return path + cursor
