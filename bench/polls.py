"""The API alone, and beside idle long polls (part of `python -m bench streams`)."""

from __future__ import annotations

import asyncio
import json
import statistics
import threading
import time

from bench import installation
from bench.load import Connection

WAIT = 20


def beside(server: installation.Server, human: str, runner: str, polls: int) -> tuple[str, str]:
    """p50 and p95 of one client's reads in milliseconds, alone and beside this many polls."""
    alone = _reads(server, human)
    polling = threading.Thread(target=lambda: asyncio.run(_polls(server, runner, polls)))
    polling.start()
    time.sleep(4)
    found = alone, _reads(server, human)
    polling.join()
    return found


def _reads(server: installation.Server, token: str) -> str:
    client = Connection(server.host, server.port, token)
    times = []
    for _ in range(1000):
        began = time.perf_counter()
        status, answer = client.send("GET", "/api/v1/whoami")
        times.append((time.perf_counter() - began) * 1000)
        if status != 200:
            raise RuntimeError(answer)
    return f"{statistics.median(times):.1f} / {sorted(times)[950]:.1f}"


async def _polls(server: installation.Server, token: str, polls: int) -> None:
    await asyncio.gather(*(_poll(server, token) for _ in range(polls)))


async def _poll(server: installation.Server, token: str) -> None:
    """One claim of what never comes."""
    body = json.dumps(
        {"kinds": ["agent_execution"], "labels": {"never": "comes"}, "wait_seconds": WAIT}
    ).encode()
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(
        f"POST /api/v1/runner/claim HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}"
        f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 204 " not in head.split(b"\r\n")[0]:
        raise RuntimeError(head.decode())
    writer.close()
