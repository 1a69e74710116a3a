"""Who sees an item, and that nobody learns of one that they do not see."""

from __future__ import annotations

from typing import Any

import pytest

from organizations.operations import members, organizations
from stigmer.core.callers import system_act
from tests import factories
from tests.workitems.world import nothing_written, refused
from workitems import operations, queries
from workitems.errors import WorkItemNotFound
from workitems.states import Engine, Phase

pytestmark = pytest.mark.django_db
EVERYBODY = ("alice", "bob", "vera", "service:dispatcher", "mallory", "root")


def sees(api: Any, item: Any) -> tuple[bool, bool]:
    """Whether the item is found, and whether it is listed."""
    status = api.get(f"/work-items/{item.id}").status_code
    listed = {row["id"] for row in api.get("/work-items").json()["items"]}
    return status == 200, item.id in listed


def test_members_see_what_is_the_tenants(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    found = {name: sees(as_(name), item) for name in EVERYBODY}

    assert found == {name: (name != "mallory",) * 2 for name in EVERYBODY}


def test_the_owner_and_platform_admins_see_what_is_private(as_: Any, cast: Any) -> None:
    item = factories.open_item(owner="bob", visibility="private")

    found = {name: sees(as_(name), item) for name in EVERYBODY}

    assert found == {name: (name in ("bob", "root"),) * 2 for name in EVERYBODY}


def test_an_owner_who_left_sees_nothing(as_: Any, cast: Any) -> None:
    item = factories.open_item(owner="bob", visibility="private")
    members.remove_member(
        organization="acme", principal="bob", by=system_act(), now=factories.now()
    )

    assert sees(as_("bob"), item) == (False, False)


def test_a_filter_discloses_nothing(as_: Any, cast: Any) -> None:
    factories.open_item("Secret plan", owner="alice", external_key="k", visibility="private")
    bob = as_("bob")

    for query in ("owner=alice", "external_key=k", "q=secret", "surface=api", "tenant=acme"):
        assert bob.get(f"/work-items?{query}").json()["items"] == []


def test_a_caller_without_organizations_has_an_empty_list(as_: Any, cast: Any) -> None:
    factories.open_item()
    factories.make_principal("nobody")

    assert as_("nobody").get("/work-items").json()["items"] == []


def test_a_platform_admins_tenant_filter_narrows(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    factories.open_item(owner="mallory", tenant="globex")

    listed = as_("root").get("/work-items?tenant=acme").json()["items"]

    assert [row["id"] for row in listed] == [item.id]
    assert len(as_("root").get("/work-items").json()["items"]) == 2


def test_a_platform_admin_learns_that_an_organization_is_not_there(as_: Any, cast: Any) -> None:
    refused(as_("root").get("/work-items?tenant=nowhere"), 404, "organization_not_found")


# A deleted organization ---------------------------------------------------------------------------


@pytest.fixture
def left(cast: Any) -> Any:
    """An item with an execution, which a deleted organization left."""
    factories.make_organization("gone", "alice")
    item = factories.open_item(tenant="gone")
    factories.run_of(item)
    ended = factories.moved_item(item, "complete")
    organizations.delete_organization(slug="gone", by=factories.act(), now=factories.now())
    return ended


@pytest.mark.parametrize("name", ["alice", "root"])
def test_what_a_deleted_organization_left_is_invisible(as_: Any, left: Any, name: str) -> None:
    api = as_(name)
    for path in ("", "/executions", "/events", "/intents", "/surface-refs"):
        refused(api.get(f"/work-items/{left.id}{path}"), 404, "work_item_not_found")

    for state in ("open", "completed"):
        assert api.get(f"/work-items?state={state}").json()["items"] == []
    tenant = api.get("/work-items?tenant=gone&state=completed")
    expected = "organization_not_found" if name == "root" else "tenant_forbidden"
    assert tenant.json()["code"] == expected


@pytest.mark.parametrize("name", ["alice", "root"])
def test_nothing_is_written_on_what_a_deleted_organization_left(
    as_: Any, left: Any, name: str
) -> None:
    api = as_(name)
    run = {"engine": "temporal", "engine_ref": "run-1", "phase": "Failed"}
    chat = {"surface": "cli", "external_id": "c"}
    with nothing_written():
        reported = api.post(f"/work-items/{left.id}/executions", json=run)
        linked = api.post(f"/work-items/{left.id}/surface-refs", json=chat)

    refused(reported, 404, "work_item_not_found")
    refused(linked, 404, "work_item_not_found")


def test_no_operation_reaches_what_a_deleted_organization_left(left: Any) -> None:
    with nothing_written():
        for by in (factories.act("root"), system_act()):
            with pytest.raises(WorkItemNotFound):
                operations.attach_execution(
                    item=left.id, run=operations.Run(Engine.TEMPORAL, "run-1"),
                    phase=Phase.FAILED, by=by, now=factories.now(), facts={},
                )  # fmt: skip
    assert queries.find(left.id) is None


def test_an_organization_with_open_work_is_not_deleted(as_: Any, cast: Any) -> None:
    factories.open_item()
    factories.waiting_item(visibility="private", owner="bob")
    factories.ended_item()
    with nothing_written():
        response = as_("alice").delete("/organizations/acme")

    problem = refused(response, 409, "organization_not_empty")
    assert problem["details"] == {"work_items": 2, "executions": 0}
