"""Who waits for what in this process; wake-ups and one poll ring the bells."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

import structlog
from django.conf import settings

from stigmer.core.registries import probes
from stigmer.http.streams.listening import Listener
from stigmer.http.streams.threads import Threads

log = structlog.get_logger("stigmer.streams")
# Where a request finds the hub of the process that can let it wait.
IN_ENVIRON = "stigmer.hub"
POLL = 0.5
# With wake-ups the poll only finds what a lost one left, and leases that lapsed.
POLL_BESIDE_REDIS = 5.0
# A loop that is this late is going down.
REGISTERED = 5.0
_UNSEEN = object()


class Bell:
    """One waiter's bell; rung when any of its topics may have changed, and at the end."""

    __slots__ = ("_event", "_hub", "gone", "topics")

    def __init__(self, hub: Hub, topics: tuple[str, ...]) -> None:
        self._hub, self.topics, self._event = hub, topics, asyncio.Event()
        self.gone = False

    @property
    def over(self) -> bool:
        """Whether there is nothing more to wait for: nobody listens, or the process ends."""
        return self.gone or self._hub.closing

    def ring(self) -> None:
        """Wake the waiter, now or when it waits next."""
        self._event.set()

    def leave(self) -> None:
        """Nobody listens any more."""
        self.gone = True
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        """Whether it rang within these seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        rang = self._event.is_set()
        self._event.clear()
        return rang


class _Topic:
    __slots__ = ("bells", "version")

    def __init__(self) -> None:
        self.bells: set[Bell] = set()
        self.version: Any = _UNSEEN


class Hub:
    """The waiters of one process; everything here happens on its event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.threads = Threads()
        self.closing = False
        self._topics: dict[str, _Topic] = {}
        self._hurry = asyncio.Event()
        self._listener = (
            Listener(settings.REDIS_URL, self._ring, self._turned) if settings.REDIS_URL else None
        )
        self._tasks = [self.loop.create_task(self._poll())]
        if self._listener is not None:
            self._tasks.append(self.loop.create_task(self._listener.run()))

    def watch(self, topics: Iterable[str]) -> Bell:
        """A bell for these topics, registered when this returns; called from a thread."""
        registering = self._register(tuple(topics))
        return asyncio.run_coroutine_threadsafe(registering, self.loop).result(REGISTERED)

    async def _register(self, topics: tuple[str, ...]) -> Bell:
        bell = Bell(self, topics)
        for topic in topics:
            self._topics.setdefault(topic, _Topic()).bells.add(bell)
        if self._listener is not None:
            await self._listener.want(topics)
        return bell

    async def unwatch(self, bell: Bell) -> None:
        """Forget a bell."""
        empty = []
        for name in bell.topics:
            topic = self._topics.get(name)
            if topic is None:
                continue
            topic.bells.discard(bell)
            if not topic.bells:
                del self._topics[name]
                empty.append(name)
        if self._listener is not None:
            await self._listener.forget(empty)

    def drop(self, bell: Bell) -> None:
        """Forget a bell; called from a thread."""
        asyncio.run_coroutine_threadsafe(self.unwatch(bell), self.loop)

    def close(self) -> None:
        """Wake everybody for the last time: the process ends."""
        self.closing = True
        for name in list(self._topics):
            self._ring(name)

    async def stop(self) -> None:
        """End what this process listens with."""
        self.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.threads.close()

    def _ring(self, name: str) -> None:
        topic = self._topics.get(name)
        for bell in () if topic is None else topic.bells:
            bell.ring()

    def _turned(self, live: bool) -> None:
        # Whoever was rung meanwhile by nobody is found by the poll.
        self._hurry.set()

    async def _poll(self) -> None:
        while True:
            beside = self._listener is not None and self._listener.live
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_BESIDE_REDIS if beside else POLL):
                    await self._hurry.wait()
            self._hurry.clear()
            await self._look()

    async def _look(self) -> None:
        names = list(self._topics)
        if not names:
            return
        try:
            found = await self.threads.read(lambda: versions(names))
        except Exception as cause:  # noqa: BLE001 whatever it is, the next look may succeed
            log.warning("poll_failed", cause=type(cause).__name__)
            return
        for name in names:
            topic = self._topics.get(name)
            if topic is not None and topic.version != found.get(name):
                topic.version = found.get(name)
                self._ring(name)


def versions(topics: Iterable[str]) -> dict[str, Any]:
    """A version of each topic, which differs when a reader should look."""
    kinds: dict[str, list[str]] = {}
    for topic in topics:
        kind, _, id = topic.partition(":")
        kinds.setdefault(kind, []).append(id)
    return {
        f"{kind}:{id}": version
        for kind, probe in probes
        if kind in kinds
        for id, version in probe(kinds[kind]).items()
    }
