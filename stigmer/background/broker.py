"""Kombu's filesystem transport, with messages that appear and are taken whole."""

import json
import uuid
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import filesystem


class Channel(filesystem.Channel):
    """kombu's own opens the message's file before it writes it, so a reader may find it empty."""

    def _put(self, queue: str, payload: dict[str, Any], **_options: Any) -> None:
        folder = Path(self.data_folder_out)
        name = f"{time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        draft = folder / f".{name}"
        draft.write_text(json.dumps(payload))
        draft.rename(folder / name)

    def _get(self, queue: str) -> dict[str, Any]:
        for path in sorted(Path(self.data_folder_in).glob(f"[0-9]*.{queue}.msg")):
            taken = path.with_name(f".{path.name}")
            try:
                # Of several workers, one renames it.
                path.rename(taken)
            except FileNotFoundError:
                continue
            payload: dict[str, Any] = json.loads(taken.read_text())
            taken.unlink()
            return payload
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel
