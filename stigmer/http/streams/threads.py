"""Short calls in threads: each thread has one database connection, and no waiter has any."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.conf import settings
from django.db import close_old_connections

Result = TypeVar("Result")
READERS = 2


class Threads:
    """Who opens has threads of its own: many readers that wake at once do not stop a claim."""

    def __init__(self) -> None:
        self._doors = ThreadPoolExecutor(settings.STIGMER_STREAM_THREADS, "stream-door")
        self._readers = ThreadPoolExecutor(READERS, "stream-reader")

    async def open(self, call: Callable[[], Result]) -> Result:
        """The result of a request or of an operation."""
        return await asyncio.get_running_loop().run_in_executor(self._doors, _cared(call))

    async def read(self, call: Callable[[], Result]) -> Result:
        """The result of a read for somebody who waits."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, _cared(call))

    def close(self) -> None:
        """End the threads once they are idle."""
        self._doors.shutdown(wait=False)
        self._readers.shutdown(wait=False)


def _cared(call: Callable[[], Result]) -> Callable[[], Result]:
    """The call as Django frames a request: a connection that broke is replaced by a new one."""

    def called() -> Result:
        close_old_connections()
        try:
            return call()
        finally:
            close_old_connections()

    return called
