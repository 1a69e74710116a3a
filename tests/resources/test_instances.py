"""Workflow instances: their parent, their targeted updates, the default one."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError

from resources.models import Resource
from resources.operations import instances
from resources.queries import documents as queries
from stigmer.core.callers import SYSTEM
from tests import factories
from tests.resources.conftest import body, make, make_instance

pytestmark = pytest.mark.django_db
MISSING = "wfl_01jzq3v8d4e8kb5w2m6n7p9r0t"
PATH = "/resources/workflow_instance"


def create(as_: Any, workflow: str, who: str = "alice", org: str = "acme") -> Any:
    sent = body("workflow_instance", "Nightly", org=org, spec={"workflow_id": workflow})
    return as_(who).post(PATH, json=sent)


def break_store(monkeypatch: Any, name: str) -> None:
    def fail(*_args: Any, **_more: Any) -> None:
        raise DatabaseError("the store is broken, row secret-row")

    monkeypatch.setattr(queries, name, fail)


def test_an_instance_of_a_visible_workflow_is_stored(as_: Any, stored: Any) -> None:
    workflow = stored("workflow", "Deploy")

    answer = create(as_, workflow.id, who="bob")

    assert answer.status_code == 201
    assert answer.json()["status"] == {"execution_visibility": "visibility_org"}


@pytest.mark.parametrize("workflow", [MISSING, "nope", "win_01jzq3v8d4e8kb5w2m6n7p9r0t"])
def test_a_missing_workflow_is_not_found_and_logged(
    as_: Any, cast: Any, caplog: Any, workflow: str
) -> None:
    answer = create(as_, workflow)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.json()["detail"] == f"Workflow not found: {workflow}"
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert any("parent_workflow_missing" in record.getMessage() for record in warnings)
    assert not Resource.objects.exists()


def test_an_invisible_workflow_is_not_found(as_: Any, stored: Any) -> None:
    private = stored("workflow", "Mine", visibility="visibility_private")
    foreign = stored("workflow", "Ours")

    for who, org, id in (("bob", "acme", private.id), ("mallory", "globex", foreign.id)):
        answer = create(as_, id, who=who, org=org)
        assert answer.json()["detail"] == f"Workflow not found: {id}"
    assert queries.instances_of(private.id) == queries.instances_of(foreign.id) == []


def test_a_workflow_of_another_organization_is_400_when_it_is_visible(
    as_: Any, stored: Any
) -> None:
    public = stored("workflow", "Open", visibility="visibility_public")
    ours = stored("workflow", "Ours")
    factories.join("acme", "mallory", "viewer")

    for id in (public.id, ours.id):
        answer = create(as_, id, who="mallory", org="globex")
        assert answer.status_code == 400
        assert answer.json()["detail"] == f"workflow {id} belongs to another organization"
    assert not Resource.objects.filter(kind="workflow_instance").exists()


def test_a_store_fault_is_never_a_missing_parent(as_: Any, stored: Any, monkeypatch: Any) -> None:
    workflow = stored("workflow", "Deploy")
    break_store(monkeypatch, "held")

    answer = create(as_, workflow.id)

    assert answer.status_code == 500
    assert answer.json()["detail"] == "failed to load parent workflow"
    assert b"secret-row" not in answer.content
    assert not Resource.objects.filter(kind="workflow_instance").exists()


def test_a_patch_to_another_workflow_loads_it_too(as_: Any, stored: Any) -> None:
    instance = make_instance(stored("workflow", "Deploy"))

    answer = as_("alice").patch(f"{PATH}/{instance.id}", json={"spec": {"workflow_id": MISSING}})

    assert answer.json()["detail"] == f"Workflow not found: {MISSING}"
    assert queries.find("workflow_instance", instance.id) == instance


def test_sets_who_sees_the_instance(as_: Any, stored: Any) -> None:
    instance = make_instance(stored("workflow", "Deploy"))
    path = f"{PATH}/{instance.id}/visibility"

    answer = as_("alice").put(path, json={"visibility": "visibility_private"})

    assert answer.json()["metadata"]["visibility"] == "visibility_private"
    assert as_("bob").get(f"{PATH}/{instance.id}").status_code == 404
    assert as_("alice").put(path, json={}).json()["metadata"]["visibility"] == "visibility_org"


def test_sets_who_sees_its_executions(as_: Any, stored: Any) -> None:
    instance = make_instance(stored("workflow", "Deploy"))
    path = f"{PATH}/{instance.id}/execution-visibility"
    tagged = as_("alice").get(f"{PATH}/{instance.id}")["ETag"]

    answer = as_("bob").put(path, json={"visibility": "visibility_private"})

    assert answer.json()["status"] == {"execution_visibility": "visibility_private"}
    assert answer.json()["metadata"]["resource_version"] == 2
    public = as_("bob").put(path, json={"visibility": "visibility_public"})
    assert public.status_code == 400
    stale = as_("bob").put(path, json={}, headers={"If-Match": tagged})
    assert stale.status_code == 412
    assert as_("bob").put(path, json={}).json()["status"] == {
        "execution_visibility": "visibility_org"
    }


@pytest.mark.parametrize("route", ["visibility", "execution-visibility"])
def test_targeted_updates_of_what_is_not_there(as_: Any, stored: Any, route: str) -> None:
    workflow = stored("workflow", "Deploy")
    hidden = make_instance(workflow, visibility="visibility_private")

    for who, id in (("alice", "win_01jzq3v8d4e8kb5w2m6n7p9r0t"), ("bob", hidden.id)):
        answer = as_(who).put(f"{PATH}/{id}/{route}", json={})
        assert answer.status_code == 404
        assert answer.json()["detail"] == f"workflow instance not found: {id}"
    other = make_instance(workflow, "Other")
    assert as_("vera").put(f"{PATH}/{other.id}/{route}", json={}).status_code == 403
    assert (
        as_("alice").put(f"/resources/workflow/{workflow.id}/{route}", json={}).status_code == 404
    )
    assert queries.find("workflow_instance", other.id) == other


@pytest.mark.parametrize("route", ["visibility", "execution-visibility"])
def test_a_store_fault_is_never_a_missing_instance(
    as_: Any, stored: Any, monkeypatch: Any, route: str
) -> None:
    instance = make_instance(stored("workflow", "Deploy"))
    break_store(monkeypatch, "locked")

    answer = as_("alice").put(f"{PATH}/{instance.id}/{route}", json={})

    assert answer.status_code == 500
    assert answer.json()["detail"] == "failed to load workflow instance"


# The default instance -----------------------------------------------------------------------------


def default(workflow: Any, who: str = "alice") -> Any:
    return instances.default_instance(
        workflow=workflow.id, by=factories.act(who), now=factories.now()
    )


def test_the_default_instance_is_made_once(stored: Any) -> None:
    workflow = stored("workflow", "Deploy")

    first, second = default(workflow), default(workflow, "bob")

    assert first == second
    assert first.status == {"default": True, "execution_visibility": "visibility_org"}


def test_a_hidden_workflow_has_no_default_instance(stored: Any) -> None:
    workflow = stored("workflow", "Deploy")

    with pytest.raises(Exception, match=f"Workflow not found: {workflow.id}"):
        default(workflow, "mallory")
    assert queries.instances_of(workflow.id) == []


@pytest.mark.django_db(transaction=True)
def test_racing_first_runs_make_one_default_instance(cast: Any) -> None:
    for number in range(10):
        workflow = make("workflow", f"Deploy {number}")
        results = factories.race(*[lambda w=workflow: default(w).id] * 4)
        assert len(set(results)) == 1, results
        assert len(queries.instances_of(workflow.id)) == 1


@pytest.mark.django_db(transaction=True)
def test_a_held_instance_is_not_deleted_meanwhile(stored: Any) -> None:
    from django.db import transaction

    from resources.operations import documents
    from stigmer.core.registries import in_use

    instance = make_instance(stored("workflow", "Deploy"))
    started: list[str] = []
    in_use.add("test", lambda kind, id: started.count(id))

    def start() -> bool:
        with transaction.atomic():
            if instances.hold_instance(id=instance.id) is None:
                return False
            started.append(instance.id)
            return True

    def delete() -> bool:
        return (
            documents.delete(
                kind="workflow_instance", id=instance.id, by=factories.act(), now=factories.now()
            )
            is not None
        )

    try:
        held, deleted = factories.race(start, delete)
    finally:
        in_use.remove("test")
    # Either the start won, and the delete is refused, or the delete did, and nothing starts.
    assert (held is True) != (deleted is True), (held, deleted)
    assert SYSTEM.internal


@pytest.mark.parametrize("route", ["visibility", "execution-visibility"])
def test_an_empty_visibility_is_the_default(as_: Any, stored: Any, route: str) -> None:
    instance = make_instance(stored("workflow", "Flow"))
    path = f"/resources/workflow_instance/{instance.id}/{route}"
    as_("alice").put(path, json={"visibility": "visibility_private"})

    answer = as_("alice").put(path, json={"visibility": ""})

    assert answer.status_code == 200
    assert answer.json()["metadata"]["visibility"] == "visibility_org"
    assert answer.json()["status"]["execution_visibility"] == "visibility_org"
