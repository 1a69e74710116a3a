"""The one seam between an execution and what makes it run."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

Envelope = dict[str, Any]
RELAY = "relaySignal"


class EngineError(Exception):
    """The engine did not do what it was asked; the text goes to the log and `error`."""


class WorkflowNotFoundError(EngineError):
    """The engine does not know this execution, or not any more."""


class Run(Protocol):
    """What an engine needs to know of an execution."""

    @property
    def id(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def instance(self) -> str: ...
    @property
    def organization(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def input(self) -> str | None: ...
    @property
    def updated_at(self) -> datetime: ...


class Engine(Protocol):
    """Starts, signals and stops executions. Every call may be repeated and is one effect.

    A `pull` engine is told by the inbox, in the transaction of the change itself; its calls do
    nothing. A push engine is called outside of any transaction and raises EngineError.
    """

    name: str
    pull: bool

    @property
    def connected(self) -> bool:
        """Whether it can be reached now."""

    def start(self, execution: Run, *, recovery_mode: bool) -> None:
        """Make the execution run."""

    def signal_with_start(
        self, execution: Run, channel: str, payload: Envelope, *, request: str, recovery_mode: bool
    ) -> None:
        """Deliver on a channel, starting the execution if it has not; `request` makes it one."""

    def signal(self, execution: Run, channel: str, payload: Envelope, *, request: str) -> None:
        """Deliver on a channel of an execution that runs."""

    def cancel(self, execution: Run) -> None:
        """Ask it to stop."""

    def terminate(self, execution: Run, reason: str) -> None:
        """Stop it at once."""
