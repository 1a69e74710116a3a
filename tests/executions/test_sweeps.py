"""Sweeps, the gate of a delete, and what resources ask."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from executions.models import (
    AgentExecution,
    ExecutionRequest,
    SignalClaim,
    WorkflowExecution,
    WorkflowExecutionEvent,
    WorkflowInboxEntry,
)
from executions.operations import Claimed, dedupe, sweeping
from executions.queries import rows
from organizations.errors import OrganizationNotEmpty
from organizations.operations import organizations
from resources.errors import InUse
from resources.operations import documents
from stigmer.background import sweeps
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]


def run(name: str) -> dict[str, int]:
    sweep = sweeps.find(name)
    assert sweep
    before = sweeps.preview(sweep, now=factories.now())
    counts = sweeps.run(sweep, now=factories.now(), rest=0).counts
    assert counts == before
    return dict(counts)


def age(held: Claimed, days: int) -> str:
    """Let an ended execution have ended so long ago."""
    model = WorkflowExecution if held.execution.kind.prefix == "wfe" else AgentExecution
    model.objects.filter(id=held.execution.id).update(
        ended_at=factories.now() - timedelta(days=days)
    )
    return held.execution.id


def logged(phase: str = "COMPLETED") -> Claimed:
    held = making.running()
    making.report(held, "", *making.events(1, 2, 3))
    if phase:
        making.report(held, phase)
    return held


def left() -> set[str]:
    found = WorkflowExecutionEvent.objects.values_list("execution", flat=True)
    return set(found)


def test_old_logs_go_and_their_executions_stay(cast: Any) -> None:
    old, young, live = logged(), logged("FAILED"), logged("")
    age(old, 91)
    age(young, 89)

    assert run("executions.sweep_events") == {"events": 3}

    assert left() == {young.execution.id, live.execution.id}
    assert making.read(old.execution.id).has_events is False
    assert run("executions.sweep_events") == {"events": 0}


def test_a_log_larger_than_a_batch_goes_in_batches(
    cast: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "BATCH", 2)
    age(logged(), 91)

    assert run("executions.sweep_events") == {"events": 3}


def test_an_update_after_the_sweep_is_swept_again(cast: Any) -> None:
    old = logged()
    age(old, 91)
    run("executions.sweep_events")
    making.report(old, "COMPLETED", *making.events(4))

    assert run("executions.sweep_events") == {"events": 1}


def test_old_executions_go_with_all_they_own(as_: As) -> None:
    held = making.running()
    path = f"/workflow-executions/{held.execution.id}"
    as_("bob").post(f"{path}/signals", {"signal_name": "go"}, key="k")
    making.report(held, "COMPLETED", *making.events(1))
    age(held, 366)
    agent = age(making.in_phase("FAILED", making.AGENT), 366)
    young = age(making.ended(), 364)
    live = making.running().execution.id

    counts = run("executions.sweep_executions")

    assert counts == {"workflow executions": 1, "agent executions": 1}
    assert set(WorkflowExecution.objects.values_list("id", flat=True)) == {young, live}
    assert not AgentExecution.objects.filter(id=agent).exists()
    for model in (WorkflowExecutionEvent, WorkflowInboxEntry, SignalClaim):
        assert not model.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_sweep_passes_over_what_a_request_has_locked(cast: Any) -> None:
    locked, free = age(making.ended(), 366), age(making.ended(), 366)

    with transaction.atomic():
        rows.lock(making.WORKFLOW, locked)
        taken = factories.race(lambda: sweeping.delete_old(making.WORKFLOW, factories.now(), 10))

    assert taken == [1]
    assert list(WorkflowExecution.objects.values_list("id", flat=True)) == [locked]
    assert free != locked


# Organizations ------------------------------------------------------------------------------------


def delete(slug: str = "acme") -> None:
    organizations.delete_organization(slug=slug, by=factories.act(), now=factories.now())


@pytest.mark.parametrize("make", [making.pending, making.pending_agent])
def test_an_organization_with_live_executions_is_not_deleted(cast: Any, make: Any) -> None:
    row = make()
    dedupe.claim(
        org="acme", key="k", execution=making.pending().id, signal="go", now=factories.now()
    )

    with pytest.raises(OrganizationNotEmpty) as refused:
        delete()

    assert refused.value.facts == {"work_items": 0, "executions": 2}
    assert making.read(row.id) == row
    assert SignalClaim.objects.count() == 1


def test_a_delete_takes_the_signal_claims_and_a_purge_the_rest(as_: As) -> None:
    held = making.running()
    path = f"/workflow-executions/{held.execution.id}"
    as_("bob").post(f"{path}/signals", {"signal_name": "go"}, key="k")
    making.report(held, "COMPLETED", *making.events(1))
    other = making.pending(org="globex", by="mallory").id

    delete()

    assert not SignalClaim.objects.exists()
    assert WorkflowExecution.objects.count() == 2
    counts = run("organizations.purge_deleted")
    assert counts["workflow executions"] == 1
    assert list(WorkflowExecution.objects.values_list("id", flat=True)) == [other]
    assert not ExecutionRequest.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["workflow", "agent"])
def test_of_a_create_and_a_delete_that_race_one_wins(as_: As, kind: str) -> None:
    make = making.workflow if kind == "workflow" else making.agent
    for n in range(12):
        slug = factories.make_organization(f"tmp-{n}", "alice")
        of = make(f"W{n}", org=slug)
        alice, path = as_("alice"), f"/{kind}-executions"
        body = {"metadata": {"org": slug}, "spec": {f"{kind}_id": of.id}}

        created, deleted = factories.race(
            lambda alice=alice, path=path, body=body: alice.post(path, body),  # type: ignore[misc]
            lambda alice=alice, slug=slug: alice.delete(f"/organizations/{slug}"),  # type: ignore[misc]
        )

        outcome = (created.status_code, deleted.status_code)
        assert outcome in {(201, 409), (404, 204)}, outcome


# Resources ----------------------------------------------------------------------------------------


def test_what_live_executions_run_cannot_be_deleted(cast: Any) -> None:
    of = making.workflow()
    one = making.instance(of)
    row = making.pending(of)
    agent = making.agent()
    making.pending_agent()

    for kind, id in (("workflow", of.id), ("agent", agent.id)):
        with pytest.raises(InUse):
            documents.delete(kind=kind, id=id, by=factories.act(), now=factories.now())
    documents.delete(kind="workflow_instance", id=one.id, by=factories.act(), now=factories.now())
    making.command(row, "cancel")
    documents.delete(kind="workflow", id=of.id, by=factories.act(), now=factories.now())


def test_a_live_execution_of_the_default_instance_counts_once(as_: As) -> None:
    of = making.workflow()
    making.pending(of)
    making.pending(of)

    answer = as_("alice").delete(f"/resources/workflow/{of.id}")

    assert (answer.status_code, answer.json()["code"]) == (409, "in_use")
    assert answer.json()["details"] == {"count": 2}
    assert as_("alice").get(f"/resources/workflow/{of.id}").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_a_create_and_the_delete_of_its_workflow_one_wins(as_: As) -> None:
    for n in range(8):
        of = making.workflow(f"W{n}")
        alice = as_("alice")
        body = {"metadata": {"org": "acme"}, "spec": {"workflow_id": of.id}}

        created, deleted = factories.race(
            lambda alice=alice, body=body: alice.post("/workflow-executions", body),  # type: ignore[misc]
            lambda alice=alice, of=of: alice.delete(f"/resources/workflow/{of.id}"),  # type: ignore[misc]
        )

        outcome = (created.status_code, deleted.status_code)
        assert outcome in {(201, 409), (404, 200)}, outcome
