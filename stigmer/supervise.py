"""Several processes as one: they start together, and when one ends all end."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import IO

# Together less than the 10 seconds that `make run` promises.
GRACE_SECONDS = 7.0
KILL_SECONDS = 1.0
PR_SET_PDEATHSIG = 1


class Child:
    """One process in a session of its own, each line of its output behind its name, if any."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # A terminal's Ctrl-C reaches the supervisor alone, which then ends the others in order.
            start_new_session=True,
            # Unsafe beside threads only for what takes locks; this takes none.
            preexec_fn=_die_with_parent(os.getpid()),  # noqa: PLW1509
            text=True,
            errors="replace",
        )
        self.reader = threading.Thread(target=self._copy, args=(self.process.stdout,), daemon=True)
        self.reader.start()

    def _copy(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                self._show(line)

    def _show(self, line: str) -> None:
        sys.stdout.write(f"{self.name:<7}| {line}" if self.name else line)
        sys.stdout.flush()

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        """To the process and everything it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


class Supervisor:
    """Starts children and waits; `stop` may come from a signal."""

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self.children: list[Child] = []
        self.say = say
        self._stopping = threading.Event()

    def catch_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping.set()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.children.append(Child(name, command, environment))

    def finish(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run one command to its end, or end it when told to stop; its status."""
        child = Child("", command, environment)
        while not child.ended and not self.stopping:
            self._stopping.wait(0.05)
        self.children.append(child)
        self.end()
        self.children.remove(child)
        return int(child.process.returncode)

    def wait(self) -> int:
        """Until told to stop (0) or until a child ends (1); then every child has ended."""
        lost: Child | None = None
        while not self.stopping and lost is None:
            lost = next((child for child in self.children if child.ended), None)
            # Not Event.wait without end: a signal is handled between two of these.
            self._stopping.wait(0.2)
        if lost is not None and not self.stopping:
            self.say(f"{lost.name} ended with status {lost.process.returncode}; stopping the rest.")
        self.end()
        return 0 if self.stopping or lost is None else 1

    def end(self) -> None:
        for child in self.children:
            child.send(signal.SIGTERM)
        if not self._all_ended(GRACE_SECONDS):
            for child in self.children:
                child.send(signal.SIGKILL)
            self._all_ended(KILL_SECONDS)
        for child in self.children:
            child.reader.join(timeout=1)

    def _all_ended(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if all(child.ended for child in self.children):
                return True
            time.sleep(0.05)
        return all(child.ended for child in self.children)


def _die_with_parent(parent: int) -> Callable[[], None] | None:
    """On Linux the kernel ends a child whose supervisor was killed with -9."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def before_exec() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return before_exec
