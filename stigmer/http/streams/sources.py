"""What a stream says: server-sent events, read by cursor (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

EVENT_STREAM = "text/event-stream"
COMMENT = b":\n\n"
# For a client that shall come back: this process ends, or cannot read now.
RETRY = b"retry: 1000\n\n"


class Batch(NamedTuple):
    """What one read found: frames, whether they are the last, whether more is there already."""

    frames: list[bytes]
    ended: bool = False
    more: bool = False


class Source(Protocol):
    """What a stream reads; it remembers how far it came."""

    def read(self) -> Batch:
        """What is new since the last read, from the database."""


def frame(data: bytes, id: int | None = None) -> bytes:
    """One event of JSON, whose texts hold no raw line feed; one between tokens means nothing."""
    if b"\n" in data or b"\r" in data:
        data = data.replace(b"\r", b" ").replace(b"\n", b" ")
    head = b"" if id is None else b"id: %d\n" % id
    return b"%sdata: %s\n\n" % (head, data)
