"""What a measurement runs on: a database of its own and the product serving it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
WORKERS, THREADS = 2, 4


@dataclass(frozen=True, slots=True)
class Server:
    """The product over HTTP."""

    host: str
    port: int
    pid: int


def prepare() -> None:
    """Set Django up on DATABASE_URL, or on an embedded server in STIGMER_HOME, and migrate."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stigmer.settings")
    os.environ.setdefault("STIGMER_HOME", str(PROJECT / ".stigmer" / "bench"))
    os.environ["STIGMER_ENV"] = "development"
    os.environ["STIGMER_THROTTLE"] = "off"
    os.environ.setdefault("STIGMER_LOG_LEVEL", "WARNING")
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from stigmer import embedded

    if settings.STIGMER_EMBEDDED:
        embedded.hold(settings.STIGMER_HOME)
    call_command("migrate", verbosity=0)


def conninfo() -> str:
    """How bare psycopg reaches the same database, with the product's own session settings."""
    from django.db import connection
    from psycopg.conninfo import make_conninfo

    params = connection.get_connection_params()
    names = ("host", "port", "dbname", "user", "password", "options")
    return make_conninfo(**{name: params[name] for name in names if params.get(name)})


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Granian with the WSGI application, as `compose.yaml` runs it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--workers", str(WORKERS),
        "--blocking-threads", str(THREADS), "--host", "127.0.0.1", "--port", str(port),
        "--no-ws", "--log-level", "error", "stigmer.wsgi:application",
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=PROJECT)
    try:
        wait_for(port)
        yield Server("127.0.0.1", port, process.pid)
    finally:
        process.terminate()
        process.wait(20)


def wait_for(port: int) -> None:
    """Until something listens there. Raises RuntimeError."""
    for _ in range(150):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


def memory_of(pid: int) -> float | None:
    """Proportional memory of this process and its children in MB, where the kernel tells it."""
    total = 0
    for one in [pid, *_children(pid)]:
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            return None
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def _children(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [child for one in found for child in (int(one), *_children(int(one)))]
