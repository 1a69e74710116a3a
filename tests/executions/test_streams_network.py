"""A client behind a network that goes away without a word, in a network of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests import factories, served
from tests.executions import making
from tests.executions.watching import Live, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
HERE, THERE = "10.77.31.1", "10.77.31.2"
CLIENT = """
import socket, sys, time
host, port, path, token = sys.argv[1:]
reached = socket.create_connection((host, int(port)))
lines = [f"GET {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", "", ""]
reached.sendall("\\r\\n".join(lines).encode())
sys.stdout.write(reached.recv(4000).decode()[:12])
sys.stdout.flush()
time.sleep(600)
"""


def _ip(command: str) -> bool:
    done = subprocess.run(["ip", *command.split()], capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture
def far() -> Iterator[list[str]]:
    """What runs a command behind a cable (`stigmer-far`) that can be cut."""
    if os.geteuid() != 0 or shutil.which("ip") is None or not _ip("netns add stigmer-far"):
        pytest.skip("this machine does not let the test make a network")
    try:
        for command in (
            "link add stigmer-near type veth peer name stigmer-end",
            "link set stigmer-end netns stigmer-far",
            f"addr add {HERE}/30 dev stigmer-near",
            "link set stigmer-near up",
            f"-n stigmer-far addr add {THERE}/30 dev stigmer-end",
            "-n stigmer-far link set stigmer-end up",
        ):
            assert _ip(command), command
        yield ["ip", "netns", "exec", "stigmer-far"]
    finally:
        _ip("link del stigmer-near")
        _ip("netns del stigmer-far")


def test_a_client_behind_a_dead_network_is_gone_within_30_seconds(far: list[str]) -> None:
    factories.the_cast()
    token, run = factories.make_token("vera"), making.running().execution.id
    with served.started(STIGMER_BIND="0.0.0.0") as (address, _):
        live, port = Live(address), address.rpartition(":")[2]
        path = f"/api/v1/workflow-executions/{run}/stream"
        command = [*far, sys.executable, "-c", CLIENT, HERE, port, path, token]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
            try:
                assert client.stdout is not None
                assert client.stdout.read(12) == "HTTP/1.1 200"
                time.sleep(1)
                assert live.gauge() == 1

                assert _ip("-n stigmer-far link set stigmer-end down")

                assert until(lambda: live.gauge() == 0, 40) < 30
            finally:
                client.kill()
