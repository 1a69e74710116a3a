"""Pull: executions wait in PostgreSQL until a runner claims one, and read their inbox."""

from __future__ import annotations

from executions.engines.base import Envelope, Run


class Runner:
    """Connected wherever the database is: the row itself is the queue, the inbox the channel."""

    name = "runner"
    pull = True
    connected = True

    def start(self, execution: Run, *, recovery_mode: bool) -> None:
        """The row waits for a claim from its insert on."""

    def signal_with_start(
        self, execution: Run, channel: str, payload: Envelope, *, request: str, recovery_mode: bool
    ) -> None:
        """The inbox entry is written by the operation, in its transaction."""

    def signal(self, execution: Run, channel: str, payload: Envelope, *, request: str) -> None:
        """As `signal_with_start`."""

    def cancel(self, execution: Run) -> None:
        """The inbox entry is written by the operation, in its transaction."""

    def terminate(self, execution: Run, reason: str) -> None:
        """As `cancel`."""
