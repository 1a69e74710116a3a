"""`python -m bench one_organization`: creates into one organization beside creates into eight."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from multiprocessing.synchronize import Barrier
from typing import Any

from django.db import connection
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from organizations import queries
from organizations.operations import members, organizations, principals
from stigmer.core.callers import Act, system_act
from workitems import operations
from workitems.states import Visibility

CONNECTIONS = 8
SLUGS = [f"bench-one-{place}" for place in range(CONNECTIONS)]
NAMES = [f"bench-one-{place}" for place in range(CONNECTIONS)]


def run(*, rounds: int, seconds: float) -> None:
    """Alternate rounds of both kinds, so that what else the machine does meets them alike."""
    _prepare()
    connection.close()
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(CONNECTIONS)
    answers: Any = context.Queue()
    workers = [
        context.Process(target=_work, args=(place, barrier, answers, rounds, seconds))
        for place in range(CONNECTIONS)
    ]
    for worker in workers:
        worker.start()
    counted: dict[tuple[int, bool], int] = {}
    for _ in range(CONNECTIONS * rounds * 2):
        number, one, made = answers.get(timeout=60 + 4 * seconds)
        counted[number, one] = counted.get((number, one), 0) + made
    for worker in workers:
        worker.join()
    _show(counted, rounds, seconds)


def _prepare() -> None:
    now = timezone.now()
    for name in NAMES:
        if queries.principal(name) is None:
            principals.create_principal(name=name, kind="human", by=system_act(), now=now)
    for slug in SLUGS:
        if not queries.is_live(slug):
            organizations.create_organization(
                name=slug, slug=slug, owner=NAMES[0], by=system_act(), now=now
            )
        for name in NAMES[1:]:
            members.put_member(
                organization=slug, principal=name, role="member", by=system_act(), now=now
            )


def _work(place: int, barrier: Barrier, answers: Any, rounds: int, seconds: float) -> None:
    caller = queries.caller_by_name(NAMES[place])
    assert caller is not None
    serial = 0
    for number in range(rounds):
        # Which of the two comes first changes with every round.
        for one in (True, False) if number % 2 else (False, True):
            tenant = SLUGS[0] if one else SLUGS[place]
            barrier.wait()
            began, made = time.monotonic(), 0
            while time.monotonic() - began < seconds:
                serial += 1
                name = f"{began}-{place}-{serial}"
                _create(tenant, name, Act(caller=caller, key=name))
                made += 1
            answers.put((number, one, made))


def _create(tenant: str, name: str, by: Act) -> None:
    operations.create_work_item(
        tenant=tenant,
        title="A piece of work",
        external_key=name,
        visibility=Visibility.TENANT,
        by=by,
        now=timezone.now(),
        facts={"title": "A piece of work", "external_key": name},
    )


def _show(counted: dict[tuple[int, bool], int], rounds: int, seconds: float) -> None:
    table = Table(title=f"Creates per second, {CONNECTIONS} connections")
    for heading in ("round", "one organization", "eight", "ratio"):
        table.add_column(heading, justify="right")
    ratios = []
    for number in range(rounds):
        one, eight = (counted[number, which] / seconds for which in (True, False))
        ratios.append(one / eight)
        table.add_row(str(number + 1), f"{one:,.0f}", f"{eight:,.0f}", f"{ratios[-1]:.2f}")
    table.add_row("median", "", "", f"{statistics.median(ratios):.2f}", style="bold")
    Console().print(table)
