"""A process that sends a signal and is killed where it was told to be: `dying.py WHERE ID FILE`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django


def die(*_args: Any, **_more: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(where: str, execution: str, delivered: Path) -> None:
    django.setup()
    from executions import engines, operations
    from executions.operations import dedupe
    from tests import factories
    from tests.executions import making

    class Engine(making.FakeEngine):
        pull = where == "pull"

        def signal_with_start(self, execution: Any, *args: Any, **more: Any) -> None:
            if where == "before":
                die()
            with delivered.open("a") as file:
                file.write("delivered\n")

    engine = Engine()
    with (
        patch.dict(engines.ENGINES, {"temporal": lambda: engine, "runner": lambda: engine}),
        patch.object(dedupe, "mark_delivered", die),
    ):
        operations.send_signal(
            execution=execution, signal="go", payload=None,
            by=factories.act("bob", key="k"), now=factories.now(),
        )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
