"""Clients that die, linger or come back; processes that end."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from executions.operations import Event
from organizations.operations import members
from stigmer.http.streams import flowing
from tests import factories, served
from tests.executions import making
from tests.executions.watching import InThread, Live, until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_client_killed_at_random_100_times_sees_every_event_exactly_once(live: Live) -> None:
    held, chance = making.running(), random.Random(7)
    path = f"/workflow-executions/{held.execution.id}/events/stream"
    count = 400

    def write() -> None:
        for number in range(1, count + 1, 4):
            making.report(held, "", *making.events(*range(number, number + 4)))
            time.sleep(0.02)
        making.report(held, "COMPLETED", *making.events(count + 1))

    writing = InThread(write)
    seen: list[int] = []
    kills = 0
    while True:
        headers = {"Last_Event_ID": str(seen[-1])} if seen else {}
        watcher = live.watch("vera", path, **headers)
        patience = chance.randrange(0, 8) if kills < 100 else count + 2
        for frame in watcher.said():
            assert frame.id is not None
            seen.append(frame.id)
            patience -= 1
            if patience <= 0:
                break
        if watcher.ended:
            break
        watcher.kill()
        kills += 1
    writing.result()

    assert kills == 100
    assert seen == list(range(1, count + 2))


def test_a_client_that_leaves_is_gone_from_the_gauge(live: Live) -> None:
    held = making.running()
    watchers = [
        live.watch("vera", f"/workflow-executions/{held.execution.id}/stream") for _ in range(5)
    ]
    assert live.gauge() == 5

    for watcher in watchers[:3]:
        watcher.kill()

    assert until(lambda: live.gauge() == 2) < 30


def test_a_client_that_takes_nothing_is_dropped(live: Live) -> None:
    held = making.running()
    live.watch("vera", f"/workflow-executions/{held.execution.id}/events/stream")
    big = "x" * 60_000
    assert live.gauge() == 1

    for start in range(1, 300, 30):
        numbers = range(start, start + 30)
        making.report(held, "", *(Event(n, "log", data={"text": big}) for n in numbers))

    assert until(lambda: live.gauge() == 0, 40) < 35


def test_the_kernel_ends_the_connection_of_a_client_that_vanished(settings: Any) -> None:
    class Transport:
        def get_extra_info(self, name: str) -> socket.socket:
            return mine

    class Cycle:
        transport = Transport()

        async def send(self, message: Any) -> None: ...

    with socket.create_server(("127.0.0.1", 0)) as server:
        mine = socket.create_connection(server.getsockname())
        with mine:
            flowing.notice_silence(Cycle().send)
            timeout = mine.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    assert timeout == flowing.UNCONFIRMED_SECONDS * 1000
    assert timeout / 1000 + settings.STIGMER_STREAM_COMMENT < 30


@contextmanager
def own_process(**environment: str) -> Iterator[tuple[Live, subprocess.Popen[bytes]]]:
    """A web process that the test may end."""
    with served.started(**environment) as (address, process):
        live = Live(address)
        yield live, process
        live.close()


def test_a_process_that_ends_asks_its_clients_to_come_back(cast: Any) -> None:
    held = making.running()
    with own_process() as (live, process):
        watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/stream")
        watcher.take(1)
        waiting = InThread(
            lambda: live.send(
                making.RUNNER, "POST", "/runner/claim",
                json={"kinds": ["agent_execution"], "wait_seconds": 30},
            )
        )  # fmt: skip
        time.sleep(0.5)

        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        last = watcher.next()

        assert last is not None
        assert last.retry is not None
        assert watcher.next() is None
        assert watcher.ended
        assert waiting.result().status_code == 204
        process.wait(10)
        assert time.monotonic() - began < 4


def test_a_reader_who_may_no_longer_read_is_let_go(cast: Any) -> None:
    held = making.running()
    with own_process(STIGMER_STREAM_RECHECK="1") as (live, _):
        watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/stream")
        watcher.take(1)
        members.remove_member(
            organization="acme", principal="vera", by=factories.act(), now=factories.now()
        )
        time.sleep(1.1)

        making.report(held, tasks=[making.task("build")])

        assert list(watcher.said()) == []
        assert watcher.ended


def test_a_quiet_stream_says_a_comment(cast: Any) -> None:
    held = making.running()
    with own_process(STIGMER_STREAM_COMMENT="1") as (live, _):
        watcher = live.watch("vera", f"/workflow-executions/{held.execution.id}/events/stream")

        first = watcher.next()

        assert first is not None
        assert first.comment
