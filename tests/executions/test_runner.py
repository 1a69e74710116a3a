"""The runner protocol: claims, leases, fencing, the inbox."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from executions import operations
from executions.errors import ClaimLost
from executions.kinds import AGENT, WORKFLOW
from executions.models import WorkflowExecution
from executions.operations import sweeping
from stigmer.background import sweeps
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
RUNNER = making.RUNNER
WAITING = {"kinds": ["workflow_execution"]}


def lapse(id: str) -> None:
    """Let the lease of this execution end."""
    WorkflowExecution.objects.filter(id=id).update(
        claimable_at=factories.now() - timedelta(seconds=1)
    )


def other_service(name: str = "service:other", role: str = "member") -> str:
    factories.make_principal(name, "service")
    factories.join("acme", name, role)
    return name


def test_gives_the_oldest_waiting_execution_of_its_organizations(as_: As) -> None:
    making.pending(org="globex", by="mallory")
    first, second = making.pending(), making.pending()

    answers = [as_(RUNNER).post("/runner/claim", WAITING) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 204]
    assert [a.json()["execution"]["metadata"]["id"] for a in answers[:2]] == [first.id, second.id]
    body = answers[0].json()
    assert sorted(body) == ["claim_attempt", "claim_token", "execution", "lease_expires_at"]
    assert body["claim_attempt"] == 1
    assert body["execution"]["status"]["phase"] == "EXECUTION_PENDING"


def test_takes_the_older_of_both_kinds(as_: As) -> None:
    agent, flow = making.pending_agent(), making.pending()
    body = {"kinds": ["workflow_execution", "agent_execution"]}

    got = [
        as_(RUNNER).post("/runner/claim", body).json()["execution"]["metadata"]["id"]
        for _ in range(2)
    ]

    assert got == [agent.id, flow.id]


def test_labels_must_be_contained(as_: As) -> None:
    making.pending(labels={"pool": "a"})
    wanted = making.pending(labels={"pool": "b", "x": "y"})

    answer = as_(RUNNER).post("/runner/claim", {**WAITING, "labels": {"pool": "b"}})

    assert answer.json()["execution"]["metadata"]["id"] == wanted.id
    assert as_(RUNNER).post("/runner/claim", {**WAITING, "labels": {"z": ""}}).status_code == 204


@pytest.mark.parametrize(
    ("who", "status"), [(None, 401), ("alice", 403), ("root", 403), ("surface:telegram", 403)]
)
def test_services_alone_claim(as_: As, who: str | None, status: int) -> None:
    row = making.pending()

    assert as_(who).post("/runner/claim", WAITING).status_code == status
    assert making.read(row.id) == row


def test_a_viewing_service_gets_nothing_and_a_platform_service_everything(as_: As) -> None:
    making.pending()
    viewer = other_service("service:viewer", "viewer")
    factories.make_principal("service:platform", "service", admin=True)

    assert as_(viewer).post("/runner/claim", WAITING).status_code == 204
    assert as_("service:platform").post("/runner/claim", WAITING).status_code == 200


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"kinds": []}, "/kinds"),
        ({"kinds": ["pipeline"]}, "/kinds/0"),
        ({"lease_seconds": 4}, "/lease_seconds"),
        ({"lease_seconds": 901}, "/lease_seconds"),
        ({"wait_seconds": 31}, "/wait_seconds"),
        ({"claim_id": "x" * 129}, "/claim_id"),
    ],
)
def test_bounds_of_a_claim(as_: As, more: dict[str, Any], pointer: str) -> None:
    answer = as_(RUNNER).post("/runner/claim", {**WAITING, **more})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_private_execution_is_run_all_the_same(as_: As) -> None:
    making.private()
    held = making.claim()
    assert held
    assert held.execution.visibility == "visibility_private"

    answer = as_(RUNNER).post(
        f"/workflow-executions/{held.execution.id}/status",
        {"claim_token": held.token, "status": {"phase": "EXECUTION_IN_PROGRESS"}},
    )

    assert answer.status_code == 200


def test_a_claim_id_repeats_its_claim_with_a_fresh_token(cast: Any) -> None:
    making.pending()
    making.pending()
    first = making.claim(claim_id="c1")
    again = making.claim(claim_id="c1")

    assert first
    assert again
    assert again.execution.id == first.execution.id
    assert again.token != first.token
    assert again.execution.claim_attempt == 1
    with pytest.raises(ClaimLost):
        making.report(first, "IN_PROGRESS")
    assert making.report(again, "IN_PROGRESS").execution.phase == "EXECUTION_IN_PROGRESS"


def test_a_claim_id_belongs_to_its_service(cast: Any) -> None:
    making.pending()
    making.pending()
    first = making.claim(claim_id="c1")

    other = making.claim(by=other_service(), claim_id="c1")

    assert first
    assert other
    assert other.execution.id != first.execution.id


def test_a_claim_id_whose_lease_lapsed_claims_anew(cast: Any) -> None:
    making.pending()
    first = making.claim(claim_id="c1")
    assert first
    lapse(first.execution.id)

    again = making.claim(claim_id="c1")

    assert again
    assert again.execution.claim_attempt == 2


def test_a_lapsed_lease_goes_to_another_and_the_stale_token_is_refused_everywhere(
    as_: As,
) -> None:
    held = making.running()
    id = held.execution.id
    lapse(id)
    taken = making.claim(by=other_service())

    assert taken
    assert taken.execution.claim_attempt == 2
    status = as_(RUNNER).post(
        f"/workflow-executions/{id}/status", {"claim_token": held.token, "status": {}}
    )
    beat = as_(RUNNER).post(f"/runner/executions/{id}/heartbeat", {"claim_token": held.token})
    inbox = as_(RUNNER).get(
        f"/runner/executions/{id}/signals", headers={"X-Stigmer-Claim-Token": held.token}
    )
    for answer in (status, beat, inbox):
        assert (answer.status_code, answer.json()["code"]) == (409, "claim_lost")
    assert making.read(id) == taken.execution


def test_a_lapsed_token_is_lost_though_nobody_took_over(as_: As) -> None:
    held = making.running()
    lapse(held.execution.id)

    with pytest.raises(ClaimLost):
        making.report(held, "COMPLETED")
    beat = as_(RUNNER).post(
        f"/runner/executions/{held.execution.id}/heartbeat", {"claim_token": held.token}
    )
    assert beat.json()["code"] == "claim_lost"


def test_the_right_token_of_another_service_is_lost(as_: As) -> None:
    held = making.running()

    answer = as_(other_service()).post(
        f"/workflow-executions/{held.execution.id}/status",
        {"claim_token": held.token, "status": {"phase": "EXECUTION_PENDING"}},
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "claim_lost")


def test_a_missing_token_is_the_callers_fault(as_: As) -> None:
    held = making.running()
    path = f"/runner/executions/{held.execution.id}"

    answers = [
        as_(RUNNER).post(f"/workflow-executions/{held.execution.id}/status", {"status": {}}),
        as_(RUNNER).post(f"{path}/heartbeat", {}),
        as_(RUNNER).get(f"{path}/signals"),
    ]

    assert [answer.status_code for answer in answers] == [400, 400, 400]


def test_a_heartbeat_extends_the_lease(as_: As) -> None:
    held = making.running()

    answer = as_(RUNNER).post(
        f"/runner/executions/{held.execution.id}/heartbeat",
        {"claim_token": held.token, "lease_seconds": 900},
    )

    assert answer.status_code == 200
    after = making.read(held.execution.id).claimable_at
    assert after > held.execution.claimable_at + timedelta(seconds=800)
    assert answer.json() == {"lease_expires_at": after.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}


@pytest.mark.parametrize(
    ("who", "status"), [(None, 401), ("mallory", 404), ("alice", 403), ("vera", 403)]
)
def test_who_may_beat_and_read_the_inbox(as_: As, who: str | None, status: int) -> None:
    held = making.running()
    path = f"/runner/executions/{held.execution.id}"

    assert as_(who).post(f"{path}/heartbeat", {"x": 1}).status_code == status
    assert as_(who).get(f"{path}/signals").status_code == status


def test_a_heartbeat_of_an_ended_execution_is_lost(as_: As) -> None:
    held = making.ended()

    answer = as_(RUNNER).post(
        f"/runner/executions/{held.execution.id}/heartbeat", {"claim_token": held.token}
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "claim_lost")


def test_the_last_token_stays_good_after_the_end_also_after_cancel(as_: As) -> None:
    held = making.running()
    making.command(held, "cancel", "enough")
    lapse(held.execution.id)

    making.report(held, "CANCELLED", cost_micros=3)
    items = as_(RUNNER).get(
        f"/runner/executions/{held.execution.id}/signals",
        headers={"X-Stigmer-Claim-Token": held.token},
    )

    assert making.read(held.execution.id).cost_micros == 3
    assert items.json()["items"] == [
        {"sequence": 1, "kind": "cancel", "channel": None, "envelope": None, "reason": "enough"}
    ]


# The inbox ----------------------------------------------------------------------------------------


def inbox(held: operations.Claimed, after: int = 0, by: str = RUNNER) -> list[int]:
    found = operations.read_inbox(
        id=held.execution.id, claim_token=held.token, after=after,
        by=factories.act(by), now=factories.now(),
    )  # fmt: skip
    return [row.sequence for row in found]


def signal(held: operations.Claimed, name: str = "go") -> None:
    operations.send_signal(
        execution=held.execution.id, signal=name, payload=None, by=factories.act(),
        now=factories.now(),
    )  # fmt: skip


def test_what_is_not_acknowledged_is_read_again_by_the_next_holder_too(cast: Any) -> None:
    held = making.running()
    for name in ("a", "b", "c"):
        signal(held, name)

    assert inbox(held) == [1, 2, 3]
    assert inbox(held) == [1, 2, 3]
    assert inbox(held, after=2) == [3]
    lapse(held.execution.id)
    other = other_service()
    taken = making.claim(by=other)
    assert taken
    assert inbox(taken, by=other) == [3]
    assert inbox(taken, after=3, by=other) == []


# Limits -------------------------------------------------------------------------------------------


def test_the_attempt_limit_fails_a_lost_execution(cast: Any, settings: Any) -> None:
    settings.STIGMER_MAX_CLAIM_ATTEMPTS = 2
    making.pending()
    for attempt in (1, 2):
        held = making.claim()
        assert held
        assert held.execution.claim_attempt == attempt
        lapse(held.execution.id)

    assert making.claim() is None
    sweep = sweeps.find("executions.requeue_lost_claims")
    assert sweep
    done = sweeps.run(sweep, now=factories.now(), rest=0)

    row = making.read(held.execution.id)
    assert done.counts == {"lost workflow executions": 1, "lost agent executions": 0}
    assert (row.phase, row.error) == ("EXECUTION_FAILED", "runner lost")
    assert sweeping.lost_due(WORKFLOW, factories.now()) == 0


def test_recover_gives_all_attempts_back(cast: Any, settings: Any) -> None:
    settings.STIGMER_MAX_CLAIM_ATTEMPTS = 1
    held = making.running()
    signal(held)
    making.command(held, "terminate")

    making.command(held, "recover")

    with pytest.raises(ClaimLost):
        making.report(held, "COMPLETED")
    taken = making.claim()
    assert taken
    assert taken.execution.claim_attempt == 1
    assert taken.execution.phase == "EXECUTION_IN_PROGRESS"
    # The signal is still to be read, the order to terminate is not.
    assert inbox(taken) == [1]


# Races --------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_racing_runners_run_each_execution_once(cast: Any) -> None:
    wanted = {making.pending().id for _ in range(40)}

    def runner() -> list[str]:
        got = []
        while (held := making.claim()) is not None:
            got.append(held.execution.id)
        return got

    results = factories.race(*[runner] * 8)

    taken = [id for got in results for id in got]
    assert sorted(taken) == sorted(wanted)


@pytest.mark.django_db(transaction=True)
def test_a_runner_never_waits_for_a_row_that_another_takes(cast: Any) -> None:
    from django.db import connection, transaction

    first, second = making.pending(), making.pending()

    def hold() -> str:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT 1 FROM executions_workflowexecution WHERE id = %s FOR UPDATE",
                    [first.id],
                )
            taken: list[Any] = factories.race(making.claim)
            return str(taken[0].execution.id)

    assert hold() == second.id


@pytest.mark.django_db(transaction=True)
def test_racing_repeats_of_a_claim_id_share_one_execution(cast: Any) -> None:
    for _ in range(6):
        making.pending()

    results = factories.race(*[lambda: making.claim(claim_id="same")] * 6)

    assert len({made.execution.id for made in results}) == 1
    assert making.claim(AGENT) is None


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_32_runners_over_200_executions_run_each_once(cast: Any) -> None:
    wanted = {making.pending().id for _ in range(200)}

    def runner() -> list[str]:
        got = []
        while (held := making.claim()) is not None:
            got.append(held.execution.id)
            making.report(held, "IN_PROGRESS", *making.events(1, 2))
            making.report(held, "COMPLETED", *making.events(3))
        return got

    results = factories.race(*[runner] * 32)

    taken = [id for got in results for id in got]
    assert sorted(taken) == sorted(wanted)
    assert WorkflowExecution.objects.filter(phase="EXECUTION_COMPLETED").count() == 200
