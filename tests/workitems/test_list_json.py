"""A page that PostgreSQL writes is the page that the rows would show, to the byte."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests import factories
from workitems import queries
from workitems.api import answers, showing
from workitems.states import WorkItemState

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cast")]
STATES = ["open", *(state.value for state in WorkItemState)]


@pytest.fixture
def items() -> None:
    factories.open_item('Zürich "quoted" \\ / 🚪 \u2028 дверь', external_key="jira/7 é")
    factories.open_item("Private", visibility="private", surface="slack")
    factories.waiting_item("Waits", reason="approval")
    for action in ("complete", "archive", "supersede"):
        factories.ended_item(f"To {action}", action=action)


@pytest.mark.parametrize("state", STATES)
def test_both_ways_show_the_same_bytes(items: None, state: str) -> None:
    alice = factories.caller("alice")
    filters = queries.Filters(state=state)

    written = queries.page_as_json(alice, filters, None, 50)
    rows = queries.page(alice, filters, None, 50)

    assert rows
    if state == "superseded":
        assert written is None
        return
    assert written is not None
    as_rows = [msgspec.json.encode(showing.work_item_of(alice, row)) for row in rows]
    assert [msgspec.json.encode(msgspec.Raw(one.json.encode())) for one in written] == as_rows
    assert [(one.updated_at, one.id) for one in written] == [(r.updated_at, r.id) for r in rows]


def test_the_answer_is_the_struct_that_the_document_shows(as_: Any, items: None) -> None:
    raw = as_("alice").get("/work-items").content

    page = msgspec.json.decode(raw, type=answers.WorkItemPage, strict=True)

    assert {item.title for item in page.items} >= {"Private", "Waits"}
    assert msgspec.json.encode(page) == raw
