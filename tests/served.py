"""A web process of its own on the test's database, for what speaks to the API over the network."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

from django.db import connection

PROJECT = Path(__file__).parent.parent
START_SECONDS = 60


def database_url() -> str:
    """The URL of the database that the running test uses."""
    parts = connection.settings_dict
    user = quote(str(parts["USER"]))
    password = f":{quote(str(parts['PASSWORD']))}" if parts["PASSWORD"] else ""
    options = {"host": parts["HOST"], "port": parts["PORT"]}
    query = urlencode({name: value for name, value in options.items() if value})
    return f"postgresql://{user}{password}@/{parts['NAME']}?{query}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def web_process() -> Iterator[str]:
    """The address of a web process; it has ended, and let go of the database, afterwards."""
    with started() as (address, _):
        yield address


@contextmanager
def started(**more: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """As `web_process`, with the process itself; `more` is set in its environment."""
    port = free_port()
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "stigmer.settings",
        "PORT": str(port),
        "STIGMER_ENV": "development",
        "STIGMER_THROTTLE": "off",
        **more,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "stigmer.serve"], cwd=PROJECT, env=environment
    )
    try:
        _await(process, f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()
        _let_go()


def _await(process: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the web process ended"
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the web process does not answer")


def _let_go() -> None:
    """PostgreSQL notices a killed client when it speaks to it; the tests' flush cannot wait."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
