"""POST /work-items with an external key that open work carries."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import events_of, nothing_written, refused

pytestmark = pytest.mark.django_db
NEW = {"tenant": "acme", "title": "Fix the door"}


def test_the_same_external_key_answers_the_open_item(as_: Any) -> None:
    first = as_("alice").post("/work-items", json=NEW | {"external_key": "door-1"})
    body = NEW | {"external_key": "door-1", "title": "Other words"}
    with nothing_written():
        second = as_("bob").post("/work-items", json=body)

    assert second.status_code == 200
    assert second.json() == first.json() | {"created": False}


def test_a_waiting_item_is_open_work(as_: Any, cast: Any) -> None:
    item = factories.waiting_item(external_key="door-1")
    factories.run_of(item)

    answer = as_("bob").post("/work-items", json=NEW | {"external_key": "door-1"}).json()

    assert answer["work_item"]["id"] == item.id
    assert (answer["work_item"]["state"], answer["state_version"]) == ("waiting", 2)
    assert answer["latest_execution"]["attempt"] == 1


@pytest.mark.parametrize(
    ("holder", "owner", "wanted", "caller"),
    [
        ("private", "alice", "private", "bob"),
        ("private", "alice", "tenant", "bob"),
        ("private", "alice", "tenant", "alice"),
        ("tenant", "alice", "private", "bob"),
        ("tenant", "alice", "private", "alice"),
        ("private", "alice", "private", "root"),
    ],
)
def test_work_that_cannot_be_shared_holds_the_external_key(
    as_: Any, cast: Any, holder: str, owner: str, wanted: str, caller: str
) -> None:
    held = factories.open_item(external_key="door-1", visibility=holder, owner=owner)
    body = NEW | {"external_key": "door-1", "visibility": wanted}
    with nothing_written():
        response = as_(caller).post("/work-items", json=body, key="k")

    problem = refused(response, 409, "external_key_in_use")
    assert "details" not in problem
    assert held.id not in response.content.decode()


def test_the_owner_shares_a_private_item(as_: Any, cast: Any) -> None:
    held = factories.open_item(external_key="door-1", visibility="private")
    body = NEW | {"external_key": "door-1", "visibility": "private"}

    response = as_("alice").post("/work-items", json=body)

    assert (response.status_code, response.json()["work_item"]["id"]) == (200, held.id)


@pytest.mark.parametrize("action", ["complete", "archive", "supersede"])
def test_the_external_key_of_ended_work_is_free(as_: Any, cast: Any, action: str) -> None:
    ended = factories.ended_item(external_key="door-1", action=action)

    response = as_("bob").post("/work-items", json=NEW | {"external_key": "door-1"}, key="new")

    assert response.status_code == 201
    assert response.json()["work_item"]["id"] != ended.id
    assert events_of(response.json()["work_item"]["id"]) == ["created"]


def test_ended_work_with_the_same_external_key_is_passed_over(as_: Any, cast: Any) -> None:
    for _ in range(3):
        factories.ended_item(external_key="door-1")
    held = factories.open_item(external_key="door-1")

    answer = as_("bob").post("/work-items", json=NEW | {"external_key": "door-1"}).json()

    assert (answer["work_item"]["id"], answer["created"]) == (held.id, False)


def test_an_external_key_is_the_organizations_own_and_literal(as_: Any, cast: Any) -> None:
    factories.open_item(external_key="door-1")
    factories.open_item(external_key="door-1", tenant="globex", owner="mallory")

    for near in ("Door-1", "door-1 ", " door-1", "door-1́"):
        assert as_("bob").post("/work-items", json=NEW | {"external_key": near}).status_code == 201
