"""No engine: nothing can be started, signalled or stopped."""

from __future__ import annotations

from typing import NoReturn

from executions.engines.base import EngineError, Envelope, Run


class Disconnected:
    """Refuses everything; operations look at `connected` first."""

    name = "none"
    pull = False
    connected = False

    def start(self, execution: Run, *, recovery_mode: bool) -> NoReturn:
        raise EngineError("no engine is connected")

    def signal_with_start(
        self, execution: Run, channel: str, payload: Envelope, *, request: str, recovery_mode: bool
    ) -> NoReturn:
        raise EngineError("no engine is connected")

    def signal(self, execution: Run, channel: str, payload: Envelope, *, request: str) -> NoReturn:
        raise EngineError("no engine is connected")

    def cancel(self, execution: Run) -> NoReturn:
        raise EngineError("no engine is connected")

    def terminate(self, execution: Run, reason: str) -> NoReturn:
        raise EngineError("no engine is connected")
