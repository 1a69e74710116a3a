"""Listing organizations, asking for slugs, and who one is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test.utils import CaptureQueriesContext

from organizations import queries
from organizations.operations import slugs
from stigmer.core.callers import Caller
from tests.factories import Api, join, make_organization, now

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


def _slugs(answer: Any) -> list[str]:
    return [item["slug"] for item in answer.json()["items"]]


def test_a_principal_lists_its_own_and_an_admin_every_organization(as_: As) -> None:
    join("globex", "bob", "viewer")

    assert _slugs(as_("alice").get("/organizations")) == ["acme"]
    assert _slugs(as_("bob").get("/organizations")) == ["globex", "acme"]
    assert _slugs(as_("root").get("/organizations")) == ["globex", "acme"]


def test_without_memberships_the_list_is_empty(as_: As, cast: dict[str, Caller]) -> None:
    as_("bob").delete("/organizations/acme/members/bob")

    assert as_("bob").get("/organizations").json() == {
        "items": [],
        "next_cursor": None,
        "schema_version": "stigmer/v1",
    }


def test_without_a_read_scope_nothing_narrows(as_: As, settings: Any) -> None:
    settings.STIGMER_LIST_READ_SCOPE = ""

    assert _slugs(as_("bob").get("/organizations")) == ["globex", "acme"]


def test_pages_follow_each_other_without_gap_or_repetition(as_: As) -> None:
    made = [make_organization(f"org-{n:02}", "alice") for n in range(9)]
    alice, seen, cursor = as_("alice"), [], ""

    for _ in range(5):
        page = alice.get(f"/organizations?limit=2&cursor={cursor}")
        seen += _slugs(page)
        cursor = page.json()["next_cursor"]

    assert seen == [*reversed(made), "acme"]
    assert cursor is None


def test_equal_times_are_ordered_by_slug(as_: As) -> None:
    from organizations.models import Organization

    Organization.objects.update(created_at=now())
    root = as_("root")

    first = root.get("/organizations?limit=1").json()
    second = root.get(f"/organizations?limit=1&cursor={first['next_cursor']}").json()

    assert [page["items"][0]["slug"] for page in (first, second)] == ["acme", "globex"]
    assert second["next_cursor"] is None


@pytest.mark.parametrize("limit", ["0", "501", "-1", "1.0", "x", "", "%D9%A3", "+5"])
def test_refuses_another_limit(as_: As, limit: str) -> None:
    refused = as_("alice").get(f"/organizations?limit={limit}")

    assert refused.status_code == 400
    assert refused.json()["detail"] == "limit must be an integer from 1 to 500"


@pytest.mark.parametrize("query", ["cursor=abc", "org=acme", "limit=1&limit=2", "limit[]=1"])
def test_refuses_another_query(as_: As, query: str) -> None:
    refused = as_("alice").get(f"/organizations?{query}")

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")


def test_a_list_is_one_statement_beside_authentication(
    cast: dict[str, Caller], django_assert_num_queries: Callable[[int], CaptureQueriesContext]
) -> None:
    with django_assert_num_queries(1):
        assert [o.slug_id for o in queries.organizations(cast["alice"])] == ["acme"]
    with django_assert_num_queries(1):
        assert queries.organization(cast["alice"], "acme").name == "Acme"
    with django_assert_num_queries(1):
        assert len(queries.members(cast["alice"], "acme")) == 4


@pytest.mark.parametrize(
    ("slug", "state"),
    [("acme", "held"), ("flight", "held"), ("gone", "retired"), ("api", "reserved"),
     ("free", "available")],
)  # fmt: skip
def test_tells_what_a_slug_is_and_nothing_else(as_: As, slug: str, state: str) -> None:
    slugs.claim(slug="flight", now=now())
    slugs.retire(slug="gone", now=now())

    answer = as_("mallory").get(f"/organization-slugs/{slug}")

    assert (answer.status_code, answer.json()) == (200, {"slug": slug, "state": state})


@pytest.mark.parametrize("slug", ["A", "Acme", "1a", "a_b", "a%01b", "x" * 64])
def test_an_ill_formed_slug_is_no_question(as_: As, slug: str) -> None:
    refused = as_("mallory").get(f"/organization-slugs/{slug}")

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")


def test_whoami_shows_the_memberships_of_now(as_: As, cast: dict[str, Caller]) -> None:
    join("globex", "bob", "admin")

    assert as_("bob").get("/whoami").json() == {
        "principal": "bob",
        "principal_id": cast["bob"].id,
        "kind": "human",
        "platform_admin": False,
        "memberships": [
            {"organization": "acme", "role": "member"},
            {"organization": "globex", "role": "admin"},
        ],
    }
    assert as_("root").get("/whoami").json()["platform_admin"] is True
    assert as_("surface:telegram").get("/whoami").json()["kind"] == "surface"
