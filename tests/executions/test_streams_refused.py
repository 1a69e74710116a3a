"""Who may not follow, and how that is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from executions.kinds import AGENT
from organizations.authorization import Decision, Resource, Verdict
from stigmer.http.streams.hub import IN_ENVIRON
from tests.executions import making
from tests.executions.watching import Live

SUBSCRIBE = "unauthorized to subscribe to workflow execution events"
WORKFLOW = "unauthorized to get workflow execution stream"
AGENTS = "unauthorized to get agent execution stream"
ROUTES = [
    ("/workflow-executions/{id}/stream", WORKFLOW),
    ("/workflow-executions/{id}/events/stream", SUBSCRIBE),
    ("/agent-executions/{id}/stream", AGENTS),
]


class Denies:
    """An authorizer that asks nobody and allows nothing."""

    def authorize(self, principal: Any, permission: str, resource: Resource) -> Decision:
        return Decision(Verdict.DENY, "by test")


class NoHub:
    """The hub of a process where nobody may register."""

    def watch(self, topics: Any) -> Any:
        raise AssertionError("registered for wake-ups")


def id_of(path: str) -> str:
    return (making.running(AGENT) if "agent" in path else making.running()).execution.id


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "denied"), ROUTES)
def test_a_denial_comes_before_any_query_and_any_subscription(
    path: str, denied: str, as_: Callable[[str], Any], settings: Any
) -> None:
    api, id = as_("bob"), id_of(path)
    settings.STIGMER_AUTHORIZER = f"{__name__}.Denies"
    seen: list[str] = []

    def guard(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql)
        assert "executions_" not in sql, "a query before the authorizer"
        return execute(sql, params, many, context)

    with connection.execute_wrapper(guard):
        answer = api.client.get(
            f"/api/v1{path.format(id=id)}",
            headers={"Authorization": f"Bearer {api.token}"},
            **{IN_ENVIRON: NoHub()},
        )

    assert (answer.status_code, answer.json()["detail"]) == (403, denied)
    assert all("organizations_" in sql for sql in seen)


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "_"), ROUTES)
def test_registers_for_wake_ups_before_it_reads(
    path: str, _: str, as_: Callable[[str], Any]
) -> None:
    api, id, did = as_("root"), id_of(path), []

    class Registers:
        def watch(self, topics: list[str]) -> None:
            did.append(f"registered for {topics}")

    def seen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        did.extend(["read"] if "executions_" in sql else [])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(seen):
        api.client.get(
            f"/api/v1{path.format(id=id)}",
            headers={"Authorization": f"Bearer {api.token}"},
            **{IN_ENVIRON: Registers()},
        )

    assert did[:2] == [f"registered for ['execution:{id}']", "read"]


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "denied"), ROUTES)
def test_a_foreign_and_an_unknown_execution_are_the_same_denial(
    path: str, denied: str, as_: Callable[[str], Any]
) -> None:
    foreign = as_("mallory").get(path.format(id=id_of(path)))
    unknown = as_("alice").get(path.format(id="wfe_01h455vb4pex5vsknk084sn02q"))

    for answer in (foreign, unknown):
        assert (answer.status_code, answer.json()["detail"]) == (403, denied)


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "denied"), ROUTES)
def test_a_denial_comes_before_faults_of_the_query(
    path: str, denied: str, as_: Callable[[str], Any]
) -> None:
    answer = as_("mallory").get(f"{path.format(id=id_of(path))}?nonsense=1")

    assert (answer.status_code, answer.json()["detail"]) == (403, denied)


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "_"), ROUTES)
def test_the_plain_wsgi_application_sends_elsewhere(
    path: str, _: str, as_: Callable[[str], Any]
) -> None:
    answer = as_("alice").get(path.format(id=id_of(path)))

    assert (answer.status_code, answer.json()["code"]) == (503, "streams_elsewhere")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", [path for path, _ in ROUTES])
def test_an_unknown_execution_is_not_found_for_whom_the_authorizer_allows(
    path: str, live: Live
) -> None:
    id = f"{'aex' if 'agent' in path else 'wfe'}_01h455vb4pex5vsknk084sn02q"
    noun = "agent_execution" if "agent" in path else "workflow_execution"

    answer = live.get("root", path.format(id=id))

    assert answer.status_code == 404
    assert answer.json()["detail"] == f"{noun} not found: {id}"
    assert live.gauge() == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("query", "headers", "pointer"),
    [
        ("?after_sequence=-1", {}, "after_sequence"),
        ("?after_sequence=x", {"Last-Event-ID": "1"}, "after_sequence"),
        ("?nonsense=1", {}, "nonsense"),
        ("", {"Last-Event-ID": "x"}, "Last-Event-ID"),
        ("", {"Last-Event-ID": ""}, "Last-Event-ID"),
    ],
)
def test_a_faulty_query_is_400(
    query: str, headers: dict[str, str], pointer: str, live: Live
) -> None:
    id = making.running().execution.id

    answer = live.get("vera", f"/workflow-executions/{id}/events/stream{query}", headers=headers)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.django_db(transaction=True)
def test_refusals_read_as_those_of_other_routes(live: Live) -> None:
    path = f"/workflow-executions/{making.running().execution.id}/stream"
    surface = live.get("surface:telegram", path)
    nobody = live.get("vera", path, headers={"Authorization": "Bearer stg_no", "X-Request-Id": "r"})
    json = live.get("vera", path, headers={"Accept": "application/json"})
    head = live.send("vera", "HEAD", path)
    post = live.send("vera", "POST", path)

    assert (surface.status_code, surface.json()["code"]) == (403, "surface_route_not_allowed")
    assert (nobody.status_code, nobody.json()["request_id"]) == (401, "r")
    assert (nobody.headers["X-Request-Id"], nobody.headers["X-Frame-Options"]) == ("r", "DENY")
    assert [json.status_code, head.status_code, post.status_code] == [406, 405, 405]


@pytest.mark.django_db(transaction=True)
def test_a_stream_has_the_headers_of_every_answer(live: Live) -> None:
    held = making.ended()
    path = f"/workflow-executions/{held.execution.id}/stream"

    watcher = live.watch("vera", path, X_Request_Id="mine", Accept="text/event-stream")

    assert watcher.headers["x-request-id"] == "mine"
    assert watcher.headers["x-content-type-options"] == "nosniff"
    assert watcher.headers["cache-control"] == "no-store"
    assert "content-length" not in watcher.headers
