"""GET /work-items/{id}/events."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import invalid
from workitems import operations
from workitems.states import Engine

pytestmark = pytest.mark.django_db


def events(api: Any, item: Any, query: str = "") -> Any:
    return api.get(f"/work-items/{item.id}/events{query}")


def _lived() -> Any:
    """An item to which everything has happened that happens here."""
    item = factories.open_item()
    operations.append_intent(
        item=item.id, text="Soon", params=None, by=factories.act("bob"), now=factories.now(),
        facts={},
    )  # fmt: skip
    operations.link_surface(
        item=item.id, surface="telegram", external_id="c", actor_external_id="",
        by=factories.act("bob", surface="telegram"), now=factories.now(),
    )  # fmt: skip
    factories.run_of(item, "run-1", "Failed")
    waiting = factories.moved_item(item, "wait", waiting_reason="input")
    resumed = operations.resume(
        item=item.id, expected_state_version=2,
        run=operations.Run(Engine.ARGO, "run-2"), resumed_from=None,
        by=factories.act(), now=factories.now(), facts={},
    ).view.item  # fmt: skip
    assert waiting.state_version == 2
    return factories.moved_item(resumed, "complete")


def test_tell_the_whole_story_in_order(as_: Any, cast: Any) -> None:
    item = _lived()

    answer = events(as_("vera"), item).json()

    assert (set(answer), answer["truncated"]) == ({"schema_version", "events", "truncated"}, False)
    told = [(e["seq"], e["kind"], e["from_state"], e["to_state"]) for e in answer["events"]]
    assert told == [
        (1, "created", None, "active"),
        (2, "intent_appended", None, None),
        (3, "surface_linked", None, None),
        (4, "execution_attached", None, None),
        (5, "state_changed", "active", "waiting"),
        (6, "resumed", "waiting", "active"),
        (7, "state_changed", "active", "completed"),
    ]
    assert {e["work_item_id"] for e in answer["events"]} == {item.id}


def test_an_event_has_every_field(as_: Any, cast: Any) -> None:
    item = _lived()

    third = events(as_("bob"), item).json()["events"][2]

    assert third.pop("created_at").endswith("Z")
    assert third == {
        "work_item_id": item.id, "seq": 3, "kind": "surface_linked", "from_state": None,
        "to_state": None, "actor_principal": "bob", "acting_principal": None,
        "surface": "telegram", "request_id": "req-test", "detail": {},
    }  # fmt: skip


def test_go_on_behind_a_sequence_number(as_: Any, cast: Any) -> None:
    item = _lived()

    pages = [
        events(as_("bob"), item, f"?limit=3&after_seq={after}").json() for after in (0, 3, 4, 6, 7)
    ]

    found = [([e["seq"] for e in page["events"]], page["truncated"]) for page in pages]
    assert found == [
        ([1, 2, 3], True), ([4, 5, 6], True), ([5, 6, 7], False), ([7], False), ([], False),
    ]  # fmt: skip


@pytest.mark.parametrize("digits", [18, 19, 5000])
def test_a_number_beyond_every_column_finds_nothing(as_: Any, cast: Any, digits: int) -> None:
    item = factories.open_item()

    assert events(as_("bob"), item, f"?after_seq={'9' * digits}").json()["events"] == []


@pytest.mark.parametrize("raw", ["-1", "1.5", "x", ""])
def test_refuse_what_is_no_counter(as_: Any, cast: Any, raw: str) -> None:
    item = factories.open_item()

    invalid(events(as_("bob"), item, f"?after_seq={raw}"), "after_seq")


@pytest.mark.parametrize("raw", ["0", "501", "x", ""])
def test_refuse_a_limit_outside(as_: Any, cast: Any, raw: str) -> None:
    item = factories.open_item()

    response = events(as_("bob"), item, f"?limit={raw}")

    invalid(response, "limit", "limit must be an integer from 1 to 500")


@pytest.mark.parametrize("given", ["x" * 300, "é" * 200, "a\x01b", "\xff", ""])
def test_an_odd_request_id_never_fails_a_write(as_: Any, cast: Any, given: str) -> None:
    item = factories.open_item()
    header = given if given == "\xff" else given.encode().decode("latin-1")

    response = as_("bob").post(
        f"/work-items/{item.id}/intents", json={"text": "x"}, headers={"X-Request-Id": header}
    )

    assert response.status_code == 201
    stored = events(as_("bob"), item).json()["events"][1]["request_id"]
    assert len(stored.encode()) <= 256
