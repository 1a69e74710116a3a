"""Kombu's filesystem transport, with messages that appear and are taken whole."""

import json
import uuid
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import filesystem

LOOK_UP = 0.5


class Channel(filesystem.Channel):
    """kombu's own opens the message's file before it writes it, so a reader may find it empty."""

    def _put(self, queue: str, payload: Any, **_options: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        name = f"{time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        draft = folder / f".{name}"
        draft.write_text(json.dumps(payload))
        draft.rename(folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        for path in sorted(Path(self.data_folder_in).glob(f"[0-9]*.{queue}.msg")):
            taken = path.with_name(f".{path.name}")
            try:
                # Of several workers, one renames it.
                path.rename(taken)
            except FileNotFoundError:
                continue
            message = json.loads(taken.read_text())
            taken.unlink()
            return message
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel

    def drain_events(  # type: ignore[override]
        self, connection: Any, **options: Any
    ) -> None:
        """A worker looks up between two of these whether it shall stop; it asks for 2 seconds."""
        asked = options.get("timeout") or LOOK_UP
        super().drain_events(connection, **options | {"timeout": min(asked, LOOK_UP)})
