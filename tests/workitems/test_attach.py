"""POST and GET /work-items/{id}/executions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests import factories
from tests.workitems.world import conflict, events_of, invalid, nothing_written, rows
from workitems import operations
from workitems.states import Engine, Phase

pytestmark = pytest.mark.django_db
PHASES = ["Pending", "Running", "Succeeded", "Failed", "Error"]
ENDED = PHASES[2:]


def attach(api: Any, item: Any, ref: str = "run-1", **more: Any) -> Any:
    send = {name: more.pop(name) for name in ("key", "headers") if name in more}
    body = {"engine": "temporal", "engine_ref": ref} | more
    return api.post(f"/work-items/{item.id}/executions", json=body, **send)


def test_a_new_one_is_pending_by_default(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    response = attach(as_("bob"), item)

    answer = response.json()
    execution = answer.pop("execution")
    assert response.status_code == 201
    assert answer == {"schema_version": "workitem/v1", "created": True}
    assert execution.pop("id").startswith("we_")
    assert execution.pop("started_at").endswith("Z")
    assert execution == {
        "work_item_id": item.id, "engine": "temporal", "engine_ref": "run-1", "attempt": 1,
        "resumed_from_execution_id": None, "phase": "Pending", "ended_at": None,
    }  # fmt: skip


def test_changes_neither_state_nor_version_nor_updated_at(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()

    made = attach(as_("bob"), item).json()["execution"]

    found = as_("bob").get(f"/work-items/{item.id}").json()
    assert (found["state_version"], found["work_item"]["state"]) == (2, "waiting")
    assert rows("SELECT updated_at FROM workitems_workitem") == [(item.updated_at,)]
    assert events_of(item.id) == ["created", "state_changed", "execution_attached"]
    assert rows(
        "SELECT detail->>'execution_id', from_state FROM workitems_workitemevent WHERE seq = 3"
    ) == [(made["id"], None)]


@pytest.mark.parametrize("phase", ENDED)
def test_a_new_one_may_arrive_ended(as_: Any, cast: Any, phase: str) -> None:
    item = factories.running_item()

    made = attach(as_("bob"), item, "run-2", phase=phase).json()["execution"]

    assert (made["attempt"], made["phase"]) == (2, phase)
    assert made["ended_at"] == made["started_at"]


@pytest.mark.parametrize("phase", PHASES[:2])
def test_refuses_a_second_open_one(as_: Any, cast: Any, phase: str) -> None:
    item = factories.running_item()
    with nothing_written():
        response = attach(as_("bob"), item, "run-2", phase=phase, key="k")

    conflict(response, "execution_active", "active", 1)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("action", ["complete", "archive", "supersede"])
def test_refuses_a_new_one_on_a_terminal_item(as_: Any, cast: Any, phase: str, action: str) -> None:
    item = factories.ended_item(action=action)
    with nothing_written():
        response = attach(as_("bob"), item, phase=phase, key="k")

    conflict(response, "invalid_transition", item.state, 2)


@pytest.mark.parametrize("known", PHASES)
@pytest.mark.parametrize("reported", PHASES)
def test_a_known_one_only_moves_on(as_: Any, cast: Any, known: str, reported: str) -> None:
    item = factories.open_item()
    before = factories.run_of(item, "run-1", known)

    response = attach(as_("bob"), item, phase=reported, key="k")

    if known in ENDED and reported in ENDED and known != reported:
        conflict(response, "invalid_transition", "active", 1)
        expected = known
    else:
        later = known not in ENDED and PHASES.index(reported) > PHASES.index(known)
        expected = reported if later else known
        answer = response.json()
        assert (response.status_code, answer["created"]) == (200, False)
        assert (answer["execution"]["id"], answer["execution"]["phase"]) == (before.id, expected)
    assert rows("SELECT phase, ended_at IS NOT NULL FROM workitems_workitemexecution") == [
        (expected, expected in ENDED)
    ]
    assert events_of(item.id) == ["created", "execution_attached"]


@pytest.mark.parametrize("phase", ["Running", *ENDED])
def test_a_run_may_end_after_its_item(as_: Any, cast: Any, phase: str) -> None:
    item = factories.running_item()
    factories.moved_item(item, "complete")

    response = attach(as_("bob"), item, phase=phase)

    assert (response.status_code, response.json()["execution"]["phase"]) == (200, phase)
    assert events_of(item.id)[-1] == "state_changed"


def test_a_report_without_a_phase_changes_nothing(as_: Any, cast: Any) -> None:
    item = factories.running_item()
    with nothing_written():
        response = attach(as_("bob"), item)

    assert (response.status_code, response.json()["execution"]["phase"]) == (200, "Running")


def test_an_end_is_never_before_the_start(cast: Any) -> None:
    item = factories.open_item()
    run = factories.run_of(item)

    ended = operations.attach_execution(
        item=item.id, run=operations.Run(Engine.TEMPORAL, "run-1"), phase=Phase.FAILED,
        by=factories.act(), now=run.started_at - timedelta(hours=1), facts={},
    ).execution  # fmt: skip

    assert ended.ended_at == run.started_at


def test_a_replay_answers_the_execution_as_it_is_now(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    first = attach(as_("bob"), item, key="k").json()["execution"]
    attach(as_("bob"), item, phase="Error")
    factories.moved_item(item, "archive")
    with nothing_written():
        again = attach(as_("bob"), item, key="k")

    assert (again.status_code, again.json()["created"]) == (200, False)
    assert again.json()["execution"] == first | {
        "phase": "Error", "ended_at": again.json()["execution"]["ended_at"],
    }  # fmt: skip


def test_a_report_with_a_key_is_replayed_too(as_: Any, cast: Any) -> None:
    item = factories.running_item()
    first = attach(as_("bob"), item, phase="Failed", key="k")
    with nothing_written():
        again = attach(as_("bob"), item, phase="Failed", key="k")

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()
    assert rows("SELECT count(*) FROM workitems_itemrequest") == [(1,)]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"engine": "cron"}, "/engine"),
        ({"engine": ""}, "/engine"),
        ({"engine_ref": "é" * 129}, "/engine_ref"),
        ({"engine_ref": None}, "/engine_ref"),
        ({"phase": "running"}, "/phase"),
        ({"phase": None}, "/phase"),
        ({"attempt": 1}, "/attempt"),
    ],
)
def test_refuses_a_wrong_field(as_: Any, cast: Any, change: dict[str, Any], pointer: str) -> None:
    item = factories.open_item()
    with nothing_written():
        response = attach(as_("bob"), item, **({"ref": "r"} | change))

    invalid(response, pointer)


def test_lists_every_execution_by_attempt(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    for ref, phase in (("c", "Failed"), ("a", "Error"), ("b", "Running")):
        factories.run_of(item, ref, phase)

    answer = as_("vera").get(f"/work-items/{item.id}/executions").json()

    assert set(answer) == {"schema_version", "executions"}
    found = [(run["attempt"], run["engine_ref"]) for run in answer["executions"]]
    assert found == [(1, "c"), (2, "a"), (3, "b")]


def test_the_latest_execution_is_the_highest_attempt(as_: Any, cast: Any) -> None:
    item = factories.running_item()
    factories.run_of(item, "run-2", "Failed")

    latest = as_("vera").get(f"/work-items/{item.id}").json()["latest_execution"]

    assert (latest["attempt"], latest["engine_ref"]) == (2, "run-2")
