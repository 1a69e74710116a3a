"""`python -m bench streams`: what open streams cost, how fast they wake, how they are let go."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from bench import fill, installation, polls

ORG = "bench-a"
POLLS = 200
_BACKENDS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'stigmer' AND pid <> pg_backend_pid()
"""


class Row(NamedTuple):
    """What one mode measured; seconds and MB."""

    mode: str
    idle: float
    loaded: float
    connections: int
    opened: float
    delays: list[float]
    storm: float
    gone: float


def run(*, streams: int, wakes: int) -> None:
    """Measure without Redis, and with it where REDIS_URL names one; print both."""
    redis = os.environ.pop("REDIS_URL", "")
    installation.prepare()
    token = fill.principals()
    _hire()
    rows = [_measure("poll", "", token, streams, wakes)]
    if redis:
        rows.append(_measure("Redis", redis, token, streams, wakes))
    table = Table(title=f"{streams:,} open event streams on one process; {wakes} wake-ups")
    names = ("mode", "MB idle", "MB open", "connections", "open ms each", "p50 ms", "p95 ms",
             "max ms", "one to all ms", "gone s")  # fmt: skip
    for name in names:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*_shown(row, streams))
    Console().print(table)
    with _serving(redis) as server:
        alone, beside = polls.beside(server, token, _runner_token(), POLLS)
    print(f"one client's reads, p50 / p95 ms: {alone} alone, {beside} beside {POLLS} long polls")


def _shown(row: Row, streams: int) -> list[str]:
    ordered = sorted(row.delays)
    numbers = (statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1])
    return [
        row.mode, f"{row.idle:.0f}", f"{row.loaded:.0f}", str(row.connections),
        f"{row.opened / streams * 1000:.1f}", *(f"{number * 1000:.0f}" for number in numbers),
        f"{row.storm * 1000:.0f}", f"{row.gone:.1f}",
    ]  # fmt: skip


def _measure(mode: str, redis: str, token: str, streams: int, wakes: int) -> Row:
    settings.REDIS_URL = redis
    runs = [_running() for _ in range(wakes)]
    with _serving(redis) as server:
        return asyncio.run(_drive(mode, server, token, runs, streams))


@contextlib.contextmanager
def _serving(redis: str) -> Iterator[installation.Server]:
    """The ASGI process, as `compose.yaml` runs it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {**os.environ, "PORT": str(port)} | ({"REDIS_URL": redis} if redis else {})
    command = [sys.executable, "-m", "stigmer.serve"]
    process = subprocess.Popen(command, cwd=installation.PROJECT, env=environment)
    try:
        installation.wait_for(port)
        yield installation.Server("127.0.0.1", port, process.pid)
    finally:
        process.terminate()
        process.wait(20)


# What is followed ---------------------------------------------------------------------------------


def _act() -> Any:
    from organizations.queries import caller_by_name
    from stigmer.core.callers import Act

    found = caller_by_name(RUNNER)
    assert found is not None
    return Act(caller=found)


RUNNER = "service:bench-runner"


def _hire() -> None:
    """The runner, unless an earlier run left it."""
    from organizations.operations import principals
    from stigmer.core.callers import system_act
    from stigmer.core.errors import AlreadyExists

    with contextlib.suppress(AlreadyExists):
        principals.create_principal(
            name=RUNNER, kind="service", admin=True, by=system_act(), now=timezone.now()
        )


def _runner_token() -> str:
    from organizations.operations import tokens

    now = timezone.now()
    _, secret = tokens.create_token(
        principal=RUNNER, name="bench", expires_at=None, by=_act(), now=now
    )
    return secret


def _running() -> Any:
    """An execution that a runner of the bench holds."""
    from executions import operations
    from executions.kinds import WORKFLOW
    from resources.operations import documents

    now = timezone.now()
    spec = {"tasks": [{"name": "wait", "type": "set", "values": {"a": 1}}]}
    name = f"Bench {time.time_ns()}"
    workflow = documents.create(
        kind="workflow",
        document={"metadata": {"org": ORG, "name": name}, "spec": spec},
        by=_act(),
        now=now,
    )
    label = {"bench": str(time.time_ns())}
    new = operations.NewExecution(org=ORG, target=workflow.id, labels=label)
    operations.create_execution(kind=WORKFLOW, new=new, by=_act(), now=now, facts={})
    held = operations.claim_execution(
        kinds=[WORKFLOW], labels=label, lease_seconds=900, by=_act(), now=timezone.now()
    )
    assert held is not None
    return held


def _write(held: Any, number: int) -> float:
    """Append an event; answers when it was committed."""
    from executions import operations
    from executions.kinds import WORKFLOW

    operations.report_status(
        kind=WORKFLOW,
        id=held.execution.id,
        report=operations.Report(events=(operations.Event(number, "log"),)),
        claim_token=held.token,
        by=_act(),
        now=timezone.now(),
    )
    return time.perf_counter()


# Clients ------------------------------------------------------------------------------------------


class Client:
    """One open stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, server: installation.Server, token: str, execution: str) -> Client:
        """The stream of this execution's events; its head is read."""
        client = cls(*await asyncio.open_connection(server.host, server.port))
        client.writer.write(
            f"GET /api/v1/workflow-executions/{execution}/events/stream HTTP/1.1\r\n"
            f"Host: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        head = await client.reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.decode())
        return client

    async def arrival(self) -> float:
        """When the next event is there."""
        await self.reader.readuntil(b"data: ")
        found = time.perf_counter()
        await self.reader.readuntil(b"\n\n\r\n")
        return found


async def _drive(
    mode: str, server: installation.Server, token: str, runs: list[Any], streams: int
) -> Row:
    (await Client.open(server, token, runs[0].execution.id)).writer.transport.abort()
    await asyncio.sleep(1)
    idle = installation.memory_of(server.pid) or 0
    began = time.perf_counter()
    clients: list[Client] = []
    while len(clients) < streams:
        some = (runs[(len(clients) + n) % len(runs)].execution.id for n in range(50))
        clients += await asyncio.gather(*(Client.open(server, token, id) for id in some))
    opened = time.perf_counter() - began
    await asyncio.sleep(6)
    loaded = installation.memory_of(server.pid) or 0
    delays = await _delays(clients, runs)
    backends = await asyncio.to_thread(_backends)
    storm = await _storm(clients[:: len(runs)], runs[0])
    gone = await _gone(server, clients)
    return Row(mode, idle, loaded, backends, opened, delays, storm, gone)


async def _delays(clients: list[Client], runs: list[Any]) -> list[float]:
    """From the commit to the client, one change after the other."""
    found = []
    for place, held in enumerate(runs):
        arriving = asyncio.gather(*(c.arrival() for c in clients[place :: len(runs)]))
        committed = await asyncio.to_thread(_write, held, 1)
        found.append(min(await arriving) - committed)
        # Not in step with a poll.
        await asyncio.sleep(0.05 + place % 10 / 20)
    return found


async def _storm(clients: list[Client], held: Any) -> float:
    """From the commit to the last of all who follow one execution."""
    arriving = asyncio.gather(*(client.arrival() for client in clients))
    committed = await asyncio.to_thread(_write, held, 2)
    return max(await arriving) - committed


def _backends() -> int:
    """Connections of the server alone: the bench's own threads have let theirs go."""
    with connection.cursor() as cursor:
        cursor.execute(_BACKENDS)
        found = int(cursor.fetchone()[0])
    connection.close()
    return found


async def _gone(server: installation.Server, clients: list[Client]) -> float:
    """How long the gauge counts clients that died."""
    for client in clients:
        client.writer.transport.abort()
    began = time.perf_counter()
    while await asyncio.to_thread(_gauge, server):
        await asyncio.sleep(0.1)
    return time.perf_counter() - began


def _gauge(server: installation.Server) -> float:
    with urllib.request.urlopen(f"http://{server.host}:{server.port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("stigmer_streams_open")))
