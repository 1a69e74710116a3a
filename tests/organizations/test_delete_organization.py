"""Deleting an organization: gates first, then everything at once, and the slug for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import connection, transaction

from organizations.models import Membership, Organization
from organizations.operations import organizations, slugs
from organizations.operations.holding import hold
from stigmer.core.callers import Caller
from stigmer.core.registries import delete_gates
from tests.factories import Api, act, now, race

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


@pytest.fixture
def gate() -> Iterator[Callable[[Callable[[str, datetime], Any]], None]]:
    names: list[str] = []

    def add(answer: Callable[[str, datetime], Any]) -> None:
        names.append(f"test-{len(names)}")
        delete_gates.add(names[-1], answer)

    yield add
    for name in names:
        delete_gates.remove(name)


def _intact() -> bool:
    entry = slugs.find("acme")
    return (
        Organization.objects.filter(slug="acme").exists()
        and Membership.objects.filter(organization="acme").count() == 4
        and entry is not None
        and not entry.retired
    )


def test_deletes_with_its_memberships_and_retires_the_slug(as_: As) -> None:
    alice, bob = as_("alice"), as_("bob")
    claimed = slugs.find("acme")

    assert alice.delete("/organizations/acme").status_code == 204

    entry = slugs.find("acme")
    assert claimed is not None
    assert entry is not None
    assert entry.retired
    assert entry.claimed_at == claimed.claimed_at
    assert not Membership.objects.filter(organization="acme").exists()
    assert bob.get("/whoami").json()["memberships"] == []
    for who in (alice, bob, as_("root")):
        assert who.get("/organizations/acme").json()["code"] == "organization_not_found"
    assert alice.delete("/organizations/acme").status_code == 404


def test_the_slug_is_never_given_again(as_: As) -> None:
    as_("alice").delete("/organizations/acme")

    refused = as_("alice").post("/organizations", {"name": "Acme"})

    assert refused.json()["code"] == "organization_slug_reserved"
    assert refused.json()["details"] == {"slug": "acme", "retired": True}
    assert as_("bob").get("/organization-slugs/acme").json()["state"] == "retired"


def test_open_work_of_any_app_refuses_with_all_counts(as_: As, gate: Any) -> None:
    gate(lambda slug, now: {"work_items": 2})
    gate(lambda slug, now: {"executions": 1})

    refused = as_("alice").delete("/organizations/acme")

    assert (refused.status_code, refused.json()["code"]) == (409, "organization_not_empty")
    assert refused.json()["details"] == {"work_items": 2, "executions": 1}
    assert _intact()


def test_gates_run_in_order_before_any_write_and_again_next_time(as_: As, gate: Any) -> None:
    seen: list[tuple[str, str, bool]] = []

    def refuse_once(slug: str, now: datetime) -> None:
        seen.append(("first", slug, _intact()))

    def second(slug: str, now: datetime) -> dict[str, int]:
        seen.append(("second", slug, _intact()))
        return {"work_items": 1 if len(seen) == 2 else 0}

    gate(refuse_once)
    gate(second)
    alice = as_("alice")

    assert alice.delete("/organizations/acme").status_code == 409
    assert alice.delete("/organizations/acme").status_code == 204
    assert seen == [("first", "acme", True), ("second", "acme", True)] * 2


def test_what_a_gate_wrote_is_undone_when_a_later_gate_fails(
    cast: dict[str, Caller], gate: Any
) -> None:
    def remove(slug: str, now: datetime) -> None:
        Membership.objects.filter(organization=slug).delete()

    def fail(slug: str, now: datetime) -> None:
        raise LookupError

    gate(remove)
    gate(fail)

    with pytest.raises(LookupError), transaction.atomic():
        organizations.delete_organization(slug="acme", by=act("alice"), now=now())

    assert _intact()


def test_only_an_owner_deletes(as_: As) -> None:
    refused = as_("bob").delete("/organizations/acme")

    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert refused.json()["detail"] == "only an owner may delete this organization"
    assert as_("mallory").delete("/organizations/acme").status_code == 404
    assert _intact()


def test_a_platform_admin_deletes(as_: As) -> None:
    assert as_("root").delete("/organizations/acme").status_code == 204


def test_holds_only_what_lives(cast: dict[str, Caller]) -> None:
    assert hold("acme")
    assert not hold("nowhere")

    organizations.delete_organization(slug="acme", by=act("alice"), now=now())

    assert not hold("acme")


@pytest.mark.django_db(transaction=True)
def test_of_a_holder_and_a_delete_one_waits_for_the_other(cast: dict[str, Caller]) -> None:
    def create_inside() -> str:
        with transaction.atomic():
            if not hold("acme"):
                return "gone"
            # What a create inside does: if the delete did not wait, this row would outlive it.
            connection.cursor().execute("SELECT pg_sleep(0.3)")
            Membership.objects.create(
                organization_id="acme", principal_id="mallory", role="viewer", created_at=now()
            )
            return "created"

    def delete() -> str:
        connection.cursor().execute("SELECT pg_sleep(0.1)")
        by = act("root")
        organizations.delete_organization(slug="acme", by=by, now=now())
        return "deleted"

    assert race(create_inside, delete) == ["created", "deleted"]
    assert not Membership.objects.filter(organization="acme").exists()


@pytest.mark.django_db(transaction=True)
def test_holders_do_not_wait_for_each_other(cast: dict[str, Caller]) -> None:
    def held() -> bool:
        with transaction.atomic():
            connection.cursor().execute("SET LOCAL lock_timeout = '200ms'")
            found = hold("acme")
            connection.cursor().execute("SELECT pg_sleep(0.4)")
            return found

    assert race(held, held, held) == [True] * 3


@pytest.mark.django_db(transaction=True)
def test_of_sixteen_deletes_one_wins(as_: As) -> None:
    root = as_("root")

    answers = race(*[lambda: root.delete("/organizations/acme")] * 16)

    assert sorted(answer.status_code for answer in answers) == [204] + [404] * 15


@pytest.mark.django_db(transaction=True)
def test_a_create_and_a_delete_of_one_slug_race_to_one_outcome(as_: As) -> None:
    root, bob = as_("root"), as_("bob")

    gone, *lost = race(
        lambda: root.delete("/organizations/acme"),
        *[lambda: bob.post("/organizations", {"name": "Acme"})] * 15,
    )

    assert gone.status_code == 204
    assert {answer.status_code for answer in lost} == {409}
    for answer in lost:
        problem = answer.json()
        retired = problem["details"]["retired"]
        assert problem["code"] == ("organization_slug_reserved" if retired else "already_exists")
    entry = slugs.find("acme")
    assert entry is not None
    assert entry.retired
