"""Status updates: the merge rules, one by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from executions.kinds import AGENT, WORKFLOW
from executions.models import WorkflowExecution, WorkflowExecutionEvent
from executions.operations import Claimed
from executions.states import PHASES, Phase
from stigmer.core.errors import InvalidTransition
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
RUNNER = making.RUNNER


def post(as_: As, held: Claimed, body: dict[str, Any], who: str = RUNNER) -> Any:
    body = {"claim_token": held.token, **body}
    return as_(who).post(f"/workflow-executions/{held.execution.id}/status", body)


def sequence(id: str) -> list[int]:
    return list(
        WorkflowExecutionEvent.objects.filter(execution=id)
        .order_by("sequence_number")
        .values_list("sequence_number", flat=True)
    )


def test_tasks_replace_the_whole_list_and_an_empty_one_changes_nothing(cast: Any) -> None:
    held = making.running()
    making.report(held, tasks=[making.task("a"), making.task("b")])
    making.report(held, tasks=[making.task("b", "COMPLETED", note=1)])

    making.report(held, tasks=[])

    assert making.json_of(making.read(held.execution.id).tasks) == [
        {"name": "b", "status": "WORKFLOW_TASK_COMPLETED", "note": 1}
    ]


def test_empty_members_leave_what_is_stored(cast: Any) -> None:
    held = making.running()
    full = {
        "output": {"x": 1}, "error": "e", "started_at": AT, "completed_at": AT,
        "engine_ref": "ref", "cost_micros": 5, "input_tokens": 6, "output_tokens": 7,
    }  # fmt: skip
    making.report(held, **full)
    before = making.read(held.execution.id)

    making.report(held, output={}, cost_micros=0)

    assert making.read(held.execution.id) == before
    assert (before.error, before.engine_ref) == ("e", "ref")
    assert (before.cost_micros, before.input_tokens, before.output_tokens) == (5, 6, 7)
    assert making.json_of(before.output) == {"x": 1}


def test_totals_are_replaced_not_added(cast: Any) -> None:
    held = making.running()
    making.report(held, cost_micros=5)

    made = making.report(held, cost_micros=8)

    assert made.execution.cost_micros == making.read(held.execution.id).cost_micros == 8


def test_only_a_phase_change_moves_updated_at(cast: Any) -> None:
    held = making.running()
    before = making.read(held.execution.id).updated_at

    making.report(held, "IN_PROGRESS", cost_micros=5)
    heartbeat = making.read(held.execution.id).updated_at
    making.report(held, "COMPLETED")

    assert heartbeat == before
    assert making.read(held.execution.id).updated_at > before


@pytest.mark.parametrize("field", ["approvals", "reviews"])
def test_gates_change_only_by_their_switch_and_for_their_child(cast: Any, field: str) -> None:
    held = making.running(AGENT)
    column = {"approvals": "pending_approvals", "reviews": "pending_file_reviews"}[field]

    def stored() -> list[tuple[str, str]]:
        gates = making.json_of(getattr(making.read(held.execution.id), column))
        return [(g["tool_call_id"], g["child_agent_execution_id"]) for g in gates]

    making.report(held, **{field: [making.gate("1", "c1")]}, child="c1")
    making.report(held, **{field: [making.gate("2", "c2"), making.gate("x", "c1")]}, child="c2")
    assert stored() == [("1", "c1"), ("2", "c2")]

    making.report(held, cost_micros=1)
    assert stored() == [("1", "c1"), ("2", "c2")]

    making.report(held, **{field: [making.gate("3", "c1")]}, child="c1")
    assert stored() == [("2", "c2"), ("3", "c1")]

    making.report(held, **{field: []}, child="c2")
    assert stored() == [("3", "c1")]


def test_a_switch_that_is_off_leaves_the_gates(as_: As) -> None:
    held = making.running()
    status = {"pending_approvals": [making.gate("1", "c1")]}

    off = post(as_, held, {"status": status})
    on = post(
        as_,
        held,
        {
            "status": status,
            "update_pending_approvals": True,
            "pending_update_child_agent_execution_id": "c1",
        },
    )

    assert off.json()["execution"]["status"]["pending_approvals"] == []
    assert on.json()["execution"]["status"]["pending_approvals"] == status["pending_approvals"]


@pytest.mark.parametrize("wanted", list(Phase))
@pytest.mark.parametrize("start", list(Phase))
def test_every_pair_of_phases(cast: Any, start: Phase, wanted: Phase) -> None:
    held = making.in_phase(start.short, AGENT)
    moves = PHASES.move(start, wanted.value)
    held_back = start is Phase.PAUSED and wanted is Phase.IN_PROGRESS

    if moves is None and start is not wanted:
        with pytest.raises(InvalidTransition):
            making.report(held, wanted.short, error="never")
        assert making.read(held.execution.id) == held.execution
        return
    after = making.report(held, wanted.short, error="seen").execution

    assert after == making.read(held.execution.id)
    assert after.error == "seen"
    assert after.phase == (start if held_back else wanted)
    assert (after.ended_at is not None) == (after.phase in PHASES.terminal)


def test_a_workflow_never_waits_for_approval_as_a_whole(as_: As) -> None:
    held = making.running()

    answer = post(as_, held, {"status": {"phase": "EXECUTION_WAITING_FOR_APPROVAL"}})

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
    assert making.read(held.execution.id) == held.execution


def test_a_refused_phase_writes_no_event(as_: As) -> None:
    held = making.ended()

    answer = post(
        as_,
        held,
        {
            "status": {"phase": "EXECUTION_FAILED"},
            "events": [{"sequence_number": 1, "event_type": "log"}],
        },
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
    words = "the workflow execution in phase EXECUTION_COMPLETED cannot become EXECUTION_FAILED"
    assert answer.json()["detail"] == words
    assert sequence(held.execution.id) == []


def test_the_database_refuses_to_leave_a_terminal_phase(cast: Any) -> None:
    held = making.ended()

    with pytest.raises(IntegrityError, match="phase"), transaction.atomic():
        WorkflowExecution.objects.filter(id=held.execution.id).update(
            phase=Phase.IN_PROGRESS, ended_at=None
        )


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/status"),
        ({"status": None}, "/status"),
        ({"status": {"phase": "EXECUTION_NAPPING"}}, "/status/phase"),
        ({"status": {"total_cost_micros": -1}}, "/status/total_cost_micros"),
        ({"status": {"tasks": [{"name": "a"}]}}, "/status/tasks/0/status"),
        ({"status": {"tasks": [{"status": "WORKFLOW_TASK_PENDING"}]}}, "/status/tasks/0/name"),
        (
            {"status": {"tasks": [making.task("a", retry_count=-1)]}},
            "/status/tasks/0/retry_count",
        ),
        ({"status": {"pending_approvals": [{}]}}, "/status/pending_approvals/0/tool_call_id"),
        ({"status": {"audit": {}}}, "/status/audit"),
        ({"status": {}, "events": [{"event_type": "log"}]}, "/events/0/sequence_number"),
        (
            {"status": {}, "events": [{"sequence_number": 0, "event_type": "log"}]},
            "/events/0/sequence_number",
        ),
        ({"status": {}, "events": [{"sequence_number": 1}]}, "/events/0/event_type"),
        (
            {"status": {}, "events": [{"sequence_number": 1, "event_type": "log"}] * 1001},
            "/events",
        ),
    ],
)
def test_names_what_is_wrong(as_: As, body: dict[str, Any], pointer: str) -> None:
    held = making.running()

    answer = post(as_, held, body)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert making.read(held.execution.id) == held.execution


def test_status_is_required_and_may_be_empty(as_: As) -> None:
    held = making.running()

    assert post(as_, held, {}).json()["detail"] == "status is required"
    assert post(as_, held, {"status": {}}).status_code == 200


def test_an_agent_has_no_events(as_: As) -> None:
    held = making.running(AGENT)

    answer = as_(RUNNER).post(
        f"/agent-executions/{held.execution.id}/status",
        {"claim_token": held.token, "status": {}, "events": []},
    )

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/events"


@pytest.mark.parametrize(
    ("who", "status"),
    [(None, 401), ("mallory", 404), ("vera", 403), ("alice", 403), ("root", 403)],
)
def test_services_alone_report(as_: As, who: str | None, status: int) -> None:
    held = making.running()

    answer = as_(who).post(f"/workflow-executions/{held.execution.id}/status", {"nonsense": 1})

    assert answer.status_code == status
    assert making.read(held.execution.id) == held.execution


def test_an_offset_is_answered_in_utc(as_: As) -> None:
    held = making.running()

    answer = post(as_, held, {"status": {"started_at": "2026-01-31T10:30:00+01:00"}})

    assert answer.json()["execution"]["status"]["started_at"] == "2026-01-31T09:30:00.000000Z"
    assert making.read(held.execution.id).started_at == AT


# Events -------------------------------------------------------------------------------------------


def test_retried_overlapping_and_late_batches_end_in_the_same_log(cast: Any) -> None:
    held = making.running()

    made = [
        making.report(held, "", *making.events(3, 4)),
        making.report(held, "", *making.events(3, 4)),
        making.report(held, "", *making.events(2, 3, 5)),
        making.report(held, "", *making.events(1, 1)),
    ]

    assert [(one.appended, one.skipped) for one in made] == [(2, 0), (0, 2), (2, 1), (1, 1)]
    assert sequence(held.execution.id) == [1, 2, 3, 4, 5]


def test_the_first_writer_of_a_number_wins(cast: Any) -> None:
    held = making.running()
    making.report(held, "", *making.events(1))

    making.report(held, "", *making.events(1, kind="other"))

    assert WorkflowExecutionEvent.objects.get(execution=held.execution.id).event_type == "log"


def test_a_thousand_events_are_one_statement(cast: Any) -> None:
    held = making.running()

    with CaptureQueriesContext(
        connection,
    ) as few:
        making.report(held, "", *making.events(1), cost_micros=1)
    with CaptureQueriesContext(connection) as many:
        made = making.report(held, "", *making.events(*range(2, 1002)), cost_micros=2)

    assert made.appended == 1000
    assert len(many) == len(few)
    assert len([one for one in many if "workflowexecutionevent" in one["sql"]]) == 1


def test_history_is_append_only(cast: Any) -> None:
    held = making.running()
    making.report(held, "", *making.events(1))
    found = WorkflowExecutionEvent.objects.filter(execution=held.execution.id)

    with pytest.raises(IntegrityError), transaction.atomic():
        found.update(event_type="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        found.delete()


# After the end ------------------------------------------------------------------------------------


def test_the_same_update_succeeds_after_the_end(cast: Any) -> None:
    held = making.running()
    first = making.report(held, "COMPLETED", *making.events(1), completed_at=AT)

    again = making.report(held, "COMPLETED", *making.events(1), completed_at=AT)

    assert (again.appended, again.skipped) == (0, 1)
    assert again.execution == first.execution


# Races --------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_children_lose_no_gate_of_each_other(cast: Any) -> None:
    held = making.running(AGENT)

    def child(name: str) -> None:
        for n in range(200):
            gate = making.gate(f"{name}-{n}", name)
            made = making.report(held, approvals=[gate], child=name).execution
            mine = [g for g in making.json_of(made.pending_approvals) if g == gate]
            assert mine == [gate]

    results = factories.race(lambda: child("c1"), lambda: child("c2"))

    assert results == [None, None]
    gates = making.json_of(making.read(held.execution.id).pending_approvals)
    assert sorted(g["tool_call_id"] for g in gates) == ["c1-199", "c2-199"]


@pytest.mark.django_db(transaction=True)
def test_racing_batches_write_each_event_once(cast: Any) -> None:
    held = making.running()

    results = factories.race(
        *[lambda: making.report(held, "", *making.events(*range(1, 101))).appended] * 6
    )

    assert sorted(results) == [0, 0, 0, 0, 0, 100]
    assert sequence(held.execution.id) == list(range(1, 101))


def test_duration_is_what_the_database_computes(cast: Any) -> None:
    held = making.running()
    after = making.report(
        held, started_at=AT, completed_at=AT + timedelta(seconds=2, microseconds=5)
    ).execution

    assert after.duration_us == making.read(held.execution.id).duration_us == 2_000_005
    assert WorkflowExecution.objects.get(id=held.execution.id).duration_us == 2_000_005
    assert making.read(held.execution.id).kind is WORKFLOW
