"""Changing an organization, and reading what was changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection

from organizations.models import Organization
from organizations.operations import organizations
from stigmer.core.callers import Caller
from stigmer.core.errors import PreconditionFailed
from tests.factories import Api, act, join, now, race

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


def _row() -> Any:
    return Organization.objects.filter(slug="acme").values().get()


def test_changes_name_and_description_and_never_the_slug(as_: As) -> None:
    alice = as_("alice")
    before = alice.get("/organizations/acme").json()

    changed = alice.patch("/organizations/acme", {"name": "Acme 2", "description": "More"})

    after = changed.json()
    assert changed.status_code == 200
    assert after == before | {
        "name": "Acme 2",
        "description": "More",
        "updated_at": after["updated_at"],
    }
    assert after["updated_at"] > before["updated_at"]
    assert alice.get("/organizations/acme").json() == after


def test_an_empty_description_clears(as_: As) -> None:
    alice = as_("alice")
    alice.patch("/organizations/acme", {"description": "Something"})

    changed = alice.patch("/organizations/acme", {"description": ""})

    assert changed.json()["description"] == ""
    assert _row()["description"] == ""


@pytest.mark.parametrize("body", [{}, {"name": "Acme"}, {"name": ""}])
def test_a_change_of_nothing_changes_nothing(as_: As, body: dict[str, str]) -> None:
    alice, before = as_("alice"), _row()

    assert alice.patch("/organizations/acme", body).status_code == 200
    assert _row() == before


@pytest.mark.parametrize(
    "body", [{"slug": "other"}, {"name": 1}, {"description": None}, {"description": "x" * 501}, []]
)
def test_refuses_a_wrong_change(as_: As, body: Any) -> None:
    alice, before = as_("alice"), _row()

    refused = alice.patch("/organizations/acme", body)

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert _row() == before


def test_an_admin_changes_and_a_member_does_not(as_: As) -> None:
    join("acme", "bob", "admin")
    assert as_("bob").patch("/organizations/acme", {"name": "B"}).status_code == 200
    before = _row()

    refused = as_("vera").patch("/organizations/acme", body=b"{")

    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert refused.json()["detail"] == "only an admin or an owner may change this organization"
    assert _row() == before


def test_if_match_takes_what_the_caller_has_seen_and_nothing_else(as_: As) -> None:
    alice = as_("alice")
    seen = alice.get("/organizations/acme")["ETag"]

    changed = alice.patch("/organizations/acme", {"name": "Two"}, headers={"If-Match": seen})
    refused = alice.patch("/organizations/acme", {"name": "Three"}, headers={"If-Match": seen})

    assert changed.status_code == 200
    assert changed["ETag"] == alice.get("/organizations/acme")["ETag"] != seen
    assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    assert _row()["name"] == "Two"


def test_a_delete_heeds_if_match(as_: As) -> None:
    refused = as_("alice").delete("/organizations/acme", headers={"If-Match": '"old"'})

    assert refused.status_code == 412
    assert _row()["slug_id"] == "acme"


def test_if_none_match_answers_that_nothing_is_new(as_: As) -> None:
    alice = as_("alice")
    seen = alice.get("/organizations/acme")

    again = alice.get("/organizations/acme", headers={"If-None-Match": seen["ETag"]})

    assert (again.status_code, again.content, again["ETag"]) == (304, b"", seen["ETag"])
    alice.patch("/organizations/acme", {"name": "New"})
    assert (
        alice.get("/organizations/acme", headers={"If-None-Match": seen["ETag"]}).status_code == 200
    )


@pytest.mark.django_db(transaction=True)
def test_of_sixteen_changes_of_one_version_one_is_made(as_: As) -> None:
    alice = as_("alice")
    seen = {"If-Match": alice.get("/organizations/acme")["ETag"]}

    answers = race(
        *[
            partial(alice.patch, "/organizations/acme", {"name": f"N{n}"}, headers=seen)
            for n in range(16)
        ]
    )

    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 15
    won = next(answer.json()["name"] for answer in answers if answer.status_code == 200)
    assert _row()["name"] == won


@pytest.mark.django_db(transaction=True)
def test_what_was_expected_is_looked_at_under_the_lock(cast: dict[str, Caller]) -> None:
    def slowly_the_same(row: Any) -> bool:
        same = row.name == "Acme"
        connection.cursor().execute("SELECT pg_sleep(0.2)")
        return bool(same)

    def change(n: int) -> str:
        changed = organizations.update_organization(
            slug="acme", name=f"N{n}", expected=slowly_the_same, by=act(), now=now()
        )
        return changed.name

    results = race(*[partial(change, n) for n in range(4)])

    assert [type(result) for result in results].count(PreconditionFailed) == 3
    assert _row()["name"] in results
