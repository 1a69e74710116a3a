"""Summaries: one statement, two zero shapes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions.models import WorkflowExecution
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
PATH = "/workflow-executions/summary"
NOTHING = {
    "total_count": 0, "active_count": 0, "phase_counts": {}, "success_rate": 0.0,
    "schema_version": "stigmer/v1",
}  # fmt: skip


def done(of: Any, phase: str, seconds: int | None = None, cost: int = 0) -> str:
    row = making.pending(of)
    now = factories.now()
    times = {} if seconds is None else {
        "started_at": now, "completed_at": now + timedelta(seconds=seconds),
    }  # fmt: skip
    WorkflowExecution.objects.filter(id=row.id).update(
        phase=f"EXECUTION_{phase}", ended_at=now, cost_micros=cost, input_tokens=2 * cost,
        output_tokens=cost, **times,
    )  # fmt: skip
    return row.id


def get(as_: As, query: str = "", who: str = "bob") -> Any:
    return as_(who).get(f"{PATH}{query}").json()


def test_counts_rates_durations_and_costs(as_: As) -> None:
    deploy, backup = making.workflow("Deploy"), making.workflow("Backup")
    done(deploy, "COMPLETED", 4, 1_500_000)
    done(deploy, "COMPLETED", 8, 500_000)
    done(deploy, "COMPLETED")
    done(deploy, "FAILED", 100)
    done(backup, "FAILED", cost=10)
    done(backup, "CANCELLED")
    making.pending(backup)
    making.pending(org="globex", by="mallory")

    found = get(as_)

    assert found == {
        "total_count": 7,
        "active_count": 1,
        "phase_counts": {
            "EXECUTION_COMPLETED": 3, "EXECUTION_FAILED": 2, "EXECUTION_CANCELLED": 1,
            "EXECUTION_PENDING": 1,
        },
        "success_rate": 0.5,
        "avg_duration_seconds": 6.0,
        "total_cost": {
            "total_cost_micros": 2_000_010, "total_cost_usd": 2.00001,
            "input_tokens": 4_000_020, "output_tokens": 2_000_010,
        },
        "top_failing_workflows": [
            {"workflow_slug": "backup", "failure_count": 1},
            {"workflow_slug": "deploy", "failure_count": 1},
        ],
        "cost_by_workflow": [
            {
                "workflow_slug": "deploy", "total_cost_micros": 2_000_000, "total_cost_usd": 2.0,
                "execution_count": 4,
            },
            {
                "workflow_slug": "backup", "total_cost_micros": 10, "total_cost_usd": 0.00001,
                "execution_count": 3,
            },
        ],
        "schema_version": "stigmer/v1",
    }  # fmt: skip
    narrowed = get(as_, f"?workflow_id={backup.id}")
    assert narrowed["total_count"] == 3
    by_instance = making.read(making.pending(backup).id).instance
    assert get(as_, f"?workflow_id={by_instance}")["total_count"] == 4


def test_the_window_is_on_creation(as_: As, monkeypatch: pytest.MonkeyPatch) -> None:
    for days in (0, 2, 20, 200):
        moment = factories.now() - timedelta(days=days)
        with monkeypatch.context() as patched:
            patched.setattr(factories, "now", lambda moment=moment: moment)
            making.pending(making._first("workflow", "acme") or making.workflow())

    for window, count in [("LAST_24H", 1), ("LAST_7D", 2), ("LAST_30D", 3), ("ALL_TIME", 4)]:
        assert get(as_, f"?time_window={window}")["total_count"] == count
    assert get(as_)["total_count"] == 2
    assert as_("bob").get(f"{PATH}?time_window=LAST_YEAR").status_code == 400


def test_no_row_after_narrowing_is_the_default_shape(as_: As) -> None:
    making.pending(org="globex", by="mallory")
    empty = {**NOTHING, "top_failing_workflows": [], "cost_by_workflow": []}

    assert get(as_) == empty
    assert get(as_, "?org=globex") == empty
    assert get(as_, "", "surface:telegram")["status"] == 403
    factories.make_principal("nobody")
    assert get(as_, "", "nobody") == empty
    assert as_("bob").get("/agent-executions/summary").json() == NOTHING


def test_rows_but_nothing_ended_is_minus_one_with_a_zero_cost(as_: As) -> None:
    making.pending()

    found = get(as_)

    assert found["success_rate"] == -1
    assert found["total_cost"] == {
        "total_cost_micros": 0, "total_cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0,
    }  # fmt: skip
    assert "avg_duration_seconds" not in found


def test_without_a_read_scope_org_is_not_consulted(as_: As, settings: Any) -> None:
    settings.STIGMER_LIST_READ_SCOPE = ""
    settings.STIGMER_AUTHORIZER = "organizations.authorization.PermissiveAuthorizer"

    empty = get(as_)
    making.pending(org="globex", by="mallory")
    found = get(as_, "?org=acme")

    assert (empty["total_count"], empty["success_rate"]) == (0, -1)
    assert empty["total_cost"]["total_cost_micros"] == 0
    assert (found["total_count"], found["success_rate"]) == (1, -1)


def test_the_scope_and_the_requested_organization_both_hold(as_: As) -> None:
    making.pending(org="globex", by="mallory")
    making.pending()

    assert get(as_, "?org=acme", "root")["total_count"] == 1
    assert get(as_, "", "root")["total_count"] == 2
    assert get(as_, "?org=globex")["total_count"] == 0


def test_a_private_execution_counts_for_its_starter_alone(as_: As) -> None:
    making.private(by="bob")

    assert get(as_)["total_count"] == 1
    assert get(as_, "", "alice")["total_count"] == 0


def test_the_agents_have_no_workflow_members(as_: As) -> None:
    making.pending_agent()

    found = as_("bob").get("/agent-executions/summary").json()

    assert found["total_count"] == 1
    assert "top_failing_workflows" not in found
    assert "cost_by_workflow" not in found


def test_it_is_one_statement(as_: As) -> None:
    for _ in range(3):
        making.pending()
    bob = as_("bob")
    bob.get(PATH)

    with CaptureQueriesContext(connection) as queries:
        bob.get(PATH)

    assert len(queries) == 2
