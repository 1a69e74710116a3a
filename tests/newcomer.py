"""The product as a newcomer meets it; `python -m tests.newcomer CLONE` tries `make run` there."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

READY_SECONDS = 240
STOP_SECONDS = 10
REVIVE_SECONDS = 60
TOKEN = re.compile(r"token +(stigmer_\S+)")
FOREIGN = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY", "VIRTUAL_ENV")


class Product:
    """One run of the whole product, from its start to the end of its last process."""

    def __init__(self, command: list[str], folder: Path, home: Path, **variables: str) -> None:
        port = str(free_port())
        self.address = f"http://127.0.0.1:{port}"
        self.log = home.parent / f"run-{port}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=plain_environment() | {"STIGMER_HOME": str(home), "PORT": port} | variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> "Product":
        return self

    def __exit__(self, *_failure: object) -> None:
        """However a test ends, nothing goes on running."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=2 * STOP_SECONDS)

    def await_ready(self) -> dict[str, dict[str, str]]:
        """The checks of /readyz once all of them pass."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            status, body = self.get("/readyz")
            if status == 200:
                checks: dict[str, dict[str, str]] = json.loads(body)["checks"]
                return checks
            time.sleep(0.3)
        raise AssertionError(f"the product is not ready:\n{self.log.read_text()}")

    def get(self, path: str, token: str = "") -> tuple[int, str]:
        """Status (0: no answer) and body."""
        request = urllib.request.Request(self.address + path)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()
        except OSError:
            return 0, ""

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it by one signal; every process must be gone in time, and the exit status 0."""
        family = descendants(self.process.pid)
        assert len(family) >= 3, f"web, worker and beat, not {family}"
        began = time.monotonic()
        if number == signal.SIGINT:
            # As a terminal does: make passes on SIGTERM, but leaves Ctrl-C to the terminal.
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        status = self.process.wait(timeout=STOP_SECONDS + 5)
        while any(map(alive, family)) and time.monotonic() - began < STOP_SECONDS:
            time.sleep(0.1)
        left = [pid for pid in family if alive(pid)]
        assert not left, f"still running after {STOP_SECONDS} seconds: {left}"
        assert status in (0, -number), f"ended with status {status}:\n{self.log.read_text()}"


def plain_environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name not in FOREIGN and not name.startswith(("STIGMER_", "PYTEST_"))
    }


def descendants(pid: int) -> list[int]:
    """Every process below this one (Linux)."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def kill_database(product: Product, home: Path) -> None:
    """As `kill -9` does; the product must live on and start another server."""
    file = home / "postgresql" / "postmaster.pid"
    killed = file.read_text().split()[0]
    os.kill(int(killed), signal.SIGKILL)
    deadline = time.monotonic() + REVIVE_SECONDS
    while not file.exists() or file.read_text().split()[:1] in ([], [killed]):
        alive_and_early = product.process.poll() is None and time.monotonic() < deadline
        assert alive_and_early, f"the killed database stays away:\n{product.log.read_text()}"
        time.sleep(0.1)


def try_twice(command: list[str], folder: Path, home: Path) -> None:
    """First start, stop, second start with the same data, a killed database, stop."""
    with Product(command, folder, home) as first:
        first.await_ready()
        shown = TOKEN.findall(first.log.read_text())
        assert shown, f"no token was printed:\n{first.log.read_text()}"
        status, body = first.get("/api/v1/organizations", shown[0])
        assert (status, "demo" in body) == (200, True), body
        first.stop()

    with Product(command, folder, home) as second:
        second.await_ready()
        assert not TOKEN.findall(second.log.read_text()), "the token is printed once"
        assert second.get("/api/v1/organizations", shown[0])[0] == 200, "the data was kept"
        kill_database(second, home)
        second.await_ready()
        second.stop(signal.SIGINT)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="stigmer-newcomer-") as place:
        try_twice(["make", "run"], Path(sys.argv[1]), Path(place) / "home")
    sys.stdout.write("A newcomer's make run works, ends, and continues with the same data.\n")
