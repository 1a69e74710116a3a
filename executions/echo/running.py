"""A runner's life: claim, walk, claim again."""

from __future__ import annotations

import threading
import time

from executions.echo.protocol import Held, LostError, Protocol, ServerError
from executions.echo.walk import Say, StoppedError, Walk, echo

WAIT = 20
REST = 1.0


class Runner:
    """Claims and runs until it is told to stop; a server that is away is asked again."""

    def __init__(
        self, protocol: Protocol, *, say: Say, pace: float = 1.0, labels: dict[str, str]
    ) -> None:
        self.protocol = protocol
        self.say = say
        self.pace = pace
        self.labels = labels
        self.stopping = threading.Event()

    def run(self, *, most: int | None = None) -> int:
        """Run executions, at most so many; answers how many."""
        done = 0
        while not self.stopping.is_set() and (most is None or done < most):
            try:
                began = time.monotonic()
                held = self.protocol.claim(self.labels, WAIT)
                if held is None:
                    # Plain WSGI does not wait.
                    if time.monotonic() - began < REST:
                        self.stopping.wait(REST)
                    continue
                self._one(held)
                done += 1
            except ServerError as fault:
                self.say(f"the server: {fault}")
                self.stopping.wait(REST)
        return done

    def _one(self, held: Held) -> None:
        self.say(f"{held.id} claimed, attempt {held.attempt}")
        try:
            if held.execution["kind"] == "AgentExecution":
                echo(self.protocol, held, self.say)
            else:
                Walk(self.protocol, held, self.say, self.pace).run()
        except StoppedError as stopped:
            self.say(f"{held.id} stopped: {stopped}")
        except LostError as lost:
            self.say(f"{held.id} lost: {lost}")
