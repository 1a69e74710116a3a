"""Creating organizations: the ledger decides, one of many wins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.test.utils import CaptureQueriesContext

from organizations.models import Membership, Organization, OrganizationSlug
from organizations.operations import organizations, slugs
from stigmer.core.callers import Caller
from stigmer.core.errors import AlreadyExists
from tests.factories import Api, act, make_organization, now, race

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


def _counts() -> tuple[int, int, int]:
    return (
        OrganizationSlug.objects.count(),
        Organization.objects.count(),
        Membership.objects.count(),
    )


def test_the_creator_owns_what_it_created(as_: As) -> None:
    made = as_("bob").post("/organizations", {"name": "Bob's Bikes", "description": "Two\nwheels"})

    body = made.json()
    assert made.status_code == 201
    assert {k: body[k] for k in ("id", "slug", "name", "description")} == {
        "id": "bob-s-bikes",
        "slug": "bob-s-bikes",
        "name": "Bob's Bikes",
        "description": "Two\nwheels",
    }
    assert body["created_at"] == body["updated_at"]
    assert body["created_at"].endswith("Z")
    assert as_("bob").get("/organizations/bob-s-bikes").json() == body
    assert as_("bob").get("/organizations/bob-s-bikes/members").json()["items"] == [
        {"principal": "bob", "role": "owner"}
    ]
    assert slugs.find("bob-s-bikes") is not None


def test_a_service_creates_too(as_: As) -> None:
    made = as_("service:dispatcher").post("/organizations", {"name": "Fleet", "slug": "fleet-7"})

    assert (made.status_code, made.json()["slug"]) == (201, "fleet-7")


def test_an_empty_slug_is_an_absent_one(as_: As) -> None:
    made = as_("bob").post("/organizations", {"name": "Bikes", "slug": "", "description": ""})

    assert (made.status_code, made.json()["slug"]) == (201, "bikes")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/name"),
        ({"name": ""}, "/name"),
        ({"name": " padded"}, "/name"),
        ({"name": "two\nlines"}, "/name"),
        ({"name": "é" * 129}, "/name"),
        ({"name": "東京"}, "/name"),
        ({"name": 7}, "/name"),
        ({"name": None}, "/name"),
        ({"name": "A", "slug": "ok1"} | {"slug": None}, "/slug"),
        ({"name": "Fine", "slug": "No"}, "/slug"),
        ({"name": "Fine", "slug": "a" * 64}, "/slug"),
        ({"name": "Fine", "description": "é" * 251}, "/description"),
        ({"name": "Fine", "extra": 1}, "/extra"),
    ],
)
def test_refuses_a_wrong_body(as_: As, body: dict[str, Any], pointer: str) -> None:
    bob, before = as_("bob"), _counts()

    refused = bob.post("/organizations", body)

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert refused.json()["errors"][0]["pointer"] == pointer
    assert _counts() == before


def test_refuses_a_body_that_names_who_acts(as_: As) -> None:
    refused = as_("bob").post("/organizations", {"name": "", "owner": "alice"})

    assert (refused.status_code, refused.json()["code"]) == (400, "actor_not_accepted")


@pytest.mark.parametrize(
    ("slug", "code", "retired"),
    [
        ("admin", "organization_slug_reserved", False),
        ("gone", "organization_slug_reserved", True),
        ("acme", "already_exists", False),
        ("claimed", "already_exists", False),
    ],
)
def test_refuses_a_taken_slug_by_its_ledger(as_: As, slug: str, code: str, retired: bool) -> None:
    slugs.retire(slug="gone", now=now())
    slugs.claim(slug="claimed", now=now())
    bob, before = as_("bob"), _counts()

    refused = bob.post("/organizations", {"name": "Fine", "slug": slug})

    assert (refused.status_code, refused.json()["code"]) == (409, code)
    assert refused.json()["details"] == {"slug": slug, "retired": retired}
    assert _counts() == before


def test_a_derived_slug_is_refused_as_a_chosen_one(as_: As) -> None:
    refused = as_("bob").post("/organizations", {"name": "ACME!"})

    assert refused.json()["code"] == "already_exists"
    assert refused.json()["details"] == {"slug": "acme", "retired": False}


def test_a_surface_creates_nothing(as_: As) -> None:
    telegram, before = as_("surface:telegram"), _counts()

    refused = telegram.post("/organizations", body=b"not even JSON")

    assert (refused.status_code, refused.json()["code"]) == (403, "surface_route_not_allowed")
    assert _counts() == before


def test_a_failed_create_frees_its_claim(cast: dict[str, Caller]) -> None:
    def create_and_fail() -> None:
        with transaction.atomic():
            make_organization("fresh", "alice")
            raise LookupError

    with pytest.raises(LookupError):
        create_and_fail()

    assert slugs.find("fresh") is None
    assert make_organization("fresh", "alice") == "fresh"


@pytest.mark.django_db(transaction=True)
def test_of_sixteen_creates_of_one_slug_one_wins(as_: As) -> None:
    callers = [as_("bob"), as_("mallory")] * 8
    before = _counts()

    answers = race(*[partial(one.post, "/organizations", {"name": "Wanted"}) for one in callers])

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 15
    lost = [answer.json() for answer in answers if answer.status_code == 409]
    assert {one["code"] for one in lost} == {"already_exists"}
    assert all(one["details"] == {"slug": "wanted", "retired": False} for one in lost)
    assert _counts() == tuple(count + 1 for count in before)


@pytest.mark.django_db(transaction=True)
def test_creates_of_a_retired_slug_all_lose(as_: As) -> None:
    slugs.retire(slug="wanted", now=now())
    callers, before = [as_("bob"), as_("mallory")] * 8, _counts()

    answers = race(*[partial(one.post, "/organizations", {"name": "Wanted"}) for one in callers])

    assert {(a.status_code, a.json()["code"]) for a in answers} == {
        (409, "organization_slug_reserved")
    }
    assert _counts() == before


def test_the_unknown_owner_of_a_command_is_refused(cast: dict[str, Caller]) -> None:
    before = _counts()

    with pytest.raises(Exception, match="There is no such member"):
        organizations.create_organization(
            name="X y", slug="xy", owner="nobody", by=act("root"), now=now()
        )

    assert _counts() == before


def test_a_create_is_four_statements(
    cast: dict[str, Caller], django_assert_num_queries: Callable[[int], CaptureQueriesContext]
) -> None:
    by = act("alice")

    with django_assert_num_queries(6):  # two of them the test's savepoint
        organizations.create_organization(name="Four", slug="four", owner="alice", by=by, now=now())


def test_a_lost_create_says_who_holds_the_slug(cast: dict[str, Caller]) -> None:
    with pytest.raises(AlreadyExists) as caught:
        make_organization("acme", "bob")

    assert caught.value.facts == {"slug": "acme", "retired": False}
