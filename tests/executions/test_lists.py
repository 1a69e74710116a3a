"""Lists: every filter, every sort, walks that skip and repeat nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions.models import WorkflowExecution
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
PATH = "/workflow-executions"
SORTS = ["started_at", "created_at", "duration", "cost", "status"]
BOTH = [*SORTS, *(f"-{sort}" for sort in SORTS)]


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [item["metadata"]["id"] for item in answer.json()["items"]]


def listed(as_: As, who: str = "bob", **query: Any) -> list[str]:
    return ids(as_(who).get(f"{PATH}?{urlencode(query, doseq=True)}"))


def stored(**columns: Any) -> str:
    """An execution with these columns, whatever its life would have made of them."""
    row = making.pending()
    if columns:
        WorkflowExecution.objects.filter(id=row.id).update(**columns)
    return row.id


def walk(as_: As, query: dict[str, Any], between: Callable[[], None] = lambda: None) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        more = {"cursor": cursor} if cursor else {}
        answer = as_("bob").get(f"{PATH}?{urlencode({**query, **more})}")
        found += ids(answer)
        cursor = answer.json()["next_cursor"]
        if cursor is None:
            return found
        between()


def test_filters_hold_together_and_bounds_are_inclusive(as_: As) -> None:
    failed = [making.task("deploy", "FAILED", retry_count=2), making.task("build", "COMPLETED")]
    one = stored(
        phase="EXECUTION_FAILED",
        ended_at=AT,
        started_at=AT,
        completed_at=AT + timedelta(seconds=9),
        cost_micros=70,
        tasks=failed,
        labels={"team": "x", "env": "prod"},
    )
    two = stored(started_at=AT + timedelta(hours=1), labels={"team": "x"})
    target = making.read(one)

    for query, expected in [
        ({}, [two, one]),
        ({"org": "acme"}, [two, one]),
        ({"org": "globex"}, []),
        ({"org": "nowhere"}, []),
        ({"phase": "EXECUTION_FAILED"}, [one]),
        ({"phase": ["EXECUTION_FAILED", "EXECUTION_PENDING"]}, [two, one]),
        ({"started_after": "2026-01-31T09:30:00Z"}, [two, one]),
        ({"started_after": "2026-01-31T09:30:00.000001Z"}, [two]),
        ({"started_before": "2026-01-31T09:30:00Z"}, [one]),
        ({"started_before": "2026-01-31T09:29:59.999999Z"}, []),
        ({"min_duration": "9"}, [one]),
        ({"min_duration": "9.000001"}, []),
        ({"max_duration": "9"}, [one]),
        ({"max_duration": "0"}, []),
        ({"min_cost_micros": "70"}, [one]),
        ({"max_cost_micros": "0"}, [two]),
        ({"max_cost_micros": "70"}, [two, one]),
        ({"failed_task_name": "deploy"}, [one]),
        ({"failed_task_name": "build"}, []),
        ({"has_retries": "true"}, [one]),
        ({"has_retries": "false"}, [two]),
        ({"workflow_id": target.target}, [two, one]),
        ({"workflow_id": target.instance}, [two, one]),
        ({"workflow_id": "wfl_x"}, []),
        ({"label": "team=x"}, [two, one]),
        ({"label": ["team=x", "env=prod"]}, [one]),
        ({"label": ["team=x", "team=y"]}, []),
        ({"label": "team=x", "phase": "EXECUTION_PENDING"}, [two]),
    ]:
        assert listed(as_, **query) == expected, query


def test_a_stranger_sees_an_empty_list_and_an_admin_every_organization(as_: As) -> None:
    one = making.pending().id
    other = making.pending(org="globex", by="mallory").id

    assert listed(as_, "mallory") == [other]
    assert listed(as_, "mallory", org="acme") == []
    assert listed(as_, "service:dispatcher") == [one]
    assert sorted(listed(as_, "root")) == sorted([one, other])
    assert listed(as_, "root", org="acme") == [one]


def test_what_a_deleted_organization_left_is_invisible(as_: As) -> None:
    from organizations.operations import organizations

    row = making.ended().execution
    organizations.delete_organization(slug="acme", by=factories.act(), now=factories.now())

    assert listed(as_, "root") == []
    assert as_("root").get(f"{PATH}/{row.id}").status_code == 404
    assert as_("root").get(f"{PATH}/{row.id}/events").json()["events"] == []
    assert as_("root").get(f"{PATH}/summary").json()["total_count"] == 0


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"phase": "RUNNING"}, "phase"),
        ({"sort": "name"}, "sort"),
        ({"sort": "duration"}, "org"),
        ({"sort": "-cost"}, "org"),
        ({"sort": "status"}, "org"),
        ({"min_duration": "nan"}, "min_duration"),
        ({"min_duration": "-1"}, "min_duration"),
        ({"min_cost_micros": "1.5"}, "min_cost_micros"),
        ({"started_after": "2026-01-31T09:30:00"}, "started_after"),
        ({"started_after": "0001-01-01T00:00:00+23:00"}, "started_after"),
        ({"has_retries": "perhaps"}, "has_retries"),
        ({"label": "team"}, "label"),
        ({"limit": "0"}, "limit"),
        ({"limit": "501"}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"agent_id": "x"}, "agent_id"),
    ],
)
def test_names_what_is_wrong_with_a_query(as_: As, query: dict[str, str], pointer: str) -> None:
    answer = as_("bob").get(f"{PATH}?{urlencode(query)}")

    assert answer.status_code == 400, answer.content
    assert answer.json()["errors"][0]["pointer"].split("/")[0] == pointer


def mixed() -> list[str]:
    """Executions with ties and nulls in every sort key."""
    made = []
    phases = ["EXECUTION_PENDING", "EXECUTION_COMPLETED"]
    for n, (start, length) in enumerate(itertools.product([None, 0, 0, 1], [None, 0, 5])):
        phase = phases[n % 2]
        started = None if start is None else AT + timedelta(hours=start)
        done = None if None in (started, length) else started + timedelta(seconds=length)  # type: ignore[operator, arg-type]
        made.append(
            stored(
                phase=phase, ended_at=AT if n % 2 else None, started_at=started,
                completed_at=done, cost_micros=n % 3,
            )
        )  # fmt: skip
    return made


def key_of(row: Any, sort: str) -> Any:
    from executions.states import RANK

    return {
        "started_at": row.started_at,
        "created_at": row.created_at,
        "duration": row.duration_us,
        "cost": row.cost_micros,
        "status": RANK[row.phase],
    }[sort]


@pytest.mark.parametrize("sort", BOTH)
def test_every_sort_both_ways_over_ties_and_nulls(as_: As, sort: str) -> None:
    made = [making.read(id) for id in mixed()]
    name, down = sort.removeprefix("-"), sort.startswith("-")
    with_key = [row for row in made if key_of(row, name) is not None]
    without = [row for row in made if key_of(row, name) is None]
    expected = sorted(with_key, key=lambda row: (key_of(row, name), row.id), reverse=down)
    expected += sorted(without, key=lambda row: row.id, reverse=down)

    for limit in (1, 2, 5, 12, 500):
        found = walk(as_, {"org": "acme", "sort": sort, "limit": limit})
        assert found == [row.id for row in expected], limit


@pytest.mark.parametrize("sort", BOTH)
def test_a_walk_meets_every_survivor_once_while_rows_come_and_go(as_: As, sort: str) -> None:
    made = mixed()
    doomed = iter(made[1:12:4])
    came: list[str] = []

    def churn() -> None:
        came.append(stored(started_at=AT, cost_micros=1))
        gone = next(doomed, None)
        if gone:
            WorkflowExecution.objects.filter(id=gone).update(
                phase="EXECUTION_COMPLETED", ended_at=AT
            )
            WorkflowExecution.objects.filter(id=gone).delete()

    query = {"org": "acme", "sort": sort, "limit": 3}
    found: list[str] = []
    cursor = None
    for _ in range(40):
        more = {"cursor": cursor} if cursor else {}
        answer = as_("bob").get(f"{PATH}?{urlencode({**query, **more})}")
        found += ids(answer)
        cursor = answer.json()["next_cursor"]
        if cursor is None:
            break
        if len(came) < 6:
            churn()
    survivors = set(made) - set(made[1:12:4])
    assert len(found) == len(set(found))
    assert survivors <= set(found)


def test_a_cursor_is_bound_to_its_filters(as_: As) -> None:
    for _ in range(3):
        stored()
    cursor = as_("bob").get(f"{PATH}?limit=1").json()["next_cursor"]

    for query in ("org=acme", "sort=started_at", "phase=EXECUTION_PENDING"):
        answer = as_("bob").get(f"{PATH}?{query}&limit=1&cursor={cursor}")
        assert answer.status_code == 400
    assert as_("bob").get(f"/agent-executions?limit=1&cursor={cursor}").status_code == 400
    assert as_("bob").get(f"{PATH}?limit=2&cursor={cursor}").json()["next_cursor"] is None


def test_a_page_is_two_statements_beside_the_token(as_: As) -> None:
    for _ in range(5):
        stored()
    bob = as_("bob")
    bob.get(PATH)

    with CaptureQueriesContext(connection) as queries:
        bob.get(PATH)

    assert len(queries) == 3


def test_the_list_of_agents_is_its_own(as_: As) -> None:
    flow, agent = making.pending(), making.pending_agent()

    found = as_("bob").get(f"/agent-executions?agent_id={agent.target}")

    assert ids(found) == [agent.id]
    assert listed(as_) == [flow.id]
