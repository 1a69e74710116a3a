"""sendSignal and its two-phase dedupe."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError

from executions import operations
from executions.errors import FailedPrecondition
from executions.models import SignalClaim, WorkflowInboxEntry
from executions.operations import dedupe
from executions.states import Phase
from stigmer.background import sweeps
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]


def send(as_: As, id: str, body: Any = None, key: str | None = None, who: str = "bob") -> Any:
    body = {"signal_name": "go"} if body is None else body
    return as_(who).post(f"/workflow-executions/{id}/signals", body, key=key)


def inbox(id: str) -> list[Any]:
    found = WorkflowInboxEntry.objects.filter(execution=id).order_by("sequence")
    return [
        (kind, channel, making.json_of(envelope))
        for kind, channel, envelope in found.values_list("kind", "channel", "envelope")
    ]


GO = ("signal", "relaySignal", {"signalName": "go", "payload": None})


def test_puts_the_envelope_into_the_inbox(as_: As) -> None:
    held = making.running()

    answer = send(as_, held.execution.id, {"signal_name": "go", "payload": {"n": [1]}})

    assert answer.status_code == 202
    assert answer.json()["metadata"]["id"] == held.execution.id
    expected = {"signalName": "go", "payload": {"n": [1]}}
    assert inbox(held.execution.id) == [("signal", "relaySignal", expected)]


def test_null_equals_absent_and_without_a_key_two_sends_deliver_twice(as_: As) -> None:
    row = making.pending()

    send(as_, row.id)
    send(as_, row.id, {"signal_name": "go", "payload": None})

    assert inbox(row.id) == [GO, GO]
    assert not SignalClaim.objects.exists()


def test_a_key_may_travel_either_way_and_delivers_once(as_: As) -> None:
    row = making.pending()

    first = send(as_, row.id, key="k")
    again = send(as_, row.id, {"signal_name": "go", "idempotency_key": "k"})
    differ = send(as_, row.id, {"signal_name": "go", "idempotency_key": "k"}, key="other")

    assert first.status_code == 202
    assert (again.status_code, again.json()["code"]) == (409, "already_exists")
    assert again.json()["detail"] == "signal_with_idempotency_key already exists: k"
    assert differ.status_code == 400
    assert inbox(row.id) == [GO]


def test_keys_are_scoped_to_the_organization(as_: As) -> None:
    here, there = making.pending(), making.pending(org="globex", by="mallory")

    assert send(as_, here.id, key="k").status_code == 202
    assert send(as_, there.id, key="k", who="mallory").status_code == 202


@pytest.mark.parametrize(
    ("who", "status"), [(None, 401), ("mallory", 404), ("vera", 403), ("surface:telegram", 403)]
)
def test_who_may_not(as_: As, who: str | None, status: int) -> None:
    row = making.pending()

    answer = as_(who).post(f"/workflow-executions/{row.id}/signals", {"nonsense": 1})

    assert answer.status_code == status
    assert inbox(row.id) == []


def test_an_unknown_execution_comes_before_the_body(as_: As) -> None:
    id = "wfe_01jzq3v8d4e8kb5w2m6n7p9r0t"

    answer = send(as_, id, {"nonsense": 1})

    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        f"workflow_execution not found: {id}",
    )


@pytest.mark.parametrize("body", [{}, {"signal_name": ""}])
def test_a_name_is_required(as_: As, body: dict[str, str]) -> None:
    row = making.in_phase("COMPLETED").execution

    answer = send(as_, row.id, body)

    assert (answer.status_code, answer.json()["detail"]) == (400, "signal_name is required")


@pytest.mark.parametrize("key", ["", "x" * 513])
def test_a_key_has_bounds(as_: As, key: str) -> None:
    row = making.pending()

    assert send(as_, row.id, key=key).status_code == 400
    assert inbox(row.id) == []


@pytest.mark.parametrize("phase", [p for p in Phase if p is not Phase.WAITING_FOR_APPROVAL])
def test_only_pending_and_running_receive_signals(as_: As, phase: Phase) -> None:
    row = making.in_phase(phase.short).execution

    answer = send(as_, row.id, key="k")

    if phase in (Phase.PENDING, Phase.IN_PROGRESS):
        assert answer.status_code == 202
        return
    assert (answer.status_code, answer.json()["code"]) == (409, "failed_precondition")
    assert answer.json()["detail"] == (
        f"cannot send signal to execution in phase {phase}; only PENDING or IN_PROGRESS"
        " executions can receive signals"
    )
    assert inbox(row.id) == []
    assert not SignalClaim.objects.exists()


def test_without_an_engine_the_claim_is_released(as_: As, settings: Any) -> None:
    row = making.pending()
    settings.STIGMER_ENGINE = "none"

    answer = send(as_, row.id, key="k")

    assert (answer.status_code, answer.json()["code"]) == (409, "failed_precondition")
    assert answer.json()["detail"] == "workflow creator is not available"
    assert not SignalClaim.objects.exists()


@pytest.mark.parametrize("push", [False, True])
def test_a_dedupe_store_that_fails_sends_nothing(as_: As, settings: Any, push: bool) -> None:
    if push:
        with making.push_engine(settings) as engine:
            row = making.pending()
            engine.calls.clear()
            with patch.object(dedupe, "claim", side_effect=OperationalError("down")):
                answer = send(as_, row.id, key="k")
            assert engine.calls == []
    else:
        row = making.pending()
        with patch.object(dedupe, "claim", side_effect=OperationalError("down")):
            answer = send(as_, row.id, key="k")
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert inbox(row.id) == []


# A push engine ------------------------------------------------------------------------------------


def test_a_push_engine_gets_signal_with_start_and_a_request_id(
    as_: As, engine: making.FakeEngine
) -> None:
    row = making.pending()

    assert send(as_, row.id, key="k").status_code == 202

    envelope = {"signalName": "go", "payload": None}
    assert engine.calls[1:] == [
        ("signal_with_start", row.id, ("relaySignal", envelope, "acme/k", False))
    ]
    held = SignalClaim.objects.get()
    assert held.status == "DELIVERED"
    assert held.expires_at > factories.now() + timedelta(hours=23)


def test_a_failed_delivery_releases_the_claim(as_: As, engine: making.FakeEngine) -> None:
    row = making.pending()
    engine.fails = making.FAILED

    answer = send(as_, row.id, key="k")
    engine.fails = None
    retried = send(as_, row.id, key="k")

    assert (answer.status_code, answer.json()["code"]) == (502, "engine_signal_failed")
    assert answer.json()["detail"] == "failed to send signal to workflow"
    assert retried.status_code == 202


def test_a_failed_release_leaves_the_refusal_and_heals_by_expiry(
    as_: As, engine: making.FakeEngine
) -> None:
    row = making.pending()
    engine.fails = making.FAILED

    with patch.object(dedupe, "release", side_effect=OperationalError("down")):
        answer = send(as_, row.id, key="k")

    assert answer.json()["code"] == "engine_signal_failed"
    engine.fails = None
    held = send(as_, row.id, key="k")
    assert (held.status_code, held.json()["code"]) == (409, "aborted")
    SignalClaim.objects.update(expires_at=factories.now() - timedelta(seconds=1))
    assert send(as_, row.id, key="k").status_code == 202


def test_a_live_claim_is_aborted_with_a_time_to_wait(as_: As, engine: making.FakeEngine) -> None:
    row = making.pending()
    dedupe.claim(org="acme", key="k", execution=row.id, signal="go", now=factories.now())

    answer = send(as_, row.id, key="k")

    assert (answer.status_code, answer.json()["code"]) == (409, "aborted")
    assert answer.json()["detail"] == (
        'signal with idempotency_key "k" is currently being delivered; retry shortly'
    )
    assert answer["Retry-After"] == "1"


def test_a_failed_mark_does_not_fail_the_request(as_: As, engine: making.FakeEngine) -> None:
    row = making.pending()

    with patch.object(dedupe, "mark_delivered", side_effect=OperationalError("down")):
        answer = send(as_, row.id, key="k")

    assert answer.status_code == 202
    assert SignalClaim.objects.get().status == "CLAIMED"


# The dedupe itself --------------------------------------------------------------------------------


def claim(row: Any, now: Any = None) -> dedupe.Holder:
    return dedupe.claim(
        org="acme", key="k", execution=row.id, signal="go", now=now or factories.now()
    )


def test_a_takeover_and_a_late_mark_in_both_orders(cast: Any) -> None:
    row = making.pending()
    later = factories.now() + timedelta(minutes=6)

    first = claim(row)
    second = claim(row, later)
    assert (first.won, second.won) == (True, True)
    assert not dedupe.mark_delivered(org="acme", key="k", fence=first.fence, now=later)
    assert not dedupe.release(org="acme", key="k", fence=first.fence)
    assert SignalClaim.objects.get().status == "CLAIMED"
    assert dedupe.mark_delivered(org="acme", key="k", fence=second.fence, now=later)

    SignalClaim.objects.all().delete()
    first = claim(row)
    assert dedupe.mark_delivered(org="acme", key="k", fence=first.fence, now=later)
    second = claim(row, later)
    assert not second.won
    assert (second.status, second.fence) == ("DELIVERED", first.fence)


def test_mark_and_release_are_no_ops_beyond_their_claim(cast: Any) -> None:
    row, now = making.pending(), factories.now()
    assert not dedupe.mark_delivered(org="acme", key="k", fence="f", now=now)
    assert not dedupe.release(org="acme", key="k", fence="f")

    held = claim(row)
    dedupe.mark_delivered(org="acme", key="k", fence=held.fence, now=now)

    assert not dedupe.mark_delivered(org="acme", key="k", fence=held.fence, now=now)
    assert not dedupe.release(org="acme", key="k", fence=held.fence)
    assert SignalClaim.objects.count() == 1


def test_the_sweep_takes_expired_claims_alone(cast: Any) -> None:
    row = making.pending()
    claim(row)
    dedupe.claim(
        org="acme", key="old", execution=row.id, signal="go",
        now=factories.now() - timedelta(minutes=6),
    )  # fmt: skip
    sweep = sweeps.find("executions.sweep_signal_claims")
    assert sweep

    done = sweeps.run(sweep, now=factories.now(), rest=0)

    assert done.counts == {"signal claims": 1}
    assert SignalClaim.objects.get().idempotency_key == "k"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("push", [False, True])
def test_racers_with_one_key_deliver_once(as_: As, settings: Any, push: bool) -> None:
    bob = as_("bob")

    def race(row: Any) -> list[Any]:
        path = f"/workflow-executions/{row.id}/signals"
        return factories.race(*[lambda: bob.post(path, {"signal_name": "go"}, key="k")] * 32)

    if push:
        with making.push_engine(settings) as engine:
            row = making.pending()
            answers = race(row)
            assert [call[0] for call in engine.calls] == ["start", "signal_with_start"]
    else:
        row = making.pending()
        answers = race(row)
        assert inbox(row.id) == [GO]
    assert sorted(answer.status_code for answer in answers) == [202] + [409] * 31
    assert {a.json()["code"] for a in answers if a.status_code == 409} <= {
        "already_exists", "aborted",
    }  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_what_ended_while_the_signal_waited_receives_none(cast: Any) -> None:
    held = making.running()
    by = factories.act("bob", key="k")

    (refused,) = making.while_locked(
        held.execution.id,
        lambda: making.report(held, "COMPLETED") and None,
        lambda: operations.send_signal(
            execution=held.execution.id, signal="go", payload=None, by=by, now=factories.now()
        ),
    )

    assert isinstance(refused, FailedPrecondition)
    assert inbox(held.execution.id) == []
    assert not SignalClaim.objects.exists()
