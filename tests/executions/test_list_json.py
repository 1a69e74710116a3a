"""A page that PostgreSQL writes is the page that the rows would show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from executions import queries
from executions.api.schemas import answers, shown
from executions.kinds import AGENT, WORKFLOW, Kind
from executions.models import AgentExecution, WorkflowExecution
from executions.queries.lists import SORTS, Sort
from tests import factories
from tests.executions import making

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cast")]
FULL: dict[str, Any] = {
    "message": 'Say "Zürich" \\ / 🚪 \u2028 дверь',
    "labels": {"env": "prod", "a b": "ü"},
    "input": {"n": 1.5, "deep": [None, True, {"x": ""}]},
    "execution_target": {"pool": "gpu"},
    "output": [1, "two"],
    "error": "it broke",
    "started_at": datetime(2026, 1, 31, 9, 30, 0, 5, tzinfo=UTC),
    "completed_at": datetime(2026, 1, 31, 9, 30, tzinfo=UTC) + timedelta(seconds=90),
    "cost_micros": 2**53 - 1,
    "input_tokens": 7,
    "engine_ref": "ref-1",
    "tasks": [making.task("build", "COMPLETED")],
    "pending_approvals": [{"task_name": "sign-off"}],
}


@pytest.fixture
def both_kinds() -> None:
    making.pending()
    WorkflowExecution.objects.filter(id=making.pending().id).update(**FULL)
    making.pending_agent()
    AgentExecution.objects.filter(id=making.pending_agent(session="ses_1").id).update(**FULL)


@pytest.mark.parametrize("key", SORTS)
@pytest.mark.parametrize("kind", [WORKFLOW, AGENT], ids=lambda kind: kind.noun)
def test_both_ways_show_the_same(both_kinds: None, kind: Kind, key: str) -> None:
    alice = factories.caller("alice")
    found = queries.executions(alice, kind, queries.Filters())

    page = queries.after(found, Sort(key), None, 9)

    assert len(page) == 2
    for one in page:
        expected = shown.execution_of(making.read(one.id))
        assert msgspec.json.decode(one.json) == msgspec.json.decode(msgspec.json.encode(expected))
        assert list(msgspec.json.decode(one.json)) == list(type(expected).__struct_fields__)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/workflow-executions", answers.WorkflowExecutionPage),
        ("/agent-executions", answers.AgentExecutionPage),
    ],
)
def test_the_answer_is_the_struct_that_the_document_shows(
    as_: Any, both_kinds: None, path: str, page: type[Any]
) -> None:
    raw = as_("alice").get(path).content

    assert len(msgspec.json.decode(raw, type=page, strict=True).items) == 2
