"""POST /work-items/{id}/resume."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import conflict, events_of, invalid, nothing_written, refused, rows

pytestmark = pytest.mark.django_db


def resume(api: Any, item: Any, version: int, ref: str = "run-2", **more: Any) -> Any:
    send = {name: more.pop(name) for name in ("key", "headers") if name in more}
    body = {"expected_state_version": version, "engine": "temporal", "engine_ref": ref} | more
    return api.post(f"/work-items/{item.id}/resume", json=body, **send)


def paused() -> Any:
    """A waiting item whose first run has ended."""
    item = factories.waiting_item()
    factories.run_of(item, "run-1", "Failed")
    return item


def test_starts_the_next_execution_of_a_waiting_item(as_: Any, cast: Any) -> None:
    item = paused()

    response = resume(as_("bob"), item, 2)

    answer = response.json()
    first = rows("SELECT id FROM workitems_workitemexecution WHERE attempt = 1")[0][0]
    execution = answer["execution"]
    assert response.status_code == 201
    assert execution.pop("id").startswith("we_")
    assert execution.pop("started_at") == answer["work_item"]["updated_at"]
    assert execution == {
        "work_item_id": item.id, "engine": "temporal", "engine_ref": "run-2", "attempt": 2,
        "resumed_from_execution_id": first, "phase": "Pending", "ended_at": None,
    }  # fmt: skip
    assert (answer["work_item"]["state"], answer["work_item"]["waiting_reason"]) == ("active", None)
    assert (answer["state_version"], answer["created"]) == (3, True)
    assert set(answer) == {"schema_version", "work_item", "state_version", "execution", "created"}


def test_writes_one_event(as_: Any, cast: Any) -> None:
    item = paused()

    made = resume(as_("bob"), item, 2).json()

    kinds = ["created", "state_changed", "execution_attached", "resumed"]
    assert events_of(item.id) == kinds
    assert rows(
        """SELECT from_state, to_state, actor, detail->>'execution_id'
        FROM workitems_workitemevent WHERE seq = 4"""
    ) == [("waiting", "active", "bob", made["execution"]["id"])]


def test_an_active_item_goes_on(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    factories.run_of(item, "run-1", "Error")

    answer = resume(as_("bob"), item, 1).json()

    assert (answer["execution"]["attempt"], answer["state_version"]) == (2, 2)
    assert events_of(item.id)[-1] == "resumed"
    assert rows("SELECT from_state, to_state FROM workitems_workitemevent WHERE seq = 3") == [
        ("active", "active")
    ]


def test_a_waiting_item_that_never_ran_starts_its_first(as_: Any, cast: Any) -> None:
    item = factories.waiting_item(reason="approval")

    answer = resume(as_("bob"), item, 2).json()

    execution = answer["execution"]
    assert (execution["attempt"], execution["resumed_from_execution_id"]) == (1, None)
    assert answer["work_item"]["state"] == "active"


def test_an_active_item_that_never_ran_has_nothing_to_resume(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    with nothing_written():
        response = resume(as_("bob"), item, 1, key="k")

    refused(response, 400, "invalid_request")


def test_continues_the_named_execution(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()
    first = factories.run_of(item, "run-0", "Failed")
    factories.run_of(item, "run-1", "Failed")

    answer = resume(as_("bob"), item, 2, resumed_from_execution_id=first.id).json()

    execution = answer["execution"]
    assert (execution["attempt"], execution["resumed_from_execution_id"]) == (3, first.id)


def test_refuses_an_execution_of_another_item(as_: Any, cast: Any) -> None:
    item, other = paused(), factories.open_item()
    foreign = factories.run_of(other, "run-9", "Failed").id
    answers = []
    for named in (foreign, "we_00000000000000000000000000", "nonsense"):
        with nothing_written():
            response = resume(as_("bob"), item, 2, resumed_from_execution_id=named, key="k")
        invalid(response, "/resumed_from_execution_id")
        answers.append(response.json()["detail"])

    assert len(set(answers)) == 1


def test_refuses_a_run_that_the_item_has(as_: Any, cast: Any) -> None:
    item = paused()
    with nothing_written():
        response = resume(as_("bob"), item, 2, ref="run-1", key="k")

    invalid(response, "/engine_ref")


def test_another_engine_or_item_may_have_the_same_reference(as_: Any, cast: Any) -> None:
    item, other = paused(), paused()

    assert resume(as_("bob"), item, 2, ref="run-1", engine="argo").status_code == 201
    assert resume(as_("bob"), other, 2, ref="run-2").status_code == 201


@pytest.mark.parametrize("phase", ["Pending", "Running"])
def test_refuses_while_an_execution_is_open(as_: Any, cast: Any, phase: str) -> None:
    item = factories.waiting_item()
    factories.run_of(item, "run-1", phase)
    with nothing_written():
        response = resume(as_("bob"), item, 2, key="k")

    conflict(response, "execution_active", "waiting", 2)


def test_an_open_execution_counts_though_a_later_one_has_ended(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()
    factories.run_of(item, "run-1", "Running")
    factories.run_of(item, "run-late", "Failed")

    conflict(resume(as_("bob"), item, 2), "execution_active", "waiting", 2)


@pytest.mark.parametrize("action", ["complete", "archive", "supersede"])
def test_refuses_a_terminal_item(as_: Any, cast: Any, action: str) -> None:
    item = factories.ended_item(action=action)
    with nothing_written():
        response = resume(as_("bob"), item, 2, key="k")

    conflict(response, "invalid_transition", item.state, 2)


def test_refuses_another_version_before_everything_else(as_: Any, cast: Any) -> None:
    running, ended = factories.running_item(), factories.ended_item()
    with nothing_written():
        conflict(resume(as_("bob"), running, 7), "state_version_conflict", "active", 1)
        conflict(resume(as_("bob"), ended, 1), "state_version_conflict", "completed", 2)


def test_if_match_comes_before_the_version(as_: Any, cast: Any) -> None:
    item = paused()
    tag = as_("bob").get(f"/work-items/{item.id}")["ETag"]
    with nothing_written():
        stale = resume(as_("bob"), item, 9, headers={"If-Match": '"other"'})
        behind = resume(as_("bob"), item, 9, headers={"If-Match": tag})

    refused(stale, 412, "precondition_failed")
    conflict(behind, "state_version_conflict", "waiting", 2)
    assert resume(as_("bob"), item, 2, headers={"If-Match": tag}).status_code == 201


def test_a_replay_returns_the_execution_it_started(as_: Any, cast: Any) -> None:
    item = paused()
    first = resume(as_("bob"), item, 2, key="k").json()
    started = first["execution"]["id"]
    as_("bob").post(
        f"/work-items/{item.id}/executions",
        json={"engine": "temporal", "engine_ref": "run-2", "phase": "Succeeded"},
    )
    resume(as_("bob"), item, 3, ref="run-3")
    with nothing_written():
        again = resume(as_("bob"), item, 2, key="k")

    answer = again.json()
    assert (again.status_code, answer["created"]) == (200, False)
    assert (answer["execution"]["id"], answer["execution"]["phase"]) == (started, "Succeeded")
    assert answer["state_version"] == 4


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"engine": "cron"}, "/engine"),
        ({"engine": None}, "/engine"),
        ({"engine_ref": ""}, "/engine_ref"),
        ({"engine_ref": " "}, "/engine_ref"),
        ({"engine_ref": "x" * 257}, "/engine_ref"),
        ({"engine_ref": "a\nb"}, "/engine_ref"),
        ({"resumed_from_execution_id": None}, "/resumed_from_execution_id"),
        ({"expected_state_version": "2"}, "/expected_state_version"),
        ({"phase": "Running"}, "/phase"),
    ],
)
def test_refuses_a_wrong_field(as_: Any, cast: Any, change: dict[str, Any], pointer: str) -> None:
    item = paused()
    with nothing_written():
        response = resume(as_("bob"), item, **({"version": 2} | change))

    invalid(response, pointer)
