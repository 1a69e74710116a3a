"""`python -m bench scale`: how costs grow with the number of rows, and the plans behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection
from rich.console import Console
from rich.table import Table

from bench import api, fill, installation, limit
from bench.load import measure

SCANS = ("Seq Scan",)
# The ledger and the memberships hold a row for each organization; reading them whole is right.
SMALL = ("organizations_organizationslug", "organizations_membership", "organizations_principal",
         "organizations_organization", "organizations_apitoken")  # fmt: skip


def run(*, sizes: list[int], seconds: float) -> None:
    """Fill to each size, measure with one client, print the growth and the plans."""
    installation.prepare()
    token = fill.principals()
    costs: dict[str, list[float]] = {}
    for size in sizes:
        fill.fill(size)
        with installation.serving() as server:
            found = [*api.sample(server, token), *_more(token)]
            for scenario in found:
                supply = api.Supply(scenario.supply[1:], 0, 1)
                client = api.over_http(scenario, server, token, supply, 1)
                taken = measure(client, clients=1, seconds=seconds)
                costs.setdefault(scenario.name, []).append(taken.p50)
    _print_costs(sizes, costs)
    _print_plans([(s.name, api.record(s, token)[0]) for s in found])


def _more(token: str) -> list[api.Scenario]:
    tenant = f"tenant={api.TENANT}"
    known_key = _REPLAYED | {"idempotency_key": _prepare(token)}
    known = "bench:" + str(4 * 1001)
    return [
        api.Scenario("list of all my tenants", "GET", "/work-items?limit=50"),
        api.Scenario("q, rare", "GET", f"/work-items?{tenant}&state=completed&q=no.+4004."),
        api.Scenario("q, common", "GET", "/work-items?tenant=bench-b&limit=50&q=invoice"),
        api.Scenario("q, many and old", "GET", f"/work-items?{tenant}&state=completed&q=paper"),
        api.Scenario("external_key", "GET", f"/work-items?{tenant}&external_key={known}"),
        api.Scenario("replay", "POST", "/work-items", known_key,
                     status=200),
        api.Scenario("dedupe", "POST", "/work-items", _REPLAYED, status=200),
    ]  # fmt: skip


_REPLAYED = {"tenant": api.TENANT, "title": "Known", "external_key": "bench-known"}


def _prepare(token: str) -> str:
    """A key that is known, with its item."""
    from django.test import Client

    key = limit.unique()
    client = Client(headers={"Authorization": f"Bearer {token}"}, SERVER_NAME="localhost")
    client.post(
        "/api/v1/work-items",
        json.dumps(_REPLAYED),
        content_type="application/json",
        headers={"Idempotency-Key": key},
    )
    connection.close()
    return key


def _print_costs(sizes: list[int], costs: dict[str, list[float]]) -> None:
    table = Table("call", *(f"{size:,}" for size in sizes), "growth", title="p50 in ms, one client")
    for name, taken in costs.items():
        growth = taken[-1] / taken[0]
        table.add_row(name, *(f"{one:.2f}" for one in taken), f"{growth:.2f}")
    Console().print(table)


def _print_plans(calls: list[tuple[str, list[tuple[str, Any]]]]) -> None:
    table = Table("call", "reads by", "ms", title="plans at the largest size")
    with connection.cursor() as cursor:
        for name, statements in calls:
            for sql, params in statements:
                if not sql.lstrip().startswith(("SELECT", "WITH")):
                    continue
                # A write is planned, not done again: its key is spent.
                analyze = "" if "INSERT" in sql or "UPDATE workitems" in sql else "ANALYZE, "
                with_plan = f"EXPLAIN ({analyze}FORMAT JSON) {sql}"
                cursor.execute("BEGIN")
                cursor.execute(with_plan, params)
                (plan,) = cursor.fetchone()
                cursor.execute("ROLLBACK")
                top = (json.loads(plan) if isinstance(plan, str) else plan)[0]
                nodes = list(_nodes(top["Plan"]))
                taken = top.get("Execution Time")
                table.add_row(name, "\n".join(nodes), "" if taken is None else f"{taken:.2f}")
    Console(width=140).print(table)


def _nodes(plan: dict[str, Any]) -> Iterator[str]:
    kind, relation = plan["Node Type"], plan.get("Relation Name")
    if relation and relation not in SMALL:
        mark = "!! " if kind in SCANS else ""
        yield f"{mark}{kind} {plan.get('Index Name', '')} on {relation}"
    elif "Index Name" in plan and relation is None:
        yield f"{kind} {plan['Index Name']}"
    for part in plan.get("Plans", ()):
        yield from _nodes(part)
