"""Lifecycle commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from executions.engines import WorkflowNotFoundError
from executions.errors import FailedPrecondition
from executions.kinds import AGENT
from executions.models import WorkflowInboxEntry
from executions.states import COMMANDS, Command, Phase
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
WORDS = {
    "cancel": "only PENDING or IN_PROGRESS can be cancelled",
    "terminate": ("only PENDING, IN_PROGRESS, PAUSED or WAITING_FOR_APPROVAL can be terminated"),
    "pause": "only IN_PROGRESS can be paused",
    "resume": "only PAUSED can be resumed",
    "recover": "only FAILED, CANCELLED or TERMINATED can be recovered",
}


def post(as_: As, held: Any, name: str, body: Any = None, who: str | None = "bob") -> Any:
    row = held.execution
    return as_(who).post(f"/{row.kind.noun.replace('_', '-')}s/{row.id}/{name}", body or {})


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("name", list(Command))
def test_every_command_in_every_phase(as_: As, name: Command, phase: Phase) -> None:
    held = making.in_phase(phase.short, AGENT)
    move = COMMANDS[name]

    answer = post(as_, held, name.value)

    after = making.read(held.execution.id)
    if phase == move.target:
        assert answer.status_code == 200
        assert after == held.execution
    elif phase in move.sources:
        assert answer.status_code == 200
        assert answer.json()["status"]["phase"] == after.phase == move.target
    else:
        assert (answer.status_code, answer.json()["code"]) == (409, "failed_precondition")
        assert answer.json()["detail"] == (
            f"cannot {name} execution in phase {phase}; {WORDS[name.value]}"
        )
        assert after == held.execution


def test_an_end_by_command_sets_its_time_and_clears_what_waits(cast: Any) -> None:
    for name, error in (("cancel", ""), ("terminate", "Terminated: too slow")):
        held = making.running(AGENT)
        making.report(held, approvals=[making.gate("1", "c")], child="c")

        after = making.command(held, name, "too slow")

        assert after == making.read(held.execution.id)
        assert after.completed_at is not None
        assert after.error == error
        assert making.json_of(after.pending_approvals) == []


def test_terminate_without_a_reason_says_who(cast: Any) -> None:
    assert making.command(making.running(), "terminate").error == "Terminated by user"


def test_an_end_by_command_cancels_live_children(cast: Any) -> None:
    child, done = making.running(AGENT), making.in_phase("COMPLETED", AGENT)
    foreign = making.pending_agent(org="globex", by="mallory")
    held = making.running()
    gates = [
        making.gate("1", id) for id in (child.execution.id, done.execution.id, foreign.id, "c")
    ]
    making.report(held, approvals=gates)

    making.command(held, "cancel", "no more")

    assert making.read(child.execution.id).phase == "EXECUTION_CANCELLED"
    assert making.read(done.execution.id).phase == "EXECUTION_COMPLETED"
    assert making.read(foreign.id).phase == "EXECUTION_PENDING"


def test_recover_clears_the_end(cast: Any) -> None:
    held = making.running()
    making.command(held, "terminate")

    after = making.command(held, "recover")

    assert after == making.read(held.execution.id)
    assert (after.phase, after.error) == ("EXECUTION_IN_PROGRESS", "")
    assert (after.completed_at, after.ended_at, after.claimed_by) == (None, None, None)


def test_the_runner_is_told(cast: Any) -> None:
    held = making.running()
    for name in ("pause", "resume", "resume", "cancel", "cancel"):
        making.command(held, name, name)

    found = WorkflowInboxEntry.objects.filter(execution=held.execution.id).order_by("sequence")
    assert list(found.values_list("sequence", "kind", "reason")) == [
        (1, "pause", "pause"), (2, "resume", "resume"), (3, "cancel", "cancel"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("who", "status"), [(None, 401), ("mallory", 404), ("vera", 403), ("surface:telegram", 403)]
)
def test_who_may_not(as_: As, who: str | None, status: int) -> None:
    held = making.running()

    assert post(as_, held, "cancel", {"nonsense": 1}, who).status_code == status
    assert making.read(held.execution.id) == held.execution


def test_an_unknown_execution_is_named(as_: As) -> None:
    for id in ("wfe_01jzq3v8d4e8kb5w2m6n7p9r0t", "nonsense"):
        answer = as_("bob").post(f"/workflow-executions/{id}/cancel", {})
        assert answer.status_code == 404
        assert answer.json()["detail"] == f"workflow_execution not found: {id}"


def test_a_reason_with_a_secret_is_refused(as_: As) -> None:
    held = making.running()

    answer = post(as_, held, "cancel", {"reason": "AKIA" + "Q" * 16})

    assert (answer.status_code, answer.json()["code"]) == (400, "secret_in_text")
    assert making.read(held.execution.id) == held.execution


@pytest.mark.parametrize("name", ["cancel", "terminate", "pause"])
def test_without_an_engine_nothing_changes(as_: As, settings: Any, name: str) -> None:
    held = making.running()
    settings.STIGMER_ENGINE = "none"

    answer = post(as_, held, name)

    assert (answer.status_code, answer.json()["code"]) == (409, "failed_precondition")
    assert answer.json()["detail"] == "engine is not available"
    assert making.read(held.execution.id) == held.execution


# A push engine is told first ----------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_push_engine_is_told_before_the_row_changes(cast: Any, engine: making.FakeEngine) -> None:
    row = making.pending()
    seen: list[str] = []
    engine.during = lambda: seen.append(making.read(row.id).phase)

    for name in ("cancel", "recover", "pause", "resume", "terminate"):
        making.command(row, name, "why")

    assert [(what, more) for what, _, more in engine.calls][1:] != []
    assert [call[0] for call in engine.calls] == [
        "start", "cancel", "start", "signal", "signal", "terminate",
    ]  # fmt: skip
    assert engine.calls[2][2] is True
    assert engine.calls[5][2] == "why"
    assert [phase.removeprefix("EXECUTION_") for phase in seen] == [
        "PENDING", "CANCELLED", "IN_PROGRESS", "PAUSED", "IN_PROGRESS",
    ]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_a_failing_engine_changes_nothing(as_: As, engine: making.FakeEngine) -> None:
    row = making.pending()
    engine.fails = making.FAILED

    answer = as_("bob").post(f"/workflow-executions/{row.id}/cancel", {})

    assert (answer.status_code, answer.json()["code"]) == (502, "engine_command_failed")
    assert making.read(row.id) == row


@pytest.mark.django_db(transaction=True)
def test_a_run_the_engine_does_not_know_is_cancelled_here(
    cast: Any, engine: making.FakeEngine
) -> None:
    row = making.pending()
    engine.fails = WorkflowNotFoundError("workflow not found")

    assert making.command(row, "cancel").phase == "EXECUTION_CANCELLED"


@pytest.mark.django_db(transaction=True)
def test_what_ended_while_the_engine_was_asked_wins(cast: Any, engine: making.FakeEngine) -> None:
    row = making.pending()

    def end() -> None:
        engine.during = lambda: None
        making.command(row, "terminate", "first")

    engine.during = end

    with pytest.raises(FailedPrecondition, match="cannot cancel execution in phase"):
        making.command(row, "cancel")
    assert making.read(row.id).error == "Terminated: first"


@pytest.mark.django_db(transaction=True)
def test_racing_commands_have_one_effect(cast: Any) -> None:
    held = making.running()

    results = factories.race(*[lambda: making.command(held, "cancel")] * 8)

    assert {row.phase for row in results} == {"EXECUTION_CANCELLED"}
    assert WorkflowInboxEntry.objects.filter(execution=held.execution.id).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_recover_and_a_delete_of_the_organization_have_one_winner(cast: Any) -> None:
    from organizations.operations import organizations

    for _ in range(5):
        factories.make_organization("tmp", "alice")
        row = making.pending(org="tmp")
        making.command(row, "cancel")

        def delete() -> str:
            organizations.delete_organization(slug="tmp", by=factories.act(), now=factories.now())
            return "deleted"

        results = factories.race(lambda row=row: making.command(row, "recover"), delete)  # type: ignore[misc]

        deleted = results[1] == "deleted"
        recovered = not isinstance(results[0], Exception)
        assert deleted != recovered, results
        if deleted:
            return
        making.command(row, "cancel")
        delete()
        return
