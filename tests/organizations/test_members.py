"""Members: who gives which role, and that an owner is always left."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from django.db import IntegrityError, transaction

from organizations.models import Membership
from organizations.operations import members
from stigmer.core.callers import Caller
from tests.factories import Api, act, join, make_principal, now, race

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]
MEMBERS = "/organizations/acme/members"


def _roles() -> dict[str, str]:
    rows = Membership.objects.filter(organization="acme")
    return {row.principal_id: row.role for row in rows}


def test_adds_with_201_and_changes_with_200(as_: As) -> None:
    alice = as_("alice")

    added = alice.put(f"{MEMBERS}/mallory", {"role": "viewer"})
    changed = alice.put(f"{MEMBERS}/mallory", {"role": "admin"})
    again = alice.put(f"{MEMBERS}/mallory", {"role": "admin"})

    assert (added.status_code, added.json()) == (201, {"principal": "mallory", "role": "viewer"})
    assert (changed.status_code, changed.json()["role"]) == (200, "admin")
    assert again.status_code == 200
    assert _roles()["mallory"] == "admin"


def test_a_role_counts_from_the_next_request_on(as_: As) -> None:
    mallory = as_("mallory")
    assert mallory.get(MEMBERS).status_code == 404

    as_("alice").put(f"{MEMBERS}/mallory", {"role": "viewer"})
    assert mallory.get(MEMBERS).status_code == 200

    as_("alice").delete(f"{MEMBERS}/mallory")
    assert mallory.get(MEMBERS).status_code == 404


def test_one_member_is_read_by_name(as_: As) -> None:
    answer = as_("vera").get(f"{MEMBERS}/bob")

    assert (answer.status_code, answer.json()) == (200, {"principal": "bob", "role": "member"})
    tag = {"If-None-Match": answer["ETag"]}
    assert as_("vera").get(f"{MEMBERS}/bob", headers=tag).status_code == 304


@pytest.mark.parametrize("name", ["mallory", "nobody", "surface:telegram", " bob", "BOB"])
def test_who_is_no_member_is_not_found(as_: As, name: str) -> None:
    answer = as_("vera").get(f"{MEMBERS}/{name}")

    assert (answer.status_code, answer.json()["code"]) == (404, "member_not_found")
    assert as_("mallory").get(f"{MEMBERS}/{name}").json()["code"] == "organization_not_found"


@pytest.mark.parametrize("name", ["github:alice/fork", "ünïcode 東京", "a?b#c%d", "service:x"])
def test_a_name_is_taken_from_the_address_as_it_is(as_: As, name: str) -> None:
    from urllib.parse import quote

    make_principal(name)
    place = f"{MEMBERS}/{quote(name, safe='')}"

    assert as_("alice").put(place, {"role": "member"}).json()["principal"] == name
    assert as_("alice").get(place).json()["principal"] == name
    assert as_("alice").delete(place).status_code == 204


@pytest.mark.parametrize("body", [{}, {"role": "king"}, {"role": ""}, {"role": 1}, {"x": 1}])
def test_refuses_a_wrong_role(as_: As, body: dict[str, object]) -> None:
    before = _roles()

    refused = as_("alice").put(f"{MEMBERS}/mallory", body)

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert _roles() == before


@pytest.mark.parametrize("name", ["nobody", "a%01b", "x" * 300])
def test_an_unknown_principal_is_no_member(as_: As, name: str) -> None:
    alice, before = as_("alice"), _roles()

    put = alice.put(f"{MEMBERS}/{name}", {"role": "member"})
    removed = alice.delete(f"{MEMBERS}/{name}")

    assert (put.status_code, put.json()["code"]) == (404, "member_not_found")
    assert (removed.status_code, removed.json()["code"]) == (404, "member_not_found")
    assert _roles() == before


def test_a_principal_without_membership_cannot_be_removed(as_: As) -> None:
    refused = as_("alice").delete(f"{MEMBERS}/mallory")

    assert (refused.status_code, refused.json()["code"]) == (404, "member_not_found")


def test_a_surface_is_never_a_member(as_: As) -> None:
    before = _roles()

    refused = as_("alice").put(f"{MEMBERS}/surface:telegram", {"role": "viewer"})

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert _roles() == before


def test_an_admin_manages_everybody_but_owners(as_: As) -> None:
    join("acme", "bob", "admin")
    bob = as_("bob")

    assert bob.put(f"{MEMBERS}/vera", {"role": "admin"}).status_code == 200
    assert bob.put(f"{MEMBERS}/mallory", {"role": "member"}).status_code == 201
    assert bob.delete(f"{MEMBERS}/vera").status_code == 204
    before = _roles()

    refused = [
        bob.put(f"{MEMBERS}/mallory", {"role": "owner"}),
        bob.put(f"{MEMBERS}/alice", {"role": "member"}),
        bob.put(f"{MEMBERS}/alice", {"role": "owner"}),
        bob.delete(f"{MEMBERS}/alice"),
        bob.put(f"{MEMBERS}/bob", {"role": "owner"}),
    ]

    assert {(one.status_code, one.json()["code"]) for one in refused} == {
        (403, "permission_denied")
    }
    assert {one.json()["detail"] for one in refused} == {
        "only an owner may grant, change or remove the role owner"
    }
    assert _roles() == before


def test_owners_and_platform_admins_make_and_remove_owners(as_: As) -> None:
    assert as_("alice").put(f"{MEMBERS}/bob", {"role": "owner"}).status_code == 200
    assert as_("bob").delete(f"{MEMBERS}/alice").status_code == 204
    assert as_("root").put(f"{MEMBERS}/vera", {"role": "owner"}).status_code == 200
    assert as_("root").delete(f"{MEMBERS}/bob").status_code == 204
    assert _roles() == {"vera": "owner", "service:dispatcher": "member"}


@pytest.mark.parametrize("who", ["bob", "vera", "service:dispatcher"])
def test_anyone_may_leave(as_: As, who: str) -> None:
    assert as_(who).delete(f"{MEMBERS}/{who}").status_code == 204
    assert who not in _roles()


def test_who_left_sees_nothing_any_more(as_: As) -> None:
    as_("bob").delete(f"{MEMBERS}/bob")

    assert as_("bob").delete(f"{MEMBERS}/bob").json()["code"] == "organization_not_found"


@pytest.mark.parametrize("who", ["alice", "root"])
def test_the_last_owner_stays(as_: As, who: str) -> None:
    caller, before = as_(who), _roles()

    refused = [
        caller.delete(f"{MEMBERS}/alice"),
        caller.put(f"{MEMBERS}/alice", {"role": "admin"}),
    ]

    assert {(one.status_code, one.json()["code"]) for one in refused} == {(409, "last_owner")}
    assert _roles() == before
    assert caller.put(f"{MEMBERS}/alice", {"role": "owner"}).status_code == 200


def test_an_owner_beside_another_leaves(as_: As) -> None:
    join("acme", "bob", "owner")

    assert as_("alice").delete(f"{MEMBERS}/alice").status_code == 204
    assert _roles()["bob"] == "owner"


@pytest.mark.django_db(transaction=True)
def test_of_owners_that_leave_at_once_one_stays(as_: As) -> None:
    names = ["alice", *[f"owner-{n}" for n in range(7)]]
    for name in names[1:]:
        make_principal(name)
        join("acme", name, "owner")
    callers = [(as_(name), name) for name in names]

    answers = race(*[partial(one.delete, f"{MEMBERS}/{name}") for one, name in callers])

    assert sorted(answer.status_code for answer in answers) == [204] * 7 + [409]
    assert list(_roles().values()).count("owner") == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_that_demote_each_other_one_stays(as_: As) -> None:
    join("acme", "bob", "owner")
    alice, bob = as_("alice"), as_("bob")

    race(
        lambda: alice.put(f"{MEMBERS}/bob", {"role": "viewer"}),
        lambda: bob.put(f"{MEMBERS}/alice", {"role": "viewer"}),
    )

    assert list(_roles().values()).count("owner") == 1


@pytest.mark.django_db(transaction=True)
def test_sixteen_additions_of_one_member_make_one_membership(as_: As) -> None:
    alice = as_("alice")

    answers = race(*[lambda: alice.put(f"{MEMBERS}/mallory", {"role": "member"})] * 16)

    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]


def test_the_database_keeps_one_membership_per_pair(cast: dict[str, Caller]) -> None:
    again = {"organization_id": "acme", "principal_id": "bob", "created_at": now()}

    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(role="viewer", **again)
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.filter(principal="bob").update(role="king")

    assert _roles()["bob"] == "member"


def test_nobody_joins_an_organization_that_is_gone(cast: dict[str, Caller]) -> None:
    with pytest.raises(Exception, match="no such organization"):
        members.put_member(
            organization="nowhere", principal="bob", role="member", by=act("root"), now=now()
        )


def test_pages_follow_each_other_by_name(as_: As) -> None:
    vera, names, cursor = as_("vera"), [], ""

    for _ in range(4):
        page = vera.get(f"{MEMBERS}?limit=1&cursor={cursor}").json()
        names += [item["principal"] for item in page["items"]]
        cursor = page["next_cursor"]

    assert names == ["alice", "bob", "service:dispatcher", "vera"]
    assert cursor is None


def test_a_cursor_belongs_to_its_organization(as_: As) -> None:
    cursor = as_("root").get(f"{MEMBERS}?limit=1").json()["next_cursor"]

    refused = as_("root").get(f"/organizations/globex/members?cursor={cursor}")

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
