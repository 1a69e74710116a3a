"""Every route of this app for every kind of caller, and what no answer discloses."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from django.db import transaction

from organizations.api.urls import urlpatterns
from organizations.models import Membership, Organization, OrganizationSlug
from tests.factories import Api, join, make_principal

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]

WHO = {
    "owner": "alice", "admin": "ada", "member": "bob", "viewer": "vera", "stranger": "mallory",
    "platform": "root", "service": "service:dispatcher", "surface": "surface:telegram",
}  # fmt: skip
NO_TOKEN = "tok_01jjwz3k8nf2m9v4c7x6t5q0ra"


class Route(NamedTuple):
    """One method of one route, and the status for each of WHO, in its order."""

    method: str
    path: str
    body: Any
    statuses: str

    def expected(self) -> dict[str, int]:
        return dict(zip(WHO, map(int, self.statuses.split()), strict=True))


#   method, path, body                                    own adm mem vie str pla ser sur
ROUTES = [
    Route("GET", "/whoami", None,                        "200 200 200 200 200 200 200 200"),
    Route("GET", "/tokens", None,                        "200 200 200 200 200 200 200 403"),
    Route("POST", "/tokens", {"name": "x"},              "201 201 201 201 201 201 201 403"),
    Route("DELETE", f"/tokens/{NO_TOKEN}", None,         "404 404 404 404 404 404 404 403"),
    Route("GET", "/organizations", None,                 "200 200 200 200 200 200 200 403"),
    Route("POST", "/organizations", {"name": "Fresh"},   "201 201 201 201 201 201 201 403"),
    Route("GET", "/organizations/acme", None,            "200 200 200 200 404 200 200 403"),
    Route("PATCH", "/organizations/acme", {"name": "B"}, "200 200 403 403 404 200 403 403"),
    Route("DELETE", "/organizations/acme", None,         "204 403 403 403 404 204 403 403"),
    Route("GET", "/organizations/acme/members", None,    "200 200 200 200 404 200 200 403"),
    Route("GET", "/organizations/acme/members/bob", None,
                                                         "200 200 200 200 404 200 200 403"),
    Route("PUT", "/organizations/acme/members/mallory", {"role": "viewer"},
                                                         "201 201 403 403 404 201 403 403"),
    Route("PUT", "/organizations/acme/members/mallory", {"role": "owner"},
                                                         "201 403 403 403 404 201 403 403"),
    Route("DELETE", "/organizations/acme/members/bob", None,
                                                         "204 204 204 403 404 204 403 403"),
    Route("GET", "/organization-slugs/acme", None,       "200 200 200 200 200 200 200 403"),
]  # fmt: skip
CODES = {
    403: {"permission_denied", "surface_route_not_allowed"},
    404: {"organization_not_found", "token_not_found"},
}


def _rows() -> list[Any]:
    return [
        list(model.objects.order_by("pk").values())
        for model in (Organization, OrganizationSlug, Membership)
    ]


@pytest.fixture
def doors(as_: As) -> As:
    make_principal("ada")
    join("acme", "ada", "admin")
    return as_


def _undone(send: Callable[[], Any]) -> Any:
    """The answer, after which everything is as before; a refusal has written nothing by itself."""
    before = _rows()
    with transaction.atomic():
        answer = send()
        if answer.status_code >= 400:
            assert _rows() == before
        transaction.set_rollback(True)
    return answer


@pytest.mark.parametrize("role", WHO)
def test_answers_each_role(doors: As, role: str) -> None:
    client, answers = doors(WHO[role]), {}

    for place, route in enumerate(ROUTES):
        answers[place] = _undone(partial(client.send, route.method, route.path, json=route.body))

    statuses = {place: answer.status_code for place, answer in answers.items()}
    assert statuses == {place: route.expected()[role] for place, route in enumerate(ROUTES)}
    for answer in answers.values():
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json"
            assert answer.json()["code"] in CODES[answer.status_code]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method}{route.path}")
def test_nobody_comes_in_without_a_token(doors: As, route: Route) -> None:
    before = _rows()

    for path in (route.path, route.path.replace("acme", "nowhere")):
        answer = doors(None).send(route.method, f"{path}?nonsense=1", body=b"{")
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")

    assert _rows() == before


@pytest.mark.parametrize("role", WHO)
def test_who_may_not_hears_it_before_the_body_is_read(doors: As, role: str) -> None:
    client, statuses, expected = doors(WHO[role]), {}, {}

    for place, route in enumerate(ROUTES):
        if route.body is None:
            continue
        send = partial(client.send, route.method, route.path, body=b'{"role": 1, "role": 2}')
        statuses[place] = _undone(send).status_code
        # That an admin makes no owner is known from the body alone.
        only_then = role == "admin" and route.body == {"role": "owner"}
        allowed = route.expected()[role] < 400 or only_then
        expected[place] = 400 if allowed else route.expected()[role]

    assert statuses == expected


def _without_request_id(answer: Any) -> bytes:
    return re.sub(rb'"request_id":"[^"]*"', b"", answer.content)


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if "/organizations/acme" in r.path], ids=lambda r: r.method + r.path
)
def test_an_invisible_organization_answers_as_none(doors: As, route: Route) -> None:
    mallory = doors("mallory")

    hidden = mallory.send(route.method, route.path, json=route.body)
    nothing = mallory.send(route.method, route.path.replace("acme", "nowhere"), json=route.body)

    assert hidden.status_code == nothing.status_code == 404
    assert _without_request_id(hidden) == _without_request_id(nothing)
    assert hidden.headers.keys() == nothing.headers.keys()


@pytest.mark.parametrize("slug", ["nowhere", "UPPER", "a%01b", "x" * 300, "acme ", "é"])
def test_a_platform_admin_finds_no_organization_that_is_not_there(doors: As, slug: str) -> None:
    root = doors("root")

    answers = [
        root.get(f"/organizations/{slug}"),
        root.patch(f"/organizations/{slug}", body=b"{"),
        root.delete(f"/organizations/{slug}"),
        root.get(f"/organizations/{slug}/members"),
        root.get(f"/organizations/{slug}/members/bob"),
        root.put(f"/organizations/{slug}/members/bob", body=b"{"),
        root.delete(f"/organizations/{slug}/members/bob"),
    ]

    assert {(a.status_code, a.json()["code"]) for a in answers} == {(404, "organization_not_found")}


def test_the_table_has_every_route_and_method() -> None:
    known = {
        (method.upper(), pattern.pattern.regex.pattern)
        for pattern in urlpatterns
        for method in ("get", "post", "put", "patch", "delete")
        if hasattr(pattern.callback.view_class, method)
    }

    tabled = {
        (route.method, pattern.pattern.regex.pattern)
        for route in ROUTES
        for pattern in urlpatterns
        if pattern.pattern.match(route.path.removeprefix("/"))
    }

    assert tabled == known


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_route_of_this_app_takes_an_idempotency_key(doors: As, method: str) -> None:
    route = next(route for route in ROUTES if route.method == method)
    before = _rows()

    refused = doors("root").send(method, route.path, json=route.body, key="k")

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert _rows() == before
