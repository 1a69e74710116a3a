"""`python -m bench api`: the product over HTTP beside bare psycopg sending the same statements."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import fill, installation, limit
from bench.load import Connection, Measured, measure

TENANT = "bench-a"
GOALS = {"create": 0.30, "transition": 0.25, "get": 0.40, "list first": 0.40, "list deep": 0.40}
SUPPLY = 120_000
SAMPLE = f"SAMPLE-{limit.unique()}"  # stands where each create has an external key of its own
_SUPPLY = """
INSERT INTO workitems_workitem (
    id, organization, owner, visibility, origin_surface, title, external_key, state,
    waiting_reason, state_version, created_by, created_at, updated_at, last_event_seq
)
SELECT 'wi_7' || substr(md5(random()::text || n), 1, 25), 'bench-d', 'bench', 'tenant', 'api',
    'Supply', '', 'active', '', 1, 'bench', now(), now(), 1
FROM generate_series(1, %s) n RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of call: the request, and which of its values are new each time."""

    name: str
    method: str
    path: str
    body: dict[str, Any] | None = None
    keyed: bool = False
    status: int = 200
    fresh: dict[str, Callable[[], Any]] = field(default_factory=dict)
    supply: tuple[str, ...] = ()

    def prepared(self) -> tuple[str, bytes]:
        """The path and the body with their sample values."""
        return self.path, json.dumps(self.body).encode() if self.body else b""


def scenarios(items: list[str], cursors: list[str], supply: list[str]) -> list[Scenario]:
    """What is measured, on these items."""
    some = items[0]
    anyone = limit.one_of(items)
    create = {"tenant": TENANT, "title": "Prepare the report", "external_key": SAMPLE}
    move = {"action": "complete", "expected_state_version": 1}
    intent = {"text": "Please use last quarter's figures.", "params": {"quarter": 3}}
    return [
        Scenario("create", "POST", "/work-items", create, True, 201,
                 {SAMPLE: limit.unique, "SAMPLE-ID": limit.item_id}),
        Scenario("transition", "PATCH", f"/work-items/{supply[0]}", move, True, 200, {},
                 tuple(supply)),
        Scenario("get", "GET", f"/work-items/{some}", fresh={some: anyone}),
        Scenario("list first", "GET", f"/work-items?tenant={TENANT}&limit=50"),
        Scenario("list deep", "GET", f"/work-items?tenant={TENANT}&limit=50&cursor={cursors[0]}"),
        Scenario("intent", "POST", f"/work-items/{some}/intents", intent, True, 201,
                 {some: anyone}),
        Scenario("events", "GET", f"/work-items/{some}/events", fresh={some: anyone}),
    ]  # fmt: skip


class Supply:
    """Items that a call may use up once, dealt out so that no two clients get the same."""

    def __init__(self, items: tuple[str, ...], share: int, of: int) -> None:
        self.items, self.share, self.of = items, share, of

    def of_client(self, client: int, clients: int) -> Iterator[str]:
        """This client's own part."""
        size = len(self.items) // self.of
        mine = self.items[self.share * size : (self.share + 1) * size]
        place = (client % 1000) + (client // 1000) * ((clients + 1) // 2)
        return iter(mine[place::clients])


def over_http(
    scenario: Scenario, server: installation.Server, token: str, supply: Supply, clients: int
) -> Callable[[int], Callable[[], None]]:
    """Clients that send the request to the product."""
    path, body = scenario.prepared()
    path = f"/api/v1{path}"

    def make(number: int) -> Callable[[], None]:
        connection = Connection(server.host, server.port, token)
        own = supply.of_client(number, clients)

        def call() -> None:
            made = {old: new() for old, new in scenario.fresh.items()}
            if scenario.supply:
                made[scenario.supply[0]] = next(own)
            sent_path, sent_body = path, body
            for old, new in made.items():
                sent_path = sent_path.replace(old, new)
                sent_body = sent_body.replace(old.encode(), new.encode())
            key = f"Idempotency-Key: {limit.unique()}\r\n" if scenario.keyed else ""
            status, answer = connection.send(scenario.method, sent_path, sent_body, key)
            if status != scenario.status:
                raise RuntimeError(f"{scenario.name}: {status} {answer[:300]!r}")

        return call

    return make


def bare(
    scenario: Scenario, statements: list[tuple[str, Any]], samples: dict[str, str],
    supply: Supply, clients: int,
) -> Callable[[int], Callable[[], None]]:  # fmt: skip
    """Clients that send the same statements through psycopg alone."""

    def make(number: int) -> Callable[[], None]:
        own = supply.of_client(number, clients)
        fresh = {samples.get(old, old): new for old, new in scenario.fresh.items()}
        fresh[samples["key"]] = limit.unique
        if scenario.supply:
            fresh[scenario.supply[0]] = lambda: next(own)
        write = scenario.method != "GET"
        made: Callable[[], None] = limit.replay(
            installation.conninfo(), statements, limit.renaming(fresh), write
        )(number)
        return made

    return make


def record(scenario: Scenario, token: str) -> tuple[list[tuple[str, Any]], dict[str, str]]:
    """The statements of one call through the whole application, authentication included."""
    from django.test import Client

    path, body = scenario.prepared()
    key = limit.unique()
    headers = {"Authorization": f"Bearer {token}"}
    if scenario.keyed:
        headers["Idempotency-Key"] = key
    answer: list[Any] = []

    def call() -> None:
        client = Client(headers=headers, SERVER_NAME="localhost")
        answer.append(
            client.generic(scenario.method, f"/api/v1{path}", body, content_type="application/json")
        )

    sent = limit.record(call)
    if answer[0].status_code != scenario.status:
        raise RuntimeError(f"{scenario.name}: {answer[0].status_code} {answer[0].content!r}")
    samples = {"key": key}
    if scenario.name == "create":
        samples["SAMPLE-ID"] = answer[0].json()["work_item"]["id"]
    return [(sql, params) for sql, params in sent if "SAVEPOINT" not in sql], samples


def run(*, items: int, seconds: float, clients: list[int], only: list[str]) -> None:
    """Fill, serve, measure, print."""
    installation.prepare()
    token = fill.principals()
    fill.fill(items)
    with installation.serving() as server:
        table = Table(title=f"{items:,} work items; {seconds:g} s each; rates per second")
        for name in ("call", "clients", "ours", "limit", "ratio", "goal", "p50 ms", "p95 ms"):
            table.add_column(name, justify="left" if name == "call" else "right")
        chosen = [s for s in sample(server, token) if not only or s.name in only]
        for scenario in chosen:
            for row in _rows(scenario, server, token, clients, seconds):
                table.add_row(*row)
        memory = installation.memory_of(server.pid)
    Console().print(table)
    if memory is not None:
        print(f"memory of the server with {installation.WORKERS} workers: {memory:.0f} MB (PSS)")


def sample(server: installation.Server, token: str) -> list[Scenario]:
    """The scenarios on items that are there, with a fresh supply of items to use up."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_SUPPLY, [SUPPLY])
        supply = [row[0] for row in cursor.fetchall()]
        cursor.execute(
            "SELECT id FROM workitems_workitem WHERE organization = %s AND state = 'active' "
            "AND external_key LIKE 'bench:%%' LIMIT 5000",
            [TENANT],
        )
        items = [row[0] for row in cursor.fetchall()]
        cursor.execute("VACUUM (ANALYZE)")
    connection.close()
    random.shuffle(items)
    return scenarios(items, [_deep(server, token)], supply)


def _deep(server: installation.Server, token: str) -> str:
    """A cursor some pages down."""
    api, cursor, last = Connection(server.host, server.port, token), "", ""
    for _ in range(8):
        path = f"/api/v1/work-items?tenant={TENANT}&limit=50{cursor}"
        found = json.loads(api.send("GET", path)[1])["next_cursor"]
        if found is None:
            break
        last, cursor = str(found), f"&cursor={found}"
    return last


def _rows(
    scenario: Scenario,
    server: installation.Server,
    token: str,
    clients: list[int],
    seconds: float,
) -> Iterator[list[str]]:
    from django.db import connection

    statements, samples = record(scenario, token)
    connection.close()
    for place, number in enumerate(clients):
        shares = 2 * len(clients)
        theirs = Supply(scenario.supply[1:], 2 * place, shares)
        mine = Supply(scenario.supply[1:], 2 * place + 1, shares)
        ours = measure(
            over_http(scenario, server, token, mine, number), clients=number, seconds=seconds
        )
        most = measure(
            bare(scenario, statements, samples, theirs, number), clients=number, seconds=seconds
        )
        yield _row(scenario.name, number, ours, most)


def _row(name: str, clients: int, ours: Measured, most: Measured) -> list[str]:
    goal = GOALS.get(name)
    return [
        name, str(clients), f"{ours.rate:,.0f}", f"{most.rate:,.0f}",
        f"{ours.rate / most.rate:.2f}", f"{goal:.2f}" if goal and clients == 8 else "",
        f"{ours.p50:.1f}", f"{ours.p95:.1f}",
    ]  # fmt: skip
