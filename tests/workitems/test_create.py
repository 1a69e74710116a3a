"""POST /work-items."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workitems.world import invalid, nothing_written, refused, rows

pytestmark = pytest.mark.django_db
NEW = {"tenant": "acme", "title": "Fix the door"}


def test_opens_an_item_with_the_defaults(as_: Any) -> None:
    response = as_("alice").post("/work-items", json=NEW)

    answer = response.json()
    item = answer["work_item"]
    assert response.status_code == 201
    assert item.pop("id").startswith("wi_")
    assert item.pop("created_at") == item.pop("updated_at")
    assert item == {
        "tenant": "acme", "owner_principal": "alice", "visibility": "tenant",
        "origin_surface": "api", "title": "Fix the door", "external_key": None, "state": "active",
        "waiting_reason": None, "superseded_by": None, "state_version": 1, "created_by": "alice",
        "completed_at": None, "schema_version": "workitem/v1",
    }  # fmt: skip
    del answer["work_item"]
    assert answer == {
        "schema_version": "workitem/v1", "state_version": 1, "latest_execution": None,
        "latest_snapshot": None, "pending_approval": None, "open_execution_request": None,
        "created": True,
    }  # fmt: skip


def test_writes_one_event_and_the_folded_title(as_: Any) -> None:
    body = NEW | {"title": "STRAẞE", "origin_surface": "telegram"}
    headers = {"X-Request-Id": "req-7"}

    item = as_("bob").post("/work-items", json=body, headers=headers).json()["work_item"]["id"]

    event = rows(
        """SELECT seq, kind, from_state, to_state, actor, acting_principal, surface, request_id,
        detail::text FROM workitems_workitemevent WHERE work_item = %s""",
        item,
    )
    assert event == [
        (1, "created", None, "active", "bob", None, "telegram", "req-7", "{}"),
    ]
    assert rows("SELECT folded FROM workitems_workitemtitle") == [("strasse",)]
    assert rows("SELECT last_event_seq FROM workitems_workitem") == [(1,)]


def test_without_a_key_nothing_is_recorded_and_every_create_is_new(as_: Any) -> None:
    first, second = (as_("alice").post("/work-items", json=NEW) for _ in range(2))

    assert first.json()["work_item"]["id"] != second.json()["work_item"]["id"]
    assert rows("SELECT count(*) FROM workitems_createrequest") == [(0,)]


@pytest.mark.parametrize("tenant", [{}, {"tenant": None}, {"tenant": ""}])
def test_refuses_a_missing_tenant(as_: Any, tenant: dict[str, Any]) -> None:
    with nothing_written():
        response = as_("alice").post("/work-items", json={"title": "x"} | tenant)

    invalid(response, "/tenant", "tenant is required")


@pytest.mark.parametrize("tenant", ["globex", "nowhere", " acme", "acme ", "ACME"])
def test_refuses_a_tenant_without_access(as_: Any, tenant: str) -> None:
    with nothing_written():
        response = as_("alice").post("/work-items", json=NEW | {"tenant": tenant})

    refused(response, 403, "tenant_forbidden", "you have no access to this tenant")


def test_a_tenant_of_others_and_no_tenant_look_the_same(as_: Any) -> None:
    answers = []
    for tenant in ("globex", "nowhere"):
        body = as_("alice").post("/work-items", json=NEW | {"tenant": tenant}).json()
        del body["request_id"]
        answers.append(body)

    assert answers[0] == answers[1]


def test_refuses_a_viewer(as_: Any) -> None:
    with nothing_written():
        response = as_("vera").post("/work-items", json=NEW | {"title": ""})

    refused(response, 403, "permission_denied")


@pytest.mark.parametrize("tenant", ["nowhere", "x" * 70, " acme"])
def test_a_platform_admin_learns_that_there_is_no_such_organization(as_: Any, tenant: str) -> None:
    with nothing_written():
        response = as_("root").post("/work-items", json={"tenant": tenant, "title": ""})

    refused(response, 404, "organization_not_found")


def test_a_platform_admin_opens_items_everywhere(as_: Any) -> None:
    assert as_("root").post("/work-items", json=NEW).status_code == 201


def test_refuses_a_surface(as_: Any) -> None:
    with nothing_written():
        response = as_("surface:telegram").post("/work-items", json=NEW)

    refused(response, 403, "surface_route_not_allowed")


ACTOR_FIELDS = (
    "actor", "actor_principal", "owner", "owner_principal", "created_by", "on_behalf_of",
    "subject", "delegated_actor", "user", "user_id", "requested_by", "decided_by",
)  # fmt: skip


@pytest.mark.parametrize("field", ACTOR_FIELDS)
def test_refuses_a_body_that_names_who_acts(as_: Any, field: str) -> None:
    with nothing_written():
        response = as_("alice").post("/work-items", json={field: "alice", "bogus": 1})

    body = refused(response, 400, "actor_not_accepted")
    assert body["details"] == {"field": field}


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"title": ""}, "/title"),
        ({"title": " "}, "/title"),
        ({"title": "é" * 129}, "/title"),
        ({"title": "a\nb"}, "/title"),
        ({"title": None}, "/title"),
        ({"title": 7}, "/title"),
        ({"external_key": "x" * 513}, "/external_key"),
        ({"external_key": "a\tb"}, "/external_key"),
        ({"external_key": None}, "/external_key"),
        ({"visibility": "secret"}, "/visibility"),
        ({"visibility": None}, "/visibility"),
        ({"origin_surface": "Telegram"}, "/origin_surface"),
        ({"origin_surface": "x" * 33}, "/origin_surface"),
        ({"idempotency_key": None}, "/idempotency_key"),
        ({"state": "active"}, "/state"),
        ({"state_version": 7}, "/state_version"),
        ({"tenant": 7}, "/tenant"),
    ],
)
def test_refuses_a_wrong_field(as_: Any, change: dict[str, Any], pointer: str) -> None:
    with nothing_written():
        response = as_("alice").post("/work-items", json=NEW | change)

    invalid(response, pointer)


def test_takes_every_field_at_its_longest(as_: Any) -> None:
    body = NEW | {"title": "é" * 128, "external_key": "🚪" * 128, "origin_surface": "x" * 32}

    response = as_("alice").post("/work-items", json=body)

    assert response.status_code == 201
    item = response.json()["work_item"]
    assert {name: item[name] for name in body} == body


def test_an_empty_optional_field_is_absent(as_: Any) -> None:
    empty = {"external_key": "", "visibility": "", "origin_surface": "", "idempotency_key": ""}

    item = as_("alice").post("/work-items", json=NEW | empty).json()["work_item"]

    assert (item["external_key"], item["visibility"], item["origin_surface"]) == (
        None, "tenant", "api",
    )  # fmt: skip
    assert rows("SELECT count(*) FROM workitems_createrequest") == [(0,)]


# The order of refusals ----------------------------------------------------------------------------


def test_a_token_comes_first(as_: Any) -> None:
    refused(as_(None).post("/work-items", body=b"{", key=""), 401, "unauthenticated")


def test_the_parser_comes_before_the_actor_and_the_tenant(as_: Any) -> None:
    response = as_("alice").post("/work-items", body=b'{"actor": 1, "actor": 2}')

    refused(response, 400, "invalid_request")


def test_the_actor_comes_before_the_missing_tenant(as_: Any) -> None:
    refused(as_("alice").post("/work-items", json={"owner": "x"}), 400, "actor_not_accepted")


def test_the_missing_tenant_comes_before_other_faults(as_: Any) -> None:
    response = as_("alice").post("/work-items", json={"title": 7, "bogus": 1})

    invalid(response, "/tenant", "tenant is required")


def test_the_tenant_comes_before_other_faults(as_: Any) -> None:
    body = {"tenant": "globex", "title": 7, "bogus": 1}

    refused(as_("alice").post("/work-items", json=body), 403, "tenant_forbidden")


def test_a_media_type_that_is_not_json_is_refused_before_the_tenant(as_: Any) -> None:
    api = as_("alice")

    response = api.client.generic(
        "POST", "/api/v1/work-items", b"{}", content_type="text/plain",
        headers={"Authorization": f"Bearer {api.token}"},
    )  # fmt: skip

    refused(response, 415, "unsupported_media_type")


def test_a_body_beyond_64_kib_is_refused(as_: Any) -> None:
    with nothing_written():
        response = as_("alice").post("/work-items", json=NEW | {"title": "x" * 65536})

    refused(response, 413, "body_too_large")


# Secrets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["title", "external_key"])
def test_refuses_a_secret(as_: Any, field: str) -> None:
    token = "ghp_" + "aB3" * 12
    with nothing_written():
        response = as_("alice").post("/work-items", json=NEW | {field: f"see {token}"}, key="k")

    body = refused(response, 400, "secret_in_text")
    assert body["details"]["field"] == field
    assert token not in response.content.decode()
