"""One execution, the event log, and the question that comes before everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError, connection

from executions.queries import trail as reading
from organizations.authorization import Decision, Resource, Verdict
from stigmer.core.callers import SYSTEM, Caller
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
UNKNOWN = "wfe_01jzq3v8d4e8kb5w2m6n7p9r0t"
DENIED = "unauthorized to get workflow execution event log"


class Denier:
    """Denies, and remembers what it was asked."""

    asked: list[tuple[str, str, Resource]] = []

    def authorize(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        self.asked.append((principal.name, permission, resource))
        return Decision(Verdict.DENY, "because")


@contextmanager
def no_query() -> Iterator[None]:
    """Fails the test when anything but the token is read."""

    def guard(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "organizations_apitoken" not in sql:
            pytest.fail(f"a query before permission: {sql}")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(guard):
        yield


@pytest.mark.parametrize("query", ["", "?page_size=0", "?nonsense=1"])
def test_the_log_asks_the_authorizer_before_any_query(as_: As, settings: Any, query: str) -> None:
    id = making.running().execution.id
    bob = as_("bob")
    bob.get("/whoami")
    settings.STIGMER_AUTHORIZER = f"{__name__}.Denier"
    Denier.asked.clear()

    with no_query():
        answer = bob.get(f"/workflow-executions/{id}/events{query}")

    assert (answer.status_code, answer.json()["detail"]) == (403, DENIED)
    assert Denier.asked == [("bob", "read", Resource("workflow_execution", id, ""))]


def test_the_role_based_authorizer_denies_foreign_and_unknown_alike(as_: As) -> None:
    foreign = making.pending(org="globex", by="mallory").id
    private = making.private(by="bob").id

    for who, id in [
        ("bob", foreign), ("bob", UNKNOWN), ("bob", "nonsense"), ("alice", private),
        ("mallory", private),
    ]:  # fmt: skip
        answer = as_(who).get(f"/workflow-executions/{id}/events")
        assert (answer.status_code, answer.json()["detail"]) == (403, DENIED), (who, id)
    assert as_("bob").get(f"/workflow-executions/{private}/events").status_code == 200
    assert as_("vera").get(f"/workflow-executions/{making.pending().id}/events").status_code == 200


def test_who_is_allowed_reads_an_unknown_log_as_an_empty_one(as_: As) -> None:
    answer = as_("root").get(f"/workflow-executions/{UNKNOWN}/events")

    assert answer.status_code == 200
    assert answer.json() == {
        "events": [], "has_more": False, "latest_sequence": 0, "schema_version": "stigmer/v1",
    }  # fmt: skip


def test_the_internal_caller_is_not_asked(cast: Any, settings: Any) -> None:
    held = making.running()
    making.report(held, "", *making.events(1))
    settings.STIGMER_AUTHORIZER = f"{__name__}.Denier"
    Denier.asked.clear()

    page = reading.event_log(SYSTEM, held.execution.id, after=0, limit=10)

    assert [row.sequence_number for row in page.events] == [1]
    assert Denier.asked == []


def test_a_store_fault_in_the_log_has_a_fixed_text(as_: As) -> None:
    id = making.running().execution.id

    with patch.object(reading, "events", side_effect=OperationalError("secret host")):
        answer = as_("bob").get(f"/workflow-executions/{id}/events")

    assert answer.status_code == 500
    assert answer.json()["detail"] == "failed to query execution events"
    assert "secret" not in answer.content.decode()


def test_pages_of_the_log_and_its_filters(as_: As) -> None:
    held = making.running()
    making.report(held, "", *making.events(1, 2, 5), *making.events(7, kind="task_started"))
    path = f"/workflow-executions/{held.execution.id}/events"

    def page(query: str) -> tuple[list[int], bool, int]:
        found = as_("bob").get(f"{path}?{query}").json()
        numbers = [event["sequence_number"] for event in found["events"]]
        return numbers, found["has_more"], found["latest_sequence"]

    assert page("") == ([1, 2, 5, 7], False, 7)
    assert page("page_size=2") == ([1, 2], True, 2)
    assert page("page_size=2&after_sequence=2") == ([5, 7], False, 7)
    assert page("event_type=task_started") == ([7], False, 7)
    assert page("event_type=task_started&event_type=log&after_sequence=1") == ([2, 5, 7], False, 7)
    assert page("task_name=build") == ([], False, 0)
    event = as_("bob").get(path).json()["events"][0]
    assert event["execution_id"] == held.execution.id
    assert (event["event_id"], event["event_type"], event["data"]) == ("ev-1", "log", {"n": 1})


@pytest.mark.parametrize(
    "query", ["page_size=0", "page_size=501", "after_sequence=-1", "after_sequence=x", "limit=1"]
)
def test_bounds_of_a_page(as_: As, query: str) -> None:
    id = making.running().execution.id

    assert as_("bob").get(f"/workflow-executions/{id}/events?{query}").status_code == 400


# One execution ------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["bob", "mallory", "root"])
def test_a_foreign_and_an_unknown_id_are_the_same(as_: As, who: str) -> None:
    foreign = making.pending(org="globex", by="mallory").id

    unknown = as_(who).get(f"/workflow-executions/{UNKNOWN}")

    assert unknown.status_code == 404
    assert unknown.json()["detail"] == f"workflow_execution not found: {UNKNOWN}"
    if who == "bob":
        refused = as_(who).get(f"/workflow-executions/{foreign}").json()
        same = {**unknown.json(), "request_id": refused["request_id"]}
        same["detail"] = same["detail"].replace(UNKNOWN, foreign)
        assert refused == same
    assert as_(who).get(f"/agent-executions/{foreign}").status_code == 404


def test_the_tag_is_of_the_whole_answer(as_: As) -> None:
    row = making.pending()
    path = f"/workflow-executions/{row.id}"
    first = as_("bob").get(path)

    assert as_("bob").get(path, headers={"If-None-Match": first["ETag"]}).status_code == 304
    making.report(making.claim(), "IN_PROGRESS")  # type: ignore[arg-type]
    assert as_("bob").get(path, headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_a_pending_execution_may_be_changed(as_: As) -> None:
    row = making.pending(input={"a": 1, "b": 2})
    path = f"/workflow-executions/{row.id}"
    tag = as_("bob").get(path)["ETag"]

    answer = as_("bob").patch(
        path, {"spec": {"input": {"a": 3}, "trigger_message": "x"}}, headers={"If-Match": tag}
    )
    stale = as_("bob").patch(path, {"spec": {"input": {}}}, headers={"If-Match": tag})
    other = as_("bob").patch(path, {"spec": {"workflow_id": "x"}})

    assert answer.status_code == 200
    assert answer.json()["spec"]["input"] == {"a": 3}
    assert answer.json()["spec"]["trigger_message"] == "x"
    assert answer["ETag"] == as_("bob").get(path)["ETag"]
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert other.status_code == 400


def test_a_started_execution_is_not_changed(as_: As) -> None:
    held = making.running()

    answer = as_("bob").patch(
        f"/workflow-executions/{held.execution.id}", {"spec": {"trigger_message": "x"}}
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "failed_precondition")
    assert making.read(held.execution.id) == held.execution


def test_an_agents_message_may_be_changed(as_: As) -> None:
    row = making.pending_agent()
    path = f"/agent-executions/{row.id}"

    assert as_("bob").patch(path, {"spec": {"message": "x"}}).json()["spec"]["message"] == "x"
    assert as_("bob").patch(path, {"spec": {"input": {}}}).status_code == 400


def test_a_delete_takes_all_that_an_ended_execution_owns(as_: As) -> None:
    from executions.models import SignalClaim, WorkflowExecutionEvent, WorkflowInboxEntry

    held = making.running()
    path = f"/workflow-executions/{held.execution.id}"
    as_("bob").post(f"{path}/signals", {"signal_name": "go"}, key="k")
    making.report(held, "", *making.events(1, 2))
    refused = as_("bob").delete(path)
    making.report(held, "COMPLETED")
    shown = as_("bob").get(path).json()

    answer = as_("bob").delete(path)

    assert (refused.status_code, refused.json()["code"]) == (409, "failed_precondition")
    assert (answer.status_code, answer.json()) == (200, shown)
    assert as_("bob").get(path).status_code == 404
    assert as_("bob").delete(path).status_code == 404
    for model in (SignalClaim, WorkflowExecutionEvent, WorkflowInboxEntry):
        assert not model.objects.exists()


@pytest.mark.parametrize(("who", "status"), [(None, 401), ("mallory", 404), ("vera", 403)])
def test_who_may_not_change_or_delete(as_: As, who: str | None, status: int) -> None:
    row = making.ended().execution
    path = f"/workflow-executions/{row.id}"

    assert as_(who).patch(path, {"nonsense": 1}).status_code == status
    assert as_(who).delete(path).status_code == status
    assert making.read(row.id) == row
