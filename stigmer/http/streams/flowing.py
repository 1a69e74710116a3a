"""What an open stream does until it ends."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import structlog
from a2wsgi.asgi_typing import Send
from django.conf import settings
from django.db import DatabaseError

from stigmer.core.errors import Refusal
from stigmer.http.streams.opening import Stream
from stigmer.http.streams.sources import COMMENT, RETRY, Batch
from stigmer.http.streams.threads import Threads

log = structlog.get_logger("stigmer.streams")
# A client that takes nothing for so long is dropped, and so is one that confirms nothing.
SEND_SECONDS = 20.0
UNCONFIRMED_SECONDS = 10


async def flow(stream: Stream, threads: Threads, send: Send) -> str:
    """Send what is there and what comes until the end; answers why it ended."""
    return await _Flow(stream, threads, send).run()


class _Flow:
    """One open stream: what it sent when, and when it asks again who reads."""

    __slots__ = ("checked", "send", "sent", "stream", "threads")

    def __init__(self, stream: Stream, threads: Threads, send: Send) -> None:
        self.stream, self.threads, self.send = stream, threads, send
        self.sent = self.checked = time.monotonic()

    async def run(self) -> str:
        notice_silence(self.send)
        try:
            reason = await self._follow()
        except TimeoutError:
            abort(self.send)
            return "slow"
        except Refusal as refusal:
            reason = refusal.code
        except DatabaseError as cause:
            log.warning("stream_broken", cause=type(cause).__name__)
            await self._write(RETRY)
            reason = "store_unavailable"
        await self._finish()
        return reason

    async def _follow(self) -> str:
        batch: Batch = self.stream.first
        while True:
            if batch.frames:
                await self._write(b"".join(batch.frames))
            if batch.ended:
                return "ended"
            if not batch.more and not await self._wait():
                break
            batch = await self.threads.read(self.stream.source.read)
        if self.stream.bell.gone:
            return "left"
        await self._write(RETRY)
        return "closing"

    async def _wait(self) -> bool:
        """Wait for a reason to read; false when there is nothing more to wait for."""
        bell = self.stream.bell
        while not bell.over:
            rang = await bell.wait(
                max(0.0, self.sent + settings.STIGMER_STREAM_COMMENT - time.monotonic())
            )
            if self.stream.bell.over:
                break
            if time.monotonic() - self.checked >= settings.STIGMER_STREAM_RECHECK:
                await self.threads.read(self.stream.recheck)
                self.checked = time.monotonic()
            if time.monotonic() - self.sent >= settings.STIGMER_STREAM_COMMENT:
                await self._write(COMMENT)
            if rang:
                return True
        return False

    async def _write(self, data: bytes) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self.send({"type": "http.response.body", "body": data, "more_body": True})
        self.sent = time.monotonic()

    async def _finish(self) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


# The connection below ASGI, which names no way to it: uvicorn's own object is behind `send`.


def _transport(send: Send) -> Any:
    return getattr(getattr(send, "__self__", None), "transport", None)


def abort(send: Send) -> None:
    """Drop the connection with what it has not taken."""
    transport = _transport(send)
    if transport is not None:
        transport.abort()


def notice_silence(send: Send) -> None:
    """Let the kernel end the connection of a client that vanished without a word."""
    transport = _transport(send)
    found = None if transport is None else transport.get_extra_info("socket")
    if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
        option = getattr(socket, "TCP_USER_TIMEOUT", None)
        if option is not None:
            found.setsockopt(socket.IPPROTO_TCP, option, UNCONFIRMED_SECONDS * 1000)
