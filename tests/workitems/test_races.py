"""Real threads on real PostgreSQL: one effect, and everybody else the specified answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests import factories
from tests.workitems.racing import codes, moves, prepared, rounds, statuses
from tests.workitems.world import events_of, rows

pytestmark = pytest.mark.django_db(transaction=True)
RACERS = 16
MANY = pytest.mark.parametrize(
    ("count", "racers"), [(12, RACERS), pytest.param(200, 32, marks=pytest.mark.long)]
)
SOME = pytest.mark.parametrize(("count", "racers"), [(12, RACERS)])
NEW = {"tenant": "acme", "title": "Fix the door"}
RUN = {"engine": "temporal"}


@MANY
def test_one_key_creates_one_item(as_: Any, count: int, racers: int) -> None:
    apis = prepared(as_, *["alice"] * racers)

    def post(api: Any) -> Callable[[int], Any]:
        return lambda number: api.post("/work-items", json=NEW, key=f"k{number}")

    for answers in rounds(count, *map(post, apis)):
        assert statuses(answers) == [200] * (racers - 1) + [201]
        assert len({answer.json()["work_item"]["id"] for answer in answers}) == 1
    for table in ("workitem", "workitemevent", "workitemtitle", "createrequest"):
        assert rows(f"SELECT count(*) FROM workitems_{table}") == [(count,)]


@MANY
def test_one_external_key_opens_one_item(as_: Any, count: int, racers: int) -> None:
    apis = prepared(as_, *["alice", "bob"] * (racers // 2))

    def post(place: int) -> Callable[[int], Any]:
        def send(number: int) -> Any:
            body = NEW | {"external_key": f"x{number}", "title": f"by {place}"}
            return apis[place].post("/work-items", json=body, key=f"k{number}-{place}")

        return send

    for answers in rounds(count, *map(post, range(racers))):
        assert statuses(answers) == [200] * (racers - 1) + [201]
        assert len({answer.json()["work_item"]["id"] for answer in answers}) == 1
    assert rows("SELECT count(*) FROM workitems_workitem") == [(count,)]
    assert rows("SELECT count(*) FROM workitems_createrequest") == [(count * racers,)]


@SOME
def test_one_key_is_one_actors(as_: Any, count: int, racers: int) -> None:
    apis = prepared(as_, *["alice", "bob"] * (racers // 2))

    def post(api: Any) -> Callable[[int], Any]:
        return lambda number: api.post("/work-items", json=NEW, key=f"k{number}")

    for answers in rounds(count, *map(post, apis)):
        assert statuses(answers) == [200] * (racers // 2 - 1) + [201] + [409] * (racers // 2)
        assert codes(answers) == {"idempotency_key_reused"}
    assert rows("SELECT count(*) FROM workitems_workitem") == [(count,)]


@MANY
def test_one_version_is_moved_once(as_: Any, cast: Any, count: int, racers: int) -> None:
    items = [factories.open_item() for _ in range(count)]

    for answers in rounds(count, *moves(as_, items, racers)):
        assert statuses(answers) == [200] + [409] * (racers - 1)
        assert codes(answers) == {"state_version_conflict"}
    assert rows("SELECT DISTINCT state_version, last_event_seq FROM workitems_workitem") == [(2, 2)]


@SOME
def test_one_key_moves_once(as_: Any, cast: Any, count: int, racers: int) -> None:
    items = [factories.open_item() for _ in range(count)]
    ways = moves(as_, items, racers, key="k")[::2]

    for answers in rounds(count, *ways):
        assert statuses(answers) == [200] * (racers // 2)
        assert sorted(a.json()["replayed"] for a in answers) == [False] + [True] * (racers // 2 - 1)
    assert rows("SELECT DISTINCT state_version, last_event_seq FROM workitems_workitem") == [(2, 2)]


# Executions ---------------------------------------------------------------------------------------


@SOME
def test_of_attaches_one_is_open(as_: Any, cast: Any, count: int, racers: int) -> None:
    items = [factories.open_item() for _ in range(count)]
    apis = prepared(as_, *["bob"] * racers)

    def post(place: int) -> Callable[[int], Any]:
        body = RUN | {"engine_ref": f"run-{place}", "phase": "Running"}
        return lambda number: apis[place].post(
            f"/work-items/{items[number].id}/executions", json=body
        )

    for answers in rounds(count, *map(post, range(racers))):
        assert statuses(answers) == [201] + [409] * (racers - 1)
        assert codes(answers) == {"execution_active"}
    assert rows("SELECT count(*) FROM workitems_workitemexecution") == [(count,)]


def test_the_same_run_is_attached_once(as_: Any, cast: Any) -> None:
    items = [factories.open_item() for _ in range(12)]
    apis = prepared(as_, *["bob"] * RACERS)

    def post(place: int) -> Callable[[int], Any]:
        body = RUN | {"engine_ref": "run-1", "phase": ("Pending", "Running")[place % 2]}
        return lambda number: apis[place].post(
            f"/work-items/{items[number].id}/executions", json=body
        )

    for answers in rounds(12, *map(post, range(RACERS))):
        assert statuses(answers) == [200] * (RACERS - 1) + [201]
    assert rows("SELECT DISTINCT phase, attempt FROM workitems_workitemexecution") == [
        ("Running", 1)
    ]


@SOME
def test_of_resume_and_complete_one_wins(as_: Any, cast: Any, count: int, racers: int) -> None:
    items = [factories.waiting_item() for _ in range(count)]
    apis = prepared(as_, *["bob"] * racers)

    def resume(place: int) -> Callable[[int], Any]:
        body = RUN | {"engine_ref": f"run-{place}", "expected_state_version": 2}
        return lambda number: apis[place].post(f"/work-items/{items[number].id}/resume", json=body)

    def complete(place: int) -> Callable[[int], Any]:
        body = {"action": "complete", "expected_state_version": 2}
        return lambda number: apis[place].patch(f"/work-items/{items[number].id}", json=body)

    ways = [(resume, complete)[place % 2](place) for place in range(racers)]
    for answers in rounds(count, *ways):
        won = [answer for answer in answers if answer.status_code < 400]
        assert (len(won), codes(answers)) == (1, {"state_version_conflict"})
    states = dict(rows("SELECT state, count(*) FROM workitems_workitem GROUP BY 1"))
    assert rows("SELECT count(*) FROM workitems_workitemexecution") == [(states.get("active", 0),)]
    for item in items:
        assert events_of(item.id)[2:] in (["resumed"], ["state_changed"])


def test_links_of_one_conversation_leave_one_event(as_: Any, cast: Any) -> None:
    items = [factories.open_item() for _ in range(12)]
    apis = prepared(as_, *["bob"] * RACERS)
    body = {"surface": "telegram", "external_id": "c"}

    def link(api: Any) -> Callable[[int], Any]:
        return lambda number: api.post(f"/work-items/{items[number].id}/surface-refs", json=body)

    for answers in rounds(12, *map(link, apis)):
        assert statuses(answers) == [200] * (RACERS - 1) + [201]
    assert {tuple(events_of(item.id)) for item in items} == {("created", "surface_linked")}


def test_every_intent_has_its_event(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    apis = prepared(as_, *["bob"] * RACERS)

    def say(api: Any) -> Callable[[int], Any]:
        return lambda number: api.post(f"/work-items/{item.id}/intents", json={"text": "x"})

    for answers in rounds(6, *map(say, apis)):
        assert statuses(answers) == [201] * RACERS
    assert events_of(item.id) == ["created"] + ["intent_appended"] * (6 * RACERS)


# A create and what stands in its way --------------------------------------------------------------


@pytest.mark.parametrize("count", [25, pytest.param(200, marks=pytest.mark.long)])
def test_of_a_create_and_a_delete_of_the_organization_one_wins(
    as_: Any, cast: Any, count: int
) -> None:
    for number in range(count):
        factories.make_organization(f"race-{number}", "alice")
    api = as_("alice")

    def create(place: int) -> Callable[[int], Any]:
        return lambda number: api.post(
            "/work-items", json=NEW | {"tenant": f"race-{number}"}, key=f"k{place}"
        )

    def delete(number: int) -> Any:
        return api.delete(f"/organizations/race-{number}")

    for *made, gone in rounds(count, *map(create, range(3)), delete):
        assert gone.status_code in (204, 409)
        won = [answer.status_code for answer in made if answer.status_code == 201]
        if gone.status_code == 204:
            assert won == []
            assert codes(made) == {"tenant_forbidden"}
        else:
            assert won
    orphans = """SELECT count(*) FROM workitems_workitem w
    WHERE NOT EXISTS (SELECT 1 FROM organizations_organization o WHERE o.slug = w.organization)"""
    assert rows(orphans) == [(0,)]


def test_a_create_never_answers_work_that_ended_meanwhile(as_: Any, cast: Any) -> None:
    alice, bob = prepared(as_, "alice", "bob")
    held = [factories.open_item(external_key=f"x{number}") for number in range(25)]

    def create(place: int) -> Callable[[int], Any]:
        return lambda number: bob.post(
            "/work-items", json=NEW | {"external_key": f"x{number}"}, key=f"k{number}-{place}"
        )

    def complete(number: int) -> Any:
        body = {"action": "complete", "expected_state_version": 1}
        return alice.patch(f"/work-items/{held[number].id}", json=body)

    for number, (*made, done) in enumerate(rounds(25, *map(create, range(4)), complete)):
        assert done.status_code == 200
        assert set(statuses(made)) <= {200, 201}
        assert {answer.json()["work_item"]["state"] for answer in made} == {"active"}
        fresh = {a.json()["work_item"]["id"] for a in made} - {held[number].id}
        assert len(fresh) <= 1
