"""What the operations decide by themselves, whoever calls them: console, commands, tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from organizations.errors import OrganizationNotFound
from organizations.operations import organizations
from stigmer.core.callers import Act
from stigmer.core.errors import PermissionDenied
from tests import factories
from tests.workitems.world import nothing_written, rows
from workitems import operations
from workitems.errors import StateVersionConflict, TenantForbidden, WorkItemNotFound
from workitems.operations import creating, writing
from workitems.states import Engine, Phase, Visibility

pytestmark = pytest.mark.django_db
RUN = operations.Run(Engine.ARGO, "r")


def create(by: Act, tenant: str = "acme", external_key: str = "", **facts: Any) -> Any:
    return operations.create_work_item(
        tenant=tenant, title="x", external_key=external_key, visibility=Visibility.TENANT,
        by=by, now=factories.now(), facts=facts,
    )  # fmt: skip


MUTATIONS: dict[str, Callable[[str, Act], Any]] = {
    "transition": lambda item, by: operations.transition(
        item=item, action="complete", expected_state_version=1, by=by, now=factories.now(),
        facts={},
    ),
    "resume": lambda item, by: operations.resume(
        item=item, expected_state_version=1, run=RUN, resumed_from=None, by=by,
        now=factories.now(), facts={},
    ),
    "attach": lambda item, by: operations.attach_execution(
        item=item, run=RUN, phase=Phase.RUNNING, by=by, now=factories.now(), facts={}
    ),
    "intent": lambda item, by: operations.append_intent(
        item=item, text="x", params=None, by=by, now=factories.now(), facts={}
    ),
    "link": lambda item, by: operations.link_surface(
        item=item, surface="cli", external_id="c", actor_external_id="", by=by,
        now=factories.now(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
@pytest.mark.parametrize(
    ("who", "refusal"), [("vera", PermissionDenied), ("mallory", WorkItemNotFound)]
)
def test_every_mutation_asks_the_authorizer(
    cast: Any, name: str, who: str, refusal: type[Exception]
) -> None:
    item = factories.open_item()
    with nothing_written(), pytest.raises(refusal):
        MUTATIONS[name](item.id, factories.act(who))


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_knows_what_is_private(cast: Any, name: str) -> None:
    item = factories.open_item(visibility="private")
    with nothing_written(), pytest.raises(WorkItemNotFound):
        MUTATIONS[name](item.id, factories.act("bob"))


@pytest.mark.parametrize(
    ("who", "refusal"), [("vera", PermissionDenied), ("mallory", TenantForbidden)]
)
def test_a_create_asks_the_authorizer(cast: Any, who: str, refusal: type[Exception]) -> None:
    with nothing_written(), pytest.raises(refusal):
        create(factories.act(who))


def test_a_create_by_who_was_a_member_meets_the_delete(cast: Any) -> None:
    factories.make_organization("gone", "alice")
    member, admin = factories.act("alice"), factories.act("root")
    organizations.delete_organization(slug="gone", by=member, now=factories.now())
    with nothing_written():
        with pytest.raises(TenantForbidden):
            create(member, "gone")
        with pytest.raises(OrganizationNotFound):
            create(admin, "gone")


# Looks that have to be repeated -------------------------------------------------------------------


def test_a_receipt_that_vanished_frees_its_key(cast: Any, monkeypatch: Any) -> None:
    claim, calls = creating._claim, []

    def first_time_lost(*args: Any) -> bool:
        calls.append(1)
        return len(calls) > 1 and claim(*args)

    monkeypatch.setattr(creating, "_claim", first_time_lost)

    assert create(factories.act(key="k")).created
    assert rows("SELECT count(*) FROM workitems_createrequest") == [(1,)]


def test_work_that_ended_between_two_looks_is_looked_for_again(cast: Any, monkeypatch: Any) -> None:
    insert, calls = creating._insert, []

    def first_time_in_the_way(*args: Any, **more: Any) -> bool:
        calls.append(1)
        return len(calls) > 1 and insert(*args, **more)

    monkeypatch.setattr(creating, "_insert", first_time_in_the_way)

    made = create(factories.act(), external_key="door-1")

    assert (made.created, len(calls)) == (True, 2)


def test_a_version_that_moved_under_the_lock_is_a_conflict(cast: Any, monkeypatch: Any) -> None:
    item = factories.open_item()
    lock = writing.lock

    def moved_meanwhile(found: str, *, by: Act) -> Any:
        under = lock(found, by=by)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE workitems_workitem SET state_version = 2")
        return under

    monkeypatch.setattr("workitems.operations.transitions.lock", moved_meanwhile)
    with nothing_written(), pytest.raises(StateVersionConflict):
        MUTATIONS["transition"](item.id, factories.act())


# What is locked, and what is not ------------------------------------------------------------------


def _elsewhere(sql: str, *params: Any) -> Any:
    """What this statement raises in another connection, or None; no lock is awaited for long."""

    def run() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '300ms'")
            cursor.execute(sql, params)

    return factories.race(run)[0]


@pytest.mark.django_db(transaction=True)
def test_open_work_that_a_create_found_cannot_end_before_its_commit(cast: Any) -> None:
    held = factories.open_item(external_key="door-1")
    end = "SELECT 1 FROM workitems_workitem WHERE id = %s FOR NO KEY UPDATE"
    with transaction.atomic():
        assert not create(factories.act("bob"), external_key="door-1").created
        during = _elsewhere(end, held.id)

    assert isinstance(during, OperationalError)
    assert _elsewhere(end, held.id) is None


@pytest.mark.django_db(transaction=True)
def test_an_organization_that_a_create_holds_is_not_deleted(cast: Any) -> None:
    by = factories.act()
    with transaction.atomic():
        create(by)
        during = _elsewhere("SELECT 1 FROM organizations_organization FOR UPDATE")

    assert isinstance(during, OperationalError)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["transition", "attach", "intent", "link"])
def test_a_mutation_locks_its_item_and_no_other(cast: Any, name: str) -> None:
    item, other = factories.open_item(), factories.open_item()
    by = factories.act()
    look = "SELECT 1 FROM workitems_workitem WHERE id = %s FOR NO KEY UPDATE"
    with transaction.atomic():
        MUTATIONS[name](item.id, by)
        own, others = _elsewhere(look, item.id), _elsewhere(look, other.id)
        child = _elsewhere("SELECT 1 FROM workitems_workitem WHERE id = %s FOR KEY SHARE", item.id)

    assert isinstance(own, OperationalError)
    assert (others, child) == (None, None)


@pytest.mark.django_db(transaction=True)
def test_a_successor_is_not_locked(cast: Any) -> None:
    item, successor = factories.open_item(), factories.open_item()
    look = "SELECT 1 FROM workitems_workitem WHERE id = %s FOR UPDATE"
    with transaction.atomic():
        factories.moved_item(item, "supersede", superseded_by=successor.id)
        assert _elsewhere(look, successor.id) is None
