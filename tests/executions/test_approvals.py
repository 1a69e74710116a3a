"""Tasks that wait for a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from executions.models import WorkflowInboxEntry
from executions.operations import Claimed
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
PATH = "/workflow-executions/pending-approvals"


def waiting(name: str = "sign-off", **more: Any) -> Claimed:
    held = making.running()
    making.report(
        held,
        tasks=[making.task("build", "COMPLETED"), making.task(name, "WAITING_APPROVAL", **more)],
    )
    return Claimed(making.read(held.execution.id), held.token)


def decide(as_: As, held: Claimed, decision: str = "approve", **more: Any) -> Any:
    task, who = more.pop("task", "sign-off"), more.pop("who", "bob")
    path = f"/workflow-executions/{held.execution.id}/tasks/{task}/approval"
    return as_(who).post(path, {"decision": decision, **more})


def inbox(held: Claimed) -> list[Any]:
    found = WorkflowInboxEntry.objects.filter(execution=held.execution.id).order_by("sequence")
    return [
        (kind, channel, making.json_of(envelope))
        for kind, channel, envelope in found.values_list("kind", "channel", "envelope")
    ]


def test_a_decision_is_relayed_once(as_: As) -> None:
    held = waiting()

    first = decide(as_, held, comment="fine")
    again = decide(as_, held, who="alice")
    other = decide(as_, held, "reject")

    assert (first.status_code, again.status_code) == (202, 200)
    assert (other.status_code, other.json()["code"]) == (409, "approval_already_decided")
    payload = {"decision": "approve", "comment": "fine", "decided_by": "bob"}
    envelope = {"signalName": "human_input_sign-off", "payload": payload}
    assert inbox(held) == [("approval", "relaySignal", envelope)]


def test_a_task_whose_name_has_slashes_is_decided(as_: As) -> None:
    held = waiting("deploy/eu west/approval")

    answer = decide(as_, held, task="deploy%2Feu%20west%2Fapproval")

    assert answer.status_code == 202
    payload = {"decision": "approve", "comment": None, "decided_by": "bob"}
    envelope = {"signalName": "human_input_deploy/eu west/approval", "payload": payload}
    assert inbox(held) == [("approval", "relaySignal", envelope)]


def test_a_task_that_waits_again_is_decided_again(as_: As) -> None:
    held = waiting()
    decide(as_, held)
    making.report(held, tasks=[making.task("sign-off", "IN_PROGRESS")])
    making.report(held, tasks=[making.task("sign-off", "WAITING_APPROVAL")])

    assert decide(as_, held, "reject").status_code == 202
    assert len(inbox(held)) == 2


def test_a_heartbeat_of_the_runner_forgets_no_decision(as_: As) -> None:
    held = waiting()
    decide(as_, held)
    making.report(held, tasks=[making.task("sign-off", "WAITING_APPROVAL")])

    assert decide(as_, held, "reject").json()["code"] == "approval_already_decided"


@pytest.mark.parametrize(
    ("who", "status"),
    [(None, 401), ("mallory", 404), ("vera", 403), ("service:dispatcher", 403)],
)
def test_members_who_are_people_decide(as_: As, who: str | None, status: int) -> None:
    held = waiting()

    assert decide(as_, held, "nonsense", who=who).status_code == status
    assert inbox(held) == []


def test_what_is_refused(as_: As) -> None:
    held = waiting()

    unknown = decide(as_, held, task="nope")
    done = decide(as_, held, task="build")
    wrong = decide(as_, held, "maybe")

    assert (unknown.status_code, unknown.json()["code"]) == (404, "task_not_found")
    assert (done.status_code, done.json()["code"]) == (409, "failed_precondition")
    assert wrong.status_code == 400
    assert inbox(held) == []


def test_an_ended_execution_is_not_decided(as_: As) -> None:
    held = waiting()
    making.report(held, "FAILED")

    assert decide(as_, held).json()["code"] == "failed_precondition"


def test_without_an_engine(as_: As, settings: Any) -> None:
    held = waiting()
    settings.STIGMER_ENGINE = "none"

    answer = decide(as_, held)

    assert (answer.status_code, answer.json()["code"]) == (503, "engine_unavailable")
    assert answer.json()["detail"] == "workflow creator not configured for task 'sign-off'"


@pytest.mark.django_db(transaction=True)
def test_a_relay_that_failed_is_repeated_by_the_same_decision(
    as_: As, engine: making.FakeEngine
) -> None:
    row = making.pending()
    report = {
        "status": {
            "phase": "EXECUTION_IN_PROGRESS",
            "tasks": [making.task("sign-off", "WAITING_APPROVAL")],
        }
    }
    as_(making.RUNNER).post(f"/workflow-executions/{row.id}/status", report)
    held = Claimed(making.read(row.id), "")
    engine.fails = making.FAILED

    failed = decide(as_, held)
    engine.fails = None
    other = decide(as_, held, "reject")
    again = decide(as_, held)
    done = decide(as_, held)

    assert (failed.status_code, failed.json()["code"]) == (502, "engine_signal_failed")
    assert other.json()["code"] == "approval_already_decided"
    assert (again.status_code, done.status_code) == (202, 200)
    sent = [more for what, _, more in engine.calls if what == "signal"]
    assert len(sent) == 2
    assert sent[0] == sent[1]


@pytest.mark.django_db(transaction=True)
def test_racing_decisions_have_one_effect(as_: As) -> None:
    held = waiting()
    bob, alice = as_("bob"), as_("alice")
    path = f"/workflow-executions/{held.execution.id}/tasks/sign-off/approval"

    answers = factories.race(
        *[lambda: bob.post(path, {"decision": "approve"})] * 6,
        *[lambda: alice.post(path, {"decision": "reject"})] * 6,
    )

    codes = sorted(answer.status_code for answer in answers)
    assert codes == [200] * 5 + [202] + [409] * 6
    assert len(inbox(held)) == 1


@pytest.mark.django_db(transaction=True)
def test_two_people_who_decide_at_once_do_not_both_decide(as_: As) -> None:
    held = waiting()
    clients = {"approve": as_("bob"), "reject": as_("alice")}
    path = f"/workflow-executions/{held.execution.id}/tasks/sign-off/approval"

    answers = making.while_locked(
        held.execution.id,
        lambda: None,
        lambda: clients["approve"].post(path, {"decision": "approve"}),
        lambda: clients["reject"].post(path, {"decision": "reject"}),
    )

    assert sorted(answer.status_code for answer in answers) == [202, 409]
    assert len(inbox(held)) == 1


# What waits ---------------------------------------------------------------------------------------


def test_lists_what_waits_with_names_and_hints(as_: As) -> None:
    held = waiting()
    own = waiting("other", ui_hint={"form": 1})
    making.report(waiting(), "FAILED")

    found = as_("vera").get(PATH).json()

    assert found["total_count"] == 2
    first, second = found["entries"]
    assert first == {
        "execution_id": held.execution.id,
        "workflow_name": "Deploy",
        "task_name": "sign-off",
        "requester": "alice",
        "requested_at": first["requested_at"],
        "ui_hint": "buttons",
    }
    assert second["execution_id"] == own.execution.id
    assert second["ui_hint"] == {"form": 1}


def test_requested_at_is_when_the_task_began_to_wait(as_: As) -> None:
    held = waiting()
    before = as_("bob").get(PATH).json()["entries"][0]["requested_at"]

    making.report(held, tasks=[making.task("sign-off", "WAITING_APPROVAL")], cost_micros=2)

    assert as_("bob").get(PATH).json()["entries"][0]["requested_at"] == before


def test_the_limit_comes_after_the_count(as_: As) -> None:
    for _ in range(3):
        waiting()

    found = as_("bob").get(f"{PATH}?limit=1&org=acme").json()

    assert (len(found["entries"]), found["total_count"]) == (1, 3)
    assert as_("bob").get(f"{PATH}?org=globex").json()["total_count"] == 0
    assert as_("mallory").get(PATH).json()["total_count"] == 0
    for limit in ("0", "101", "x"):
        answer = as_("bob").get(f"{PATH}?limit={limit}")
        assert answer.json()["detail"] == "limit must be an integer from 1 to 100"
