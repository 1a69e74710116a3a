"""One Redis subscriber for the process: it reconnects, and tells whether it hears now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import structlog

from stigmer.core.wakeups import PREFIX

log = structlog.get_logger("stigmer.streams")
AGAIN = 0.5
CONFIRMED = 1.0
# Subscribed to from the first moment on: its confirmation says that the connection stands.
ALIVE = f"{PREFIX}alive"


class Listener:
    """Hears wake-ups of the topics that are asked for."""

    def __init__(
        self, url: str, ring: Callable[[str], None], changed: Callable[[bool], None]
    ) -> None:
        self.url, self.ring, self.changed = url, ring, changed
        self.live = False
        self._wanted: set[str] = set()
        self._confirmed: dict[str, asyncio.Event] = {}
        self._pubsub: Any = None

    async def want(self, topics: Iterable[str]) -> None:
        """Hear these topics from now on; returns once Redis says so, or soon without it."""
        new = [topic for topic in topics if topic not in self._wanted]
        self._wanted.update(new)
        self._confirmed.update((topic, asyncio.Event()) for topic in new)
        if new:
            await self._send("subscribe", new)
        for topic in topics:
            await self._heard(topic)

    async def _heard(self, topic: str) -> None:
        confirmed = self._confirmed.get(topic)
        if not self.live or confirmed is None:
            return
        try:
            async with asyncio.timeout(CONFIRMED):
                await confirmed.wait()
        except TimeoutError:
            log.warning("subscription_late", topic=topic)

    async def forget(self, topics: Iterable[str]) -> None:
        """Hear these topics no more."""
        gone = [topic for topic in topics if topic in self._wanted]
        self._wanted.difference_update(gone)
        for topic in gone:
            self._confirmed.pop(topic, None)
        if gone:
            await self._send("unsubscribe", gone)

    async def _send(self, command: str, topics: list[str]) -> None:
        from redis.exceptions import RedisError

        if self._pubsub is None:
            return  # everything that is wanted is subscribed to on connecting
        try:
            await getattr(self._pubsub, command)(*(PREFIX + topic for topic in topics))
        except (RedisError, OSError) as cause:
            log.warning("subscription_lost", cause=type(cause).__name__)

    async def run(self) -> None:
        """Listen until cancelled; while Redis is away, try again and again."""
        from redis.exceptions import RedisError

        told = False
        while True:
            try:
                await self._listen()
            except (RedisError, OSError) as cause:
                if self.live or not told:
                    log.warning("redis_away", cause=type(cause).__name__)
                told = True
            finally:
                self._pubsub = None
                self._turn(live=False)
            await asyncio.sleep(AGAIN)

    async def _listen(self) -> None:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        once = Retry(NoBackoff(), 0)
        async with (
            Redis.from_url(self.url, retry=once, socket_connect_timeout=2) as client,
            client.pubsub() as pubsub,
        ):
            for confirmed in self._confirmed.values():
                confirmed.clear()
            await self._subscribe(pubsub)
            async for message in pubsub.listen():
                self._take(message["type"], message["channel"].decode())

    async def _subscribe(self, pubsub: Any) -> None:
        sent: set[str] = set()
        await pubsub.subscribe(ALIVE)
        # What is asked for while this one waits is taken along.
        while missing := self._wanted - sent:
            await pubsub.subscribe(*(PREFIX + topic for topic in missing))
            sent |= missing
        self._pubsub = pubsub

    def _take(self, kind: str, channel: str) -> None:
        if channel == ALIVE:
            self._turn(live=True)
            return
        topic = channel.removeprefix(PREFIX)
        if kind == "subscribe" and topic in self._confirmed:
            self._confirmed[topic].set()
        # A topic that was not heard for a while may have changed meanwhile.
        if kind in ("subscribe", "message"):
            self.ring(topic)

    def _turn(self, *, live: bool) -> None:
        if self.live != live:
            self.live = live
            self.changed(live)
