"""Idempotency keys of everything on an item."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import conflict, invalid, nothing_written, refused, rows

pytestmark = pytest.mark.django_db
NEW = {"tenant": "acme", "title": "Fix the door"}


def create(api: Any, key: str | None = "k", **more: Any) -> Any:
    headers = more.pop("headers", None)
    return api.post("/work-items", json=NEW | more, key=key, headers=headers)


SENDS: dict[str, Any] = {
    "transition": ("PATCH", "", {"action": "complete", "expected_state_version": 2}),
    "resume": (
        "POST", "/resume", {"expected_state_version": 2, "engine": "argo", "engine_ref": "r"},
    ),
    "attach": ("POST", "/executions", {"engine": "argo", "engine_ref": "r"}),
    "intent": ("POST", "/intents", {"text": "Soon"}),
}  # fmt: skip
OTHERS = {
    "transition": {"action": "archive"},
    "resume": {"engine_ref": "other"},
    "attach": {"phase": "Running"},
    "intent": {"text": "soon"},
}


def send(api: Any, item: Any, name: str, key: str | None = "k", **more: Any) -> Any:
    method, path, body = SENDS[name]
    return api.send(method, f"/work-items/{item.id}{path}", json=body | more, key=key)


@pytest.mark.parametrize("name", SENDS)
def test_the_same_request_has_one_effect(as_: Any, cast: Any, name: str) -> None:
    item = factories.waiting_item()
    first = send(as_("bob"), item, name)
    with nothing_written():
        again = send(as_("bob"), item, name)
        in_body = send(as_("bob"), item, name, None, idempotency_key="k")

    flag = "replayed" if name == "transition" else "created"
    assert first.status_code == (200 if name == "transition" else 201)
    assert first.json()[flag] is (name != "transition")
    for replay in (again, in_body):
        assert replay.status_code == 200
        assert replay.json() == first.json() | {flag: name == "transition"}


@pytest.mark.parametrize("name", SENDS)
@pytest.mark.parametrize("other", SENDS)
def test_another_operation_or_body_is_refused(as_: Any, cast: Any, name: str, other: str) -> None:
    item = factories.waiting_item()
    send(as_("bob"), item, name)
    more = OTHERS[name] if name == other else {}
    with nothing_written():
        response = send(as_("bob"), item, other, **more)

    assert "details" not in refused(response, 409, "idempotency_key_reused")


@pytest.mark.parametrize("name", SENDS)
def test_another_actor_is_refused(as_: Any, cast: Any, name: str) -> None:
    item = factories.waiting_item()
    send(as_("bob"), item, name)
    with nothing_written():
        refused(send(as_("alice"), item, name), 409, "idempotency_key_reused")


@pytest.mark.parametrize("name", SENDS)
def test_a_key_is_the_items_own(as_: Any, cast: Any, name: str) -> None:
    create(as_("bob"), "k")
    items = [factories.waiting_item() for _ in range(2)]

    statuses = {send(as_("bob"), item, name).status_code for item in items}

    assert statuses == {200 if name == "transition" else 201}


@pytest.mark.parametrize("name", SENDS)
def test_a_replay_is_answered_whatever_the_item_has_become(as_: Any, cast: Any, name: str) -> None:
    item = factories.waiting_item()
    send(as_("bob"), item, name)
    now = factories.found_item(item.id)
    if now.state != "completed":
        factories.moved_item(now, "archive")
    with nothing_written():
        assert send(as_("bob"), item, name).status_code == 200


@pytest.mark.parametrize("name", SENDS)
def test_a_refusal_records_no_key(as_: Any, cast: Any, name: str) -> None:
    ended = factories.ended_item()
    with nothing_written():
        conflict(send(as_("bob"), ended, name), "invalid_transition", "completed", 2)


@pytest.mark.parametrize("name", SENDS)
def test_different_keys_are_refused(as_: Any, cast: Any, name: str) -> None:
    item = factories.waiting_item()
    with nothing_written():
        response = send(as_("bob"), item, name, "a", idempotency_key="b")

    invalid(response, "/idempotency_key")


@pytest.mark.parametrize("name", SENDS)
def test_without_a_key_nothing_is_recorded(as_: Any, cast: Any, name: str) -> None:
    item = factories.waiting_item()

    assert send(as_("bob"), item, name, None).status_code in (200, 201)
    assert rows("SELECT count(*) FROM workitems_itemrequest") == [(0,)]


def test_the_key_comes_before_if_match_and_the_version(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()
    send(as_("bob"), item, "transition")

    again = as_("bob").patch(
        f"/work-items/{item.id}", json=SENDS["transition"][2], key="k",
        headers={"If-Match": '"old"'},
    )  # fmt: skip

    assert (again.status_code, again.json()["replayed"]) == (200, True)


def test_a_key_kept_for_another_request_comes_before_the_version(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()
    send(as_("bob"), item, "intent")

    refused(
        send(as_("bob"), item, "transition", expected_state_version=9),
        409, "idempotency_key_reused",
    )  # fmt: skip
