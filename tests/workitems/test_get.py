"""GET /work-items/{id}."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import refused

pytestmark = pytest.mark.django_db


def test_shows_the_item_and_what_goes_on_about_it(as_: Any, cast: Any) -> None:
    item = factories.waiting_item(external_key="door-1", visibility="private", surface="telegram")
    run = factories.run_of(item)

    answer = as_("alice").get(f"/work-items/{item.id}").json()

    assert answer["work_item"] | {"updated_at": "", "created_at": ""} == {
        "id": item.id, "tenant": "acme", "owner_principal": "alice", "visibility": "private",
        "origin_surface": "telegram", "title": "Fix the door", "external_key": "door-1",
        "state": "waiting", "waiting_reason": "input", "superseded_by": None, "state_version": 2,
        "created_by": "alice", "created_at": "", "updated_at": "", "completed_at": None,
        "schema_version": "workitem/v1",
    }  # fmt: skip
    assert answer["latest_execution"]["id"] == run.id
    assert {name: value for name, value in answer.items() if name != "work_item"} == {
        "schema_version": "workitem/v1", "state_version": 2,
        "latest_execution": answer["latest_execution"], "latest_snapshot": None,
        "pending_approval": None, "open_execution_request": None,
    }  # fmt: skip


def test_times_are_utc_with_microseconds(as_: Any, cast: Any) -> None:
    moment = factories.now().replace(microsecond=0)
    item = factories.open_item(at=moment)

    found = as_("alice").get(f"/work-items/{item.id}").json()["work_item"]

    assert found["created_at"] == moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


@pytest.mark.parametrize(
    "wrong",
    ["wi_00000000000000000000000000", "nonsense", "wi_", "we_{}", "WI_{}", "wi_{}x", "{}", "%00"],
)
def test_what_is_no_item_is_not_found(as_: Any, cast: Any, wrong: str) -> None:
    tail = factories.open_item().id.removeprefix("wi_")

    response = as_("root").get(f"/work-items/{wrong.format(tail)}")

    assert response.status_code == 404
    if wrong != "%00":
        refused(response, 404, "work_item_not_found", "work item not found")


def test_the_etag_changes_with_everything_in_the_answer(as_: Any, cast: Any) -> None:
    item, path = factories.open_item(), ""
    path = f"/work-items/{item.id}"
    alice, tags = as_("alice"), []
    for change in (
        lambda: None,
        lambda: factories.run_of(item, phase="Pending"),
        lambda: factories.run_of(item, phase="Running"),
        lambda: factories.moved_item(item, "complete"),
    ):
        change()
        tags.append(alice.get(path)["ETag"])

    assert len(set(tags)) == 4
    assert alice.get(path, headers={"If-None-Match": tags[-1]}).status_code == 304
    assert alice.get(path, headers={"If-None-Match": tags[0]}).status_code == 200


def test_the_etag_is_the_readers_own(as_: Any, cast: Any) -> None:
    item, private = factories.open_item(), factories.open_item(visibility="private")
    factories.moved_item(item, "supersede", superseded_by=private.id)
    path = f"/work-items/{item.id}"

    assert as_("alice").get(path)["ETag"] != as_("bob").get(path)["ETag"]


def test_refuses_any_query_parameter(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    refused(as_("alice").get(f"/work-items/{item.id}?x=1"), 400, "invalid_request")


def test_a_wrong_parameter_of_an_invisible_item_is_not_judged(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    response = as_("mallory").get(f"/work-items/{item.id}?x=1")

    refused(response, 404, "work_item_not_found")
