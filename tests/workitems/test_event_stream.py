"""Following a work item, over a real connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import factories
from tests.executions.watching import Live
from workitems.operations import append_intent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def live(server: str, cast: Any) -> Iterator[Live]:
    """A web process with the cast in its database."""
    client = Live(server)
    yield client
    client.close()


def note(item: Any, text: str) -> None:
    append_intent(
        item=item.id, text=text, params=None, by=factories.act(), now=factories.now(), facts={}
    )


def test_says_each_event_once_up_to_the_one_that_ends_the_item(live: Live) -> None:
    item = factories.open_item()
    path = f"/work-items/{item.id}/events"
    watcher = live.watch("vera", f"{path}/stream")
    begun = watcher.take(1)

    note(item, "more")
    tail = watcher.take(1)
    factories.moved_item(item, "complete")
    rest = list(watcher.said())

    said = begun + tail + rest
    assert [frame.id for frame in said] == [1, 2, 3]
    assert [frame.data for frame in said] == live.get("vera", path).json()["events"]
    assert said[-1].data["to_state"] == "completed"
    after = live.watch("vera", f"{path}/stream", Last_Event_ID="3")
    assert list(after.said()) == []


def test_goes_on_behind_the_cursor_and_last_event_id_wins(live: Live) -> None:
    item = factories.open_item()
    note(item, "more")
    factories.moved_item(item, "archive")

    plain = live.watch("vera", f"/work-items/{item.id}/events/stream?after_seq=1")
    told = live.watch("vera", f"/work-items/{item.id}/events/stream?after_seq=1", Last_Event_ID="2")

    assert [frame.id for frame in plain.said()] == [2, 3]
    assert [frame.id for frame in told.said()] == [3]


def test_is_there_for_whom_the_item_is(live: Live) -> None:
    private = factories.open_item(visibility="private")
    path = f"/work-items/{private.id}/events/stream"

    unseen = live.get("vera", path)
    unknown = live.get("vera", "/work-items/wi_01h455vb4pex5vsknk084sn02q/events/stream")
    faulty = live.get("alice", f"{path}?after_seq=-1")

    for answer in (unseen, unknown):
        assert (answer.status_code, answer.json()["code"]) == (404, "work_item_not_found")
    assert faulty.status_code == 400
