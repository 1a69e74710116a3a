"""One key is one request, one effect, and the same answer again."""

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


# Create -------------------------------------------------------------------------------------------


def test_a_replay_answers_the_item_as_it_is_now(as_: Any, cast: Any) -> None:
    first = create(as_("alice"))
    item = factories.found_item(first.json()["work_item"]["id"])
    factories.moved_item(item, "complete")
    with nothing_written():
        again = create(as_("alice"))

    now = as_("alice").get(f"/work-items/{item.id}").json()
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == now | {"created": False}
    assert now["work_item"]["state"] == "completed"


def test_the_key_travels_in_the_header_or_the_body(as_: Any) -> None:
    first = create(as_("alice"), "k").json()["work_item"]["id"]
    with nothing_written():
        in_body = create(as_("alice"), None, idempotency_key="k")
        in_both = create(as_("alice"), "k", idempotency_key="k")
        empty_in_body = create(as_("alice"), "k", idempotency_key="")

    for response in (in_body, in_both, empty_in_body):
        assert (response.status_code, response.json()["work_item"]["id"]) == (200, first)


def test_two_different_keys_are_refused(as_: Any) -> None:
    with nothing_written():
        response = create(as_("alice"), "a", idempotency_key="b")

    invalid(response, "/idempotency_key", "Idempotency-Key header and idempotency_key differ")


@pytest.mark.parametrize(
    "more", [{"visibility": "tenant"}, {"origin_surface": "api"}, {"external_key": ""}]
)
def test_spelling_out_a_default_is_the_same_request(as_: Any, more: dict[str, str]) -> None:
    create(as_("alice"))
    with nothing_written():
        again = create(as_("alice"), **more)

    assert again.status_code == 200


def test_another_order_of_fields_is_the_same_request(as_: Any) -> None:
    create(as_("alice"))

    again = as_("alice").post("/work-items", json=dict(reversed(NEW.items())), key="k")

    assert again.status_code == 200


@pytest.mark.parametrize(
    "more",
    [
        {"title": "Fix the Door"},
        {"title": "Fix the door "},
        {"visibility": "private"},
        {"origin_surface": "cli"},
        {"external_key": "x"},
    ],
)
def test_another_body_is_refused(as_: Any, more: dict[str, str]) -> None:
    create(as_("alice"))
    with nothing_written():
        response = create(as_("alice"), **more)

    assert "details" not in refused(response, 409, "idempotency_key_reused")


def test_another_actor_is_refused_and_learns_nothing(as_: Any) -> None:
    first = create(as_("alice"), visibility="private").json()["work_item"]["id"]
    for name in ("bob", "root"):
        with nothing_written():
            response = create(as_(name), visibility="private")
        refused(response, 409, "idempotency_key_reused")
        assert first not in response.content.decode()


def test_a_key_is_the_organizations_own(as_: Any, cast: Any) -> None:
    factories.join("globex", "alice", "member")
    first = create(as_("alice")).json()["work_item"]["id"]

    second = create(as_("alice"), tenant="globex")

    assert (second.status_code, second.json()["work_item"]["id"] == first) == (201, False)


@pytest.mark.parametrize("key", ["x" * 512, "é" * 256, " ", " padded ", "K", "🚪", "%00", "a,b"])
def test_a_key_is_taken_literally(as_: Any, key: str) -> None:
    api = as_("alice")
    create(api, "k")

    assert create(api, key).status_code == 201
    assert create(api, key).status_code == 200
    assert create(api, None, idempotency_key=key).status_code == 200
    assert rows("SELECT count(*) FROM workitems_createrequest WHERE idempotency_key = %s", key) == [
        (1,)
    ]


@pytest.mark.parametrize("key", ["", "x" * 513, "é" * 257, "a\tb", "a\x7fb"])
def test_refuses_what_is_no_key(as_: Any, key: str) -> None:
    with nothing_written():
        in_header = create(as_("alice"), key)
        in_body = create(as_("alice"), None, idempotency_key=key or "a\nb")

    invalid(in_header, "Idempotency-Key")
    invalid(in_body, "/idempotency_key")


@pytest.mark.parametrize("key", [None, 7, True, ["k"]])
def test_refuses_a_key_that_is_no_text(as_: Any, key: Any) -> None:
    with nothing_written():
        response = as_("alice").post("/work-items", json=NEW | {"idempotency_key": key})

    invalid(response, "/idempotency_key")


def test_refuses_a_header_that_is_not_utf8(as_: Any) -> None:
    with nothing_written():
        response = create(as_("alice"), None, headers={"Idempotency-Key": "\xff\xfe"})

    invalid(response, "Idempotency-Key")


def test_a_refused_request_records_no_key(as_: Any, cast: Any) -> None:
    factories.open_item(external_key="door-1", visibility="private")
    with nothing_written():
        first = create(as_("bob"), external_key="door-1")

    refused(first, 409, "external_key_in_use")
    assert create(as_("bob"), title="Something else").status_code == 201


def test_the_key_comes_before_the_external_key(as_: Any, cast: Any) -> None:
    mine = create(as_("alice"), external_key="door-1").json()["work_item"]["id"]
    factories.moved_item(factories.found_item(mine), "complete")
    other = factories.open_item(external_key="door-1")
    with nothing_written():
        again = create(as_("alice"), external_key="door-1")

    assert again.json()["work_item"]["id"] == mine != other.id


def test_a_dedupe_records_the_key_and_keeps_answering_the_item(as_: Any, cast: Any) -> None:
    held = factories.open_item(external_key="door-1")
    first = create(as_("bob"), external_key="door-1")
    factories.moved_item(held, "complete")
    with nothing_written():
        again = create(as_("bob"), external_key="door-1")
        other = create(as_("bob"), external_key="door-2")

    assert [r.json()["work_item"]["id"] for r in (first, again)] == [held.id, held.id]
    assert again.json()["work_item"]["state"] == "completed"
    refused(other, 409, "idempotency_key_reused")
    assert create(as_("bob"), "new", external_key="door-1").status_code == 201


# Everything on an item ----------------------------------------------------------------------------

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
