"""Wake-ups through Redis, and without it when it goes away."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stigmer.http.streams import hub
from tests import served
from tests.executions import making
from tests.executions.watching import InThread, Live

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.redis]


class Redis:
    """A server of the test's own, which it may kill."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, served.free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    server = Redis(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def live(redis: Redis, cast: Any, settings: Any) -> Iterator[Live]:
    """A web process and writers beside the same Redis."""
    settings.REDIS_URL = redis.url
    with served.started(REDIS_URL=redis.url) as (address, _):
        client = Live(address)
        yield client
        client.close()


def delay(held: making.Claimed, watcher: Any, step: int) -> float:
    """How long after the commit a change arrives."""
    making.report(held, "", *making.events(step))
    began = time.monotonic()
    (frame,) = watcher.take(1)
    assert frame.id == step
    return time.monotonic() - began


def test_a_wake_up_comes_long_before_the_poll(live: Live) -> None:
    held = making.running()
    watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/events/stream")
    time.sleep(1)

    delays = [delay(held, watcher, step) for step in range(1, 9)]

    # Each would take half the poll's interval on average.
    assert sum(delays) < hub.POLL_BESIDE_REDIS
    waiting = InThread(
        lambda: live.send(
            making.RUNNER, "POST", "/runner/claim",
            json={"kinds": ["agent_execution"], "wait_seconds": 30},
        )
    )  # fmt: skip
    time.sleep(0.5)
    making.pending_agent()
    assert waiting.result().status_code == 200


def test_redis_killed_in_the_middle_costs_latency_only(live: Live, redis: Redis) -> None:
    held = making.running()
    watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/events/stream")
    steps = iter(range(1, 100))
    delay(held, watcher, next(steps))

    redis.kill()
    away = [delay(held, watcher, next(steps)) for _ in range(5)]
    late = live.watch("vera", f"/workflow-executions/{held.execution.id}/events/stream")
    assert [frame.id for frame in late.take(6)] == [1, 2, 3, 4, 5, 6]
    redis.start()
    time.sleep(2.5)
    back = [delay(held, watcher, next(steps)) for _ in range(8)]
    last = next(steps)
    making.report(held, "COMPLETED", *making.events(last))

    assert max(away) < hub.POLL_BESIDE_REDIS
    assert sum(back) < hub.POLL_BESIDE_REDIS
    assert [frame.id for frame in watcher.said()] == [last]
    assert [frame.id for frame in late.said()] == list(range(7, last + 1))
