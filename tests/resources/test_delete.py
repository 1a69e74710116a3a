"""Delete: what goes, what stays, and what is refused."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from organizations.errors import OrganizationNotEmpty, OrganizationNotFound
from organizations.operations import organizations
from resources.errors import InUse
from resources.kinds import KINDS, STORED, TRUSTED
from resources.models import Resource, ResourceVersion
from resources.operations import bulk, documents, instances, versions
from resources.queries import documents as queries
from stigmer.core.callers import system_act
from stigmer.core.errors import PermissionDenied
from stigmer.core.registries import delete_gates, in_use
from tests import factories
from tests.resources.conftest import SPECS, body, make, make_instance

pytestmark = pytest.mark.django_db


@pytest.fixture
def running() -> Any:
    """Ids that live executions use."""
    used: dict[str, int] = {}
    in_use.add("test", lambda kind, id: used.get(id, 0))
    yield used
    in_use.remove("test")


def delete(made: Any, by: str = "alice") -> Any:
    return documents.delete(kind=made.kind, id=made.id, by=factories.act(by), now=factories.now())


def test_a_delete_answers_the_document(as_: Any, stored: Any) -> None:
    made, alice = stored("team", "Blue"), as_("alice")
    path = f"/resources/team/{made.id}"
    shown = alice.get(path).json()

    answer = alice.delete(path)

    assert (answer.status_code, answer.json()) == (200, shown)
    gone = alice.delete(path)
    assert (gone.status_code, gone.json()["code"]) == (404, "not_found")
    assert gone.json()["detail"] == f"resource not found: team/{made.id}"


def test_the_service_takes_a_missing_one_for_done(stored: Any) -> None:
    made = stored("team", "Blue")

    assert delete(made) == made
    assert delete(made) is None


def test_nobody_deletes_what_they_cannot_see_or_may_not_change(as_: Any, stored: Any) -> None:
    hidden = stored("team", "Mine", visibility="visibility_private")
    public = stored("team", "Everyone's", visibility="visibility_public")

    assert delete(hidden, by="bob") is None
    assert as_("vera").delete(f"/resources/team/{public.id}").status_code == 403
    assert as_("mallory").delete(f"/resources/team/{public.id}").status_code == 403
    assert as_("mallory").delete(f"/resources/team/{hidden.id}").status_code == 404
    with pytest.raises(PermissionDenied):
        delete(public, by="mallory")
    assert Resource.objects.count() == 2


def test_versions_go_with_their_document(stored: Any) -> None:
    made, other = stored("skill", "Greeting"), stored("skill", "Parting")

    delete(made)

    assert [v.resource_id for v in ResourceVersion.objects.all()] == [other.id]


def test_a_workflow_with_instances_stays(as_: Any, stored: Any) -> None:
    workflow = stored("workflow", "Deploy")
    make_instance(workflow, "One")
    make_instance(workflow, "Two")

    answer = as_("alice").delete(f"/resources/workflow/{workflow.id}")

    assert (answer.status_code, answer.json()["code"]) == (409, "in_use")
    assert answer.json()["details"] == {"count": 2}
    assert Resource.objects.count() == 3


def test_its_default_instance_goes_with_a_workflow(stored: Any) -> None:
    workflow = stored("workflow", "Deploy")
    own = instances.default_instance(workflow=workflow.id, by=factories.act(), now=factories.now())

    assert delete(workflow) == workflow
    assert queries.find("workflow_instance", own.id) is None
    assert not ResourceVersion.objects.exists()


def test_live_executions_keep_an_instance(stored: Any, running: Any) -> None:
    instance = make_instance(stored("workflow", "Deploy"))
    running[instance.id] = 3

    with pytest.raises(InUse) as refused:
        delete(instance)

    assert refused.value.facts == {"count": 3}
    assert queries.find("workflow_instance", instance.id) == instance
    running.clear()
    assert delete(instance) == instance


def test_live_executions_of_the_default_instance_keep_the_workflow(
    stored: Any, running: Any
) -> None:
    workflow = stored("workflow", "Deploy")
    own = instances.default_instance(workflow=workflow.id, by=factories.act(), now=factories.now())
    running[own.id] = 1

    with pytest.raises(InUse):
        delete(workflow)

    assert Resource.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_a_racing_instance_and_delete_of_its_workflow_one_wins(cast: Any) -> None:
    for number in range(15):
        workflow = make("workflow", f"Deploy {number}")
        results = factories.race(
            lambda w=workflow: delete(w),
            lambda w=workflow, n=number: make_instance(w, f"Nightly {n}"),
        )
        stands = queries.find("workflow", workflow.id) is not None
        orphans = queries.instances_of(workflow.id)
        assert stands == bool(orphans), results


# Bulk ---------------------------------------------------------------------------------------------


def test_deletes_a_kind_and_counts(stored: Any) -> None:
    for number in range(3):
        stored("skill", f"Skill {number}")
    kept = stored("team", "Blue")

    assert bulk.delete_by_kind(kind="skill", by=system_act()) == 3
    assert bulk.delete_by_kind(kind="skill", by=system_act()) == 0

    assert [row.pk for row in Resource.objects.all()] == [kept.id]
    assert not ResourceVersion.objects.exists()


def test_deletes_by_id_prefix_literally(stored: Any) -> None:
    first, second = stored("team", "Blue"), stored("team", "Red")

    for wild in ("tm%", "t__", "%", "_", "tm\\_", ""):
        assert bulk.delete_by_id_prefix(prefix=wild, by=system_act()) == 0
    assert bulk.delete_by_id_prefix(prefix=first.id, by=system_act()) == 1
    assert bulk.delete_by_id_prefix(prefix="tm_", by=system_act()) == 1
    assert queries.find("team", second.id) is None


def test_only_a_platform_admin_deletes_in_bulk(stored: Any) -> None:
    stored("team", "Blue")

    for call in (
        lambda: bulk.delete_by_kind(kind="team", by=factories.act("alice")),
        lambda: bulk.delete_by_id_prefix(prefix="tm_", by=factories.act("alice")),
    ):
        with pytest.raises(PermissionDenied):
            call()
    assert Resource.objects.count() == 1


# With the organization ----------------------------------------------------------------------------


def one_of_each() -> None:
    for kind in STORED:
        spec = SPECS.get(kind)
        if kind == "workflow_instance":
            workflow = Resource.objects.get(kind="workflow")
            spec = {"workflow_id": workflow.pk}
        make(kind, f"The {kind}", spec=spec, visibility="visibility_public")


def end(organization: str = "acme") -> None:
    organizations.delete_organization(
        slug=organization, by=factories.act("alice"), now=factories.now()
    )


def test_what_grants_trust_goes_in_the_delete_of_the_organization(stored: Any) -> None:
    one_of_each()

    end()

    left = set(Resource.objects.values_list("kind", flat=True))
    assert left == set(STORED) - set(TRUSTED)


@pytest.mark.django_db(transaction=True)
def test_of_a_racing_create_and_delete_of_the_organization_one_wins(cast: Any) -> None:
    for number in range(10):
        slug = factories.make_organization(f"race-{number}", "alice")
        by = factories.act()

        def remove(slug: str = slug, by: Any = by) -> bool:
            organizations.delete_organization(slug=slug, by=by, now=factories.now())
            return True

        def create(slug: str = slug, by: Any = by) -> bool:
            documents.create(
                kind="schedule", document=body("schedule", "Nightly", org=slug), by=by,
                now=factories.now(),
            )  # fmt: skip
            return True

        results = factories.race(remove, create)
        # What acts by itself never outlives its organization.
        assert results[0] is True, results
        assert not Resource.objects.filter(organization=slug).exists(), results


@pytest.mark.django_db(transaction=True)
def test_a_create_waits_for_a_delete_of_its_organization(cast: Any) -> None:
    by, gone, create_began = factories.act(), threading.Event(), threading.Event()

    def slow(organization: str, now: Any) -> dict[str, int]:
        gone.set()
        assert create_began.wait(10)
        time.sleep(0.3)
        return {}

    def create() -> Any:
        assert gone.wait(10)
        create_began.set()
        return documents.create(
            kind="team", document=body("team", "Blue"), by=by, now=factories.now()
        )

    delete_gates.add("test", slow)
    try:
        _, created = factories.race(end, create)
    finally:
        delete_gates.remove("test")

    assert isinstance(created, OrganizationNotFound), created
    assert not Resource.objects.exists()


def test_a_refused_delete_of_the_organization_leaves_everything(stored: Any) -> None:
    one_of_each()

    def refuse(organization: str, now: Any) -> dict[str, int]:
        return {"work_items": 1}

    delete_gates.add("test", refuse)
    try:
        with pytest.raises(OrganizationNotEmpty):
            end()
    finally:
        delete_gates.remove("test")

    assert Resource.objects.count() == len(STORED)


def test_what_a_deleted_organization_left_is_invisible_and_then_purged(as_: Any) -> None:
    one_of_each()
    kept = make("team", "Globex team", by="mallory", org="globex")
    public = Resource.objects.get(kind="agent")
    end()

    for who in ("alice", "mallory", "root"):
        api = as_(who)
        assert api.get(f"/resources/agent/{public.pk}").status_code == 404
        assert api.get("/resources/agent").json()["items"] == []
        assert api.get("/resources/agent/by-slug/acme/the-agent").status_code == 404
        counts = api.get("/search").json()["counts_by_kind"]
        assert not set(counts) & {"agent", "skill", "workflow"}
    assert bulk.left_by_deleted(factories.now()) == len(STORED) - len(TRUSTED)
    assert bulk.purge(factories.now(), 10) == 10
    assert bulk.purge(factories.now(), 1000) == len(STORED) - len(TRUSTED) - 10
    assert bulk.purge(factories.now(), 1000) == 0
    assert [row.pk for row in Resource.objects.all()] == [kept.id]
    assert not ResourceVersion.objects.exists()


def test_delete_versions_is_repeatable(stored: Any) -> None:
    made = stored("skill", "Greeting")

    assert versions.delete_versions(kind="skill", id=made.id) == 1
    assert versions.delete_versions(kind="skill", id=made.id) == 0
    assert KINDS["skill"].versioned
