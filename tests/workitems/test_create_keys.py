"""Idempotency keys of creates."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import invalid, nothing_written, refused, rows

pytestmark = pytest.mark.django_db
NEW = {"tenant": "acme", "title": "Fix the door"}


def create(api: Any, key: str | None = "k", **more: Any) -> Any:
    headers = more.pop("headers", None)
    return api.post("/work-items", json=NEW | more, key=key, headers=headers)


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
