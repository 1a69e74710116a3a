"""Executions are found by the words of their names, by whoever sees them."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from executions.kinds import KINDS
from executions.queries.searching import NAME_TERMS
from tests.executions.making import pending, pending_agent, private

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cast")]


def found(as_: Any, who: str, query: str) -> dict[str, Any]:
    answer = as_(who).get(f"/search?{query}")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_both_kinds_are_found_by_their_members(as_: Any) -> None:
    run, chat = pending(name="Nightly köln report"), pending_agent(name="Report to Köln")

    answer = found(as_, "vera", "q=K%C3%96LN+report")

    assert {item["id"] for item in answer["items"]} == {run.id, chat.id}
    assert answer["counts_by_kind"] == {"workflow_execution": 1, "agent_execution": 1}
    assert all(0 < item["score"] <= 1 for item in answer["items"])
    assert found(as_, "mallory", "q=report")["total_count"] == 0


def test_a_kind_narrows_and_lists_without_words(as_: Any) -> None:
    run = pending(name="Nightly")
    pending_agent(name="Nightly too")

    listed = found(as_, "vera", "kind=workflow_execution")
    named = found(as_, "vera", "kind=workflow_execution&q=night")

    assert [item["id"] for item in listed["items"]] == [run.id]
    assert [(item["id"], item["org"], item["slug"]) for item in named["items"]] == [
        (run.id, "acme", run.id)
    ]
    assert listed["items"][0]["score"] == 1.0


def test_a_private_run_is_found_by_whoever_started_it_alone(as_: Any) -> None:
    run = private(by="bob")

    seen = {
        name: [item["id"] for item in found(as_, name, "kind=workflow_execution")["items"]]
        for name in ("bob", "alice", "root")
    }

    assert seen == {"bob": [run.id], "alice": [], "root": [run.id]}


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_the_words_are_looked_up_in_the_index(kind: Any) -> None:
    terms = NAME_TERMS.replace("{table}", kind.table)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN SELECT id FROM {kind.table} WHERE {terms} @@ 'night:*'::tsquery")
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert f"{kind.table}_words" in plan
