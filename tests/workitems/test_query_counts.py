"""How many statements each call sends, authentication (one) apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
NEW = {"tenant": "acme", "title": "Fix the door"}
FRAME = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK", "SET ")


def statements(api: Any, method: str, path: str, status: int, **send: Any) -> int:
    """What the request sends without authentication and the frame of its transaction."""
    # The first request of a token writes when it was used last.
    api.get("/whoami")
    with CaptureQueriesContext(connection) as captured:
        response = api.send(method, path, **send)
    assert response.status_code == status, response.content
    sent = [query["sql"] for query in captured.captured_queries]
    counted = [sql for sql in sent if not sql.startswith(FRAME)]
    tokens = [sql for sql in counted if "organizations_apitoken" in sql]
    assert len(tokens) == 1, tokens
    return len(counted) - 1


@pytest.mark.parametrize(
    ("more", "key", "expected"),
    [
        ({}, None, 2),
        ({}, "k", 3),
        ({"external_key": "door-1"}, None, 2),
        ({"external_key": "door-1"}, "k", 3),
    ],
)
def test_a_create(as_: Any, more: dict[str, str], key: str | None, expected: int) -> None:
    body = NEW | more

    assert statements(as_("alice"), "POST", "/work-items", 201, json=body, key=key) == expected


def test_a_create_that_meets_open_work(as_: Any, cast: Any) -> None:
    factories.open_item(external_key="door-1")
    body = NEW | {"external_key": "door-1"}

    assert statements(as_("bob"), "POST", "/work-items", 200, json=body, key="k") == 6


def test_a_create_that_is_replayed(as_: Any, cast: Any) -> None:
    as_("bob").post("/work-items", json=NEW, key="k")

    assert statements(as_("bob"), "POST", "/work-items", 200, json=NEW, key="k") == 4


Made = Callable[[], Any]


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize("make", [factories.open_item, factories.running_item])
def test_a_transition(as_: Any, cast: Any, make: Made, key: str | None) -> None:
    item = make()
    body = {"action": "complete", "expected_state_version": 1}

    assert statements(
        as_("bob"), "PATCH", f"/work-items/{item.id}", 200, json=body, key=key
    ) == 4  # fmt: skip


def test_a_supersede(as_: Any, cast: Any) -> None:
    item, successor = factories.open_item(), factories.open_item()
    body = {"action": "supersede", "expected_state_version": 1, "superseded_by": successor.id}

    assert statements(as_("bob"), "PATCH", f"/work-items/{item.id}", 200, json=body, key="k") == 5


def test_a_resume(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()
    body = {"expected_state_version": 2, "engine": "argo", "engine_ref": "r"}
    path = f"/work-items/{item.id}/resume"

    assert statements(as_("bob"), "POST", path, 201, json=body, key="k") == 6


def test_an_attach(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    body = {"engine": "argo", "engine_ref": "r"}
    path = f"/work-items/{item.id}/executions"

    assert statements(as_("bob"), "POST", path, 201, json=body, key="k") == 6


def test_an_intent(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    path = f"/work-items/{item.id}/intents"

    assert statements(as_("bob"), "POST", path, 201, json={"text": "x"}, key="k") == 5


def test_a_surface_reference(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    body = {"surface": "cli", "external_id": "c"}
    path = f"/work-items/{item.id}/surface-refs"

    assert statements(as_("bob"), "POST", path, 201, json=body) == 5


def test_a_get(as_: Any, cast: Any) -> None:
    item, successor = factories.open_item(), factories.open_item(visibility="private")
    factories.run_of(item, phase="Failed")
    factories.moved_item(item, "supersede", superseded_by=successor.id)

    assert statements(as_("bob"), "GET", f"/work-items/{item.id}", 200) == 1


@pytest.mark.parametrize("path", ["executions", "events", "intents", "surface-refs"])
def test_a_list_on_an_item(as_: Any, cast: Any, path: str) -> None:
    item = factories.running_item()

    assert statements(as_("bob"), "GET", f"/work-items/{item.id}/{path}", 200) == 2


@pytest.mark.parametrize(
    ("query", "expected"),
    [("", 1), ("?tenant=acme", 1), ("?state=superseded", 1), ("?q=door&owner=alice&limit=2", 2)],
)
def test_a_list_page(as_: Any, cast: Any, query: str, expected: int) -> None:
    for _ in range(3):
        factories.ended_item(action="supersede")

    assert statements(as_("bob"), "GET", f"/work-items{query}", 200) == expected


def test_a_platform_admins_list_of_a_tenant(as_: Any, cast: Any) -> None:
    factories.open_item()

    assert statements(as_("root"), "GET", "/work-items?tenant=acme", 200) == 2


def test_a_refusal_of_visibility(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    assert statements(as_("mallory"), "PATCH", f"/work-items/{item.id}", 404, json={}) == 1
