"""The hub that wakes waiters, and the form of frames."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from stigmer.core.registries import probes
from stigmer.http.streams import hub as hubs
from stigmer.http.streams.hub import Bell, Hub
from stigmer.http.streams.sources import frame

SOON = 0.2


class Things:
    """What the poll looks at."""

    def __init__(self) -> None:
        self.versions: dict[str, Any] = {"a": 1}
        self.looks = 0
        self.fails = False

    def __call__(self, ids: list[str]) -> dict[str, Any]:
        self.looks += 1
        if self.fails:
            raise RuntimeError("the database is away")
        return {id: self.versions[id] for id in ids if id in self.versions}


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Things]:
    settings.REDIS_URL = ""
    monkeypatch.setattr(hubs, "POLL", 0.02)
    found = Things()
    probes.add("thing", found)
    yield found
    probes.remove("thing")


def on_a_hub(story: Callable[[Hub, Bell], Awaitable[None]]) -> None:
    """Tell the story with a bell for `thing:a` that has rung for the first look."""

    async def told() -> None:
        hub = Hub()
        try:
            bell = await asyncio.to_thread(hub.watch, ["thing:a"])
            assert await bell.wait(5), "what changed before the first look would be missed"
            await story(hub, bell)
        finally:
            await hub.stop()

    asyncio.run(told())


def test_a_bell_rings_when_its_topic_changes_and_only_then(things: Things) -> None:
    async def story(hub: Hub, bell: Bell) -> None:
        assert not await bell.wait(SOON)
        things.versions["a"] = 2
        assert await bell.wait(5)
        assert not await bell.wait(SOON)

    on_a_hub(story)


def test_a_bell_rings_when_its_topic_is_gone(things: Things) -> None:
    async def story(hub: Hub, bell: Bell) -> None:
        del things.versions["a"]
        assert await bell.wait(5)

    on_a_hub(story)


def test_a_look_that_fails_is_made_again(things: Things) -> None:
    async def story(hub: Hub, bell: Bell) -> None:
        things.fails = True
        await asyncio.sleep(SOON)
        things.fails, things.versions["a"] = False, 2
        assert await bell.wait(5)

    on_a_hub(story)


def test_nobody_looks_when_nobody_waits(things: Things) -> None:
    async def story(hub: Hub, bell: Bell) -> None:
        await hub.unwatch(bell)
        await asyncio.sleep(SOON)
        before = things.looks
        await asyncio.sleep(SOON)
        assert things.looks == before

    on_a_hub(story)


def test_the_end_of_the_process_wakes_everybody(things: Things) -> None:
    async def story(hub: Hub, bell: Bell) -> None:
        hub.close()
        assert await bell.wait(5)
        assert bell.over

    on_a_hub(story)


def test_a_client_that_leaves_wakes_its_own_bell(things: Things) -> None:
    async def story(hub: Hub, bell: Bell) -> None:
        other = await asyncio.to_thread(hub.watch, ["thing:a"])
        await other.wait(SOON)
        other.leave()
        assert await other.wait(5)
        assert (other.over, bell.over) == (True, False)

    on_a_hub(story)


@pytest.mark.parametrize("data", [b'{"a": 1}', b'{"a":\n 1}', b'{"a":\r\n1}'])
def test_a_frame_is_one_line_of_data(data: bytes) -> None:
    made = frame(data, 7)

    assert made.startswith(b"id: 7\ndata: {")
    assert made.endswith(b"}\n\n")
    assert made.count(b"\n") == 3
    assert b"\r" not in made
