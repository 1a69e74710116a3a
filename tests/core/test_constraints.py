"""Tests of what PostgreSQL keeps, on the real tables."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from organizations.models import ApiToken, Membership, OrganizationSlug, Principal
from stigmer.core.callers import Caller
from stigmer.core.constraints import refusing
from stigmer.core.errors import AlreadyExists
from tests.factories import make_token, now, open_item

pytestmark = pytest.mark.django_db


def member(principal: str) -> Membership:
    return Membership(
        organization_id="acme", principal_id=principal, role="member", created_at=now()
    )


def constraint_of(error: DatabaseError) -> str | None:
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)


def run(statement: str, *values: object) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.rowcount


def test_a_named_violation_becomes_its_refusal(cast: dict[str, Caller]) -> None:
    with (
        pytest.raises(AlreadyExists, match="bob is a member"),
        refusing(membership_once_per_organization=lambda: AlreadyExists("bob is a member")),
    ):
        member("bob").save(force_insert=True)

    # The savepoint keeps the transaction usable.
    assert Membership.objects.filter(principal="bob").count() == 1


def test_another_violation_passes_as_it_is(cast: dict[str, Caller]) -> None:
    with (
        pytest.raises(IntegrityError) as raised,
        transaction.atomic(),
        refusing(some_other_name=AlreadyExists),
    ):
        member("bob").save(force_insert=True)

    assert constraint_of(raised.value) == "membership_once_per_organization"


@pytest.mark.parametrize(
    ("column", "value"), [("name", "carol"), ("kind", "service"), ("id", "prn_x")]
)
def test_a_frozen_column_keeps_its_value(cast: dict[str, Caller], column: str, value: str) -> None:
    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        run(f"UPDATE organizations_principal SET {column} = %s WHERE name = %s", value, "bob")

    assert constraint_of(raised.value) == "principal_name_is_immutable"
    assert Principal.objects.filter(name="bob", kind="human").exists()


def test_an_unfrozen_column_changes(cast: dict[str, Caller]) -> None:
    Principal.objects.filter(name="bob").update(display_name="Bob")

    assert Principal.objects.get(name="bob").display_name == "Bob"


def test_a_condition_freezes_only_where_it_holds(cast: dict[str, Caller]) -> None:
    slug = OrganizationSlug.objects.filter(slug="globex")
    slug.update(retired_at=now())

    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        slug.update(retired_at=None)

    assert constraint_of(raised.value) == "organization_slug_stays_retired"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE workitems_workitemevent SET actor = 'bob' WHERE work_item = %s",
        "DELETE FROM workitems_workitemevent WHERE work_item = %s",
    ],
)
def test_history_is_append_only(cast: dict[str, Caller], statement: str) -> None:
    item = open_item()

    with pytest.raises(IntegrityError, match="history is append only"), transaction.atomic():
        run(statement, item.id)

    assert run("SELECT 1 FROM workitems_workitemevent WHERE work_item = %s", item.id) == 1


def test_history_goes_with_its_item(cast: dict[str, Caller]) -> None:
    item = open_item()
    run("SET LOCAL stigmer.purge = 'on'")

    assert run("DELETE FROM workitems_workitem WHERE id = %s", item.id) == 1

    assert run("SELECT 1 FROM workitems_workitemevent WHERE work_item = %s", item.id) == 0


def test_a_purge_deletes_history(cast: dict[str, Caller]) -> None:
    item = open_item()

    run("SET LOCAL stigmer.purge = 'on'")

    assert run("DELETE FROM workitems_workitemevent WHERE work_item = %s", item.id) == 1


@pytest.mark.parametrize("value", ["offline", "true", ""])
def test_only_on_purges(cast: dict[str, Caller], value: str) -> None:
    item = open_item()

    run(f"SET LOCAL stigmer.purge = '{value}'")

    with pytest.raises(IntegrityError), transaction.atomic():
        run("DELETE FROM workitems_workitemevent WHERE work_item = %s", item.id)


@pytest.mark.parametrize(("name", "fits"), [("ä" * 32, True), ("ä" * 32 + "x", False)])
def test_a_length_counts_bytes(cast: dict[str, Caller], name: str, fits: bool) -> None:
    make_token("bob")
    token = ApiToken.objects.filter(principal="bob")

    if fits:
        assert token.update(name=name) == 1
        return
    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        token.update(name=name)
    assert constraint_of(raised.value) == "api_token_name_bytes"


def test_a_value_outside_the_known_ones_is_refused(cast: dict[str, Caller]) -> None:
    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        Membership.objects.filter(principal="bob").update(role="emperor")

    assert constraint_of(raised.value) == "membership_role_known"
