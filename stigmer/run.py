"""`python -m stigmer.run`: the whole product under one supervisor."""

import os
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from stigmer import embedded
from stigmer.supervise import Supervisor

PROJECT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60
# A worker that talks to no other worker; the heartbeat of events would also delay its end.
LONELY = ("--without-gossip", "--without-mingle", "--without-heartbeat")


def main() -> int:
    try:
        from stigmer import settings
    except ImproperlyConfigured as fault:
        return refuse(str(fault))
    # Everything this starts has the same settings, whatever the folder it was called from.
    os.environ["DJANGO_SETTINGS_MODULE"] = "stigmer.settings"
    os.chdir(PROJECT)
    if not port_is_free(settings.STIGMER_BIND, settings.PORT):
        return refuse(f"Port {settings.PORT} is taken. Choose another: PORT=8001 make run")
    supervisor = Supervisor(say)
    supervisor.catch_signals()
    if settings.STIGMER_EMBEDDED:
        say(f"Starting PostgreSQL in {settings.STIGMER_HOME}")
        try:
            embedded.hold(settings.STIGMER_HOME)
        except (embedded.EmbeddedDatabaseFailed, OSError) as fault:
            return refuse(str(fault))
    home = settings.STIGMER_HOME if settings.STIGMER_EMBEDDED else None
    return run(supervisor, settings.STIGMER_BIND, settings.PORT, home)


def run(supervisor: Supervisor, host: str, port: int, home: Path | None) -> int:
    say("Preparing the database")
    status = supervisor.finish(python("manage.py", "prepare", "--first-run"), unhurried())
    if supervisor.stopping:
        return 0
    if status:
        return refuse("The database could not be prepared; the reason is above.")
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if home is not None:
        # The server is no child; when a signal ends it, the rest would answer 503 for good.
        supervisor.start("guard", python("-m", "stigmer.embedded_guard", str(home)), environment)
    supervisor.start("web", python("-m", "stigmer.serve"), environment)
    supervisor.start("worker", celery("worker", "--pool", "threads", "-c", "4"), environment)
    supervisor.start("beat", celery("beat", "--pidfile="), environment)
    greet(supervisor, f"http://{host}:{port}")
    status = supervisor.wait()
    say("Stopped.")
    return status


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def celery(name: str, *arguments: str) -> list[str]:
    lonely = LONELY if name == "worker" else ()
    return python("-m", "celery", "-q", "-A", "stigmer", name, *lonely, *arguments)


def unhurried() -> dict[str, str]:
    """A migration may take longer than a request; its log is no reading for a first start."""
    patience = {"STIGMER_STATEMENT_TIMEOUT": "0", "STIGMER_LOCK_TIMEOUT": "60"}
    return {**os.environ, **patience, "STIGMER_LOG_LEVEL": "WARNING"}


def greet(supervisor: Supervisor, address: str) -> None:
    """Tell the addresses once the web process answers."""
    deadline = time.monotonic() + READY_SECONDS
    while not supervisor.stopping and time.monotonic() < deadline:
        if any(child.ended for child in supervisor.children):
            return
        if answers(f"{address}/healthz"):
            say(f"stigmer runs. Ctrl-C stops it.\n\n{addresses(address)}")
            return
        time.sleep(0.2)


def addresses(address: str) -> str:
    return (
        f"  console      {address}/console/\n"
        f"  API          {address}/api/v1\n"
        f"  API browser  {address}/api/v1/docs\n"
        f"  readiness    {address}/readyz\n"
    )


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def port_is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def refuse(text: str) -> int:
    sys.stderr.write(f"{text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
