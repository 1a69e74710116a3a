"""PATCH /work-items/{id}."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests import factories
from tests.workitems.world import conflict, events_of, invalid, nothing_written, refused, rows

pytestmark = pytest.mark.django_db
BAD_SUCCESSOR = "superseded_by is not a work item you can see"


def move(api: Any, item: Any, action: str, version: int = 1, **more: Any) -> Any:
    send = {name: more.pop(name) for name in ("key", "headers") if name in more}
    body = {"action": action, "expected_state_version": version} | more
    return api.patch(f"/work-items/{item.id}", json=body, **send)


def test_waits_with_a_reason(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    response = move(as_("bob"), item, "wait", waiting_reason="input")

    answer = response.json()
    assert response.status_code == 200
    assert (answer["state_version"], answer["replayed"]) == (2, False)
    found = answer["work_item"]
    assert (found["state"], found["waiting_reason"]) == ("waiting", "input")
    assert found["completed_at"] is None
    assert found["updated_at"] > found["created_at"]
    assert answer == as_("alice").get(f"/work-items/{item.id}").json() | {"replayed": False}


def test_writes_one_event_with_both_states(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    move(as_("bob"), item, "wait", waiting_reason="approval", headers={"X-Request-Id": "r"})

    assert events_of(item.id) == ["created", "state_changed"]
    assert rows(
        """SELECT from_state, to_state, actor, surface, detail->>'waiting_reason'
        FROM workitems_workitemevent WHERE seq = 2"""
    ) == [("active", "waiting", "bob", "api", "approval")]


@pytest.mark.parametrize("make", [factories.open_item, factories.waiting_item])
@pytest.mark.parametrize(("action", "state"), [("complete", "completed"), ("archive", "archived")])
def test_ends_an_open_item(as_: Any, cast: Any, make: Any, action: str, state: str) -> None:
    item = make()

    answer = move(as_("alice"), item, action, item.state_version).json()

    found = answer["work_item"]
    assert (found["state"], found["waiting_reason"]) == (state, None)
    assert found["completed_at"] == found["updated_at"]
    assert answer["state_version"] == item.state_version + 1


@pytest.mark.parametrize("action", ["complete", "archive", "wait"])
def test_refuses_every_action_on_a_terminal_item(as_: Any, cast: Any, action: str) -> None:
    item = factories.ended_item()
    more = {"waiting_reason": "input"} if action == "wait" else {}
    with nothing_written():
        response = move(as_("alice"), item, action, 2, **more)

    conflict(response, "invalid_transition", "completed", 2)


def test_refuses_to_wait_twice(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()
    with nothing_written():
        response = move(as_("alice"), item, "wait", 2, waiting_reason="input")

    conflict(response, "invalid_transition", "waiting", 2)


# The version --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 3, 2**31 - 1, 2**31, 2**53 - 1])
def test_refuses_another_version(as_: Any, cast: Any, version: int) -> None:
    item = factories.waiting_item()
    with nothing_written():
        response = move(as_("alice"), item, "complete", version, key="k")

    conflict(response, "state_version_conflict", "waiting", 2)


def test_the_version_comes_before_the_transition(as_: Any, cast: Any) -> None:
    item = factories.ended_item()

    conflict(move(as_("bob"), item, "archive", 1), "state_version_conflict", "completed", 2)


def test_the_transition_comes_before_the_successor(as_: Any, cast: Any) -> None:
    item = factories.ended_item()

    response = move(as_("bob"), item, "supersede", 2, superseded_by="wi_nothing")

    conflict(response, "invalid_transition", "completed", 2)


@pytest.mark.parametrize("version", [0, -1, 1.0, 1.5, "1", True, None, 2**53])
def test_refuses_what_is_no_version(as_: Any, cast: Any, version: Any) -> None:
    item = factories.open_item()
    with nothing_written():
        response = move(as_("alice"), item, "complete", version)

    invalid(response, "/expected_state_version")


# If-Match -----------------------------------------------------------------------------------------


def test_if_match_and_the_version_must_both_hold(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    alice = as_("alice")
    tag = alice.get(f"/work-items/{item.id}")["ETag"]
    with nothing_written():
        stale = move(alice, item, "complete", 2, headers={"If-Match": tag})

    conflict(stale, "state_version_conflict", "active", 1)
    assert move(alice, item, "complete", headers={"If-Match": tag}).status_code == 200


@pytest.mark.parametrize("tag", ['"0000"', "garbage", "", 'W/"x"'])
def test_another_if_match_is_refused_before_the_version(as_: Any, cast: Any, tag: str) -> None:
    item = factories.open_item()
    with nothing_written():
        response = move(as_("alice"), item, "complete", 9, headers={"If-Match": tag}, key="k")

    refused(response, 412, "precondition_failed")


def test_if_match_sees_everything_in_the_answer(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    alice = as_("alice")
    before = alice.get(f"/work-items/{item.id}")["ETag"]
    factories.run_of(item)
    after = alice.get(f"/work-items/{item.id}")["ETag"]

    refused(move(alice, item, "complete", headers={"If-Match": before}), 412, "precondition_failed")
    assert move(alice, item, "complete", headers={"If-Match": f'"x", {after}'}).status_code == 200


def test_a_star_matches_any_item(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    assert move(as_("bob"), item, "complete", headers={"If-Match": "*"}).status_code == 200


# What goes with which action ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "more", "pointer"),
    [
        ("resume", {}, "/action"),
        ("request_approval", {}, "/action"),
        ("reopen", {}, "/action"),
        ("", {}, "/action"),
        ("wait", {}, "/waiting_reason"),
        ("wait", {"waiting_reason": ""}, "/waiting_reason"),
        ("wait", {"waiting_reason": "lunch"}, "/waiting_reason"),
        ("complete", {"waiting_reason": "input"}, "/waiting_reason"),
        ("supersede", {"superseded_by": "x", "waiting_reason": "input"}, "/waiting_reason"),
        ("supersede", {}, "/superseded_by"),
        ("supersede", {"superseded_by": ""}, "/superseded_by"),
        ("supersede", {"superseded_by": None}, "/superseded_by"),
        ("archive", {"superseded_by": "wi_x"}, "/superseded_by"),
        ("complete", {"title": "New"}, "/title"),
    ],
)
def test_refuses_what_does_not_go_together(
    as_: Any, cast: Any, action: str, more: dict[str, Any], pointer: str
) -> None:
    item = factories.open_item()
    with nothing_written():
        response = move(as_("alice"), item, action, **more)

    invalid(response, pointer)


def test_refuses_a_body_that_names_who_acts(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    refused(move(as_("bob"), item, "complete", 0, actor="bob"), 400, "actor_not_accepted")


def test_a_viewer_is_refused_before_the_body(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    refused(as_("vera").patch(f"/work-items/{item.id}", body=b"{"), 403, "permission_denied")


def test_a_stranger_learns_nothing_of_the_body(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    refused(
        as_("mallory").patch(f"/work-items/{item.id}", body=b"{"),
        404, "work_item_not_found", "work item not found",
    )  # fmt: skip


# Superseding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [factories.open_item, factories.ended_item])
def test_is_superseded_by_an_item_in_any_state(as_: Any, cast: Any, make: Any) -> None:
    item, successor = factories.open_item(), make("Better")

    answer = move(as_("bob"), item, "supersede", superseded_by=successor.id).json()

    found = answer["work_item"]
    assert (found["state"], found["superseded_by"]) == ("superseded", successor.id)
    assert found["completed_at"] is not None


def test_no_event_names_the_successor(as_: Any, cast: Any) -> None:
    item, successor = factories.open_item(), factories.open_item("Better")

    move(as_("alice"), item, "supersede", superseded_by=successor.id)

    assert rows(
        "SELECT detail::text FROM workitems_workitemevent WHERE work_item = %s AND seq = 2", item.id
    ) == [("{}",)]
    assert successor.id not in as_("bob").get(f"/work-items/{item.id}/events").content.decode()


def test_every_bad_successor_is_refused_alike(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    bad = [
        item.id,
        "wi_00000000000000000000000000",
        "nonsense",
        factories.open_item(owner="mallory", tenant="globex").id,
        factories.open_item(owner="alice", visibility="private").id,
    ]
    answers = []
    for successor in bad:
        with nothing_written():
            response = move(as_("bob"), item, "supersede", superseded_by=successor, key="k")
        invalid(response, "/superseded_by", BAD_SUCCESSOR)
        body = response.json()
        del body["request_id"]
        answers.append(body)

    assert all(answer == answers[0] for answer in answers)


def test_an_admin_sees_every_item_and_still_stays_in_the_organization(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    foreign = factories.open_item(owner="mallory", tenant="globex")
    private = factories.open_item(visibility="private")

    invalid(
        move(as_("root"), item, "supersede", superseded_by=foreign.id),
        "/superseded_by", BAD_SUCCESSOR,
    )  # fmt: skip
    assert move(as_("root"), item, "supersede", superseded_by=private.id).status_code == 200


def test_the_successor_reads_null_for_whoever_cannot_see_it(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    private = factories.open_item(visibility="private")

    own = move(as_("alice"), item, "supersede", superseded_by=private.id).json()

    seen = {
        name: as_(name).get(f"/work-items/{item.id}").json()["work_item"]["superseded_by"]
        for name in ("alice", "root", "bob", "vera")
    }
    assert own["work_item"]["superseded_by"] == private.id
    assert seen == {"alice": private.id, "root": private.id, "bob": None, "vera": None}
    listed = as_("bob").get("/work-items?state=superseded").json()["items"]
    assert [row["superseded_by"] for row in listed] == [None]


# Time ---------------------------------------------------------------------------------------------


def test_a_clock_that_went_back_never_moves_updated_at_back(cast: Any) -> None:
    item = factories.open_item()

    moved = factories.moved_item(item, "complete", at=item.updated_at - timedelta(hours=1))

    assert moved.updated_at == moved.completed_at == item.updated_at
