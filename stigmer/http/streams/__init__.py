"""Event streams and long polls: they wait without a thread and without a database connection."""

from stigmer.http.streams.opening import StreamDoor, follow, last_event_id, poll
from stigmer.http.streams.sources import EVENT_STREAM, Batch, Source, frame

__all__ = [
    "EVENT_STREAM",
    "Batch",
    "Source",
    "StreamDoor",
    "follow",
    "frame",
    "last_event_id",
    "poll",
]
