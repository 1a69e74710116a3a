"""A session gives a person a first token, with CSRF, and opens nothing else of the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from organizations.models import ApiToken
from organizations.operations import principals
from tests.factories import Api, act, now

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


def _signed_in(name: str, *, checked: bool = True) -> Client:
    principals.set_password(
        principal=name, password="correct horse battery", by=act(name), now=now()
    )
    client = Client(enforce_csrf_checks=checked)
    assert client.login(username=name, password="correct horse battery")
    return client


def test_a_session_gives_a_first_token_and_opens_nothing_else(as_: As) -> None:
    client = _signed_in("bob", checked=False)

    made = client.post("/api/v1/tokens", {"name": "first"}, content_type="application/json")

    assert made.status_code == 201
    assert Api(made.json()["token"]).get("/whoami").json()["principal"] == "bob"
    for path in ("/api/v1/tokens", "/api/v1/whoami", "/api/v1/organizations"):
        assert client.get(path).status_code == 401
    refused = client.post("/api/v1/organizations", {"name": "X"}, content_type="application/json")
    assert refused.status_code == 401
    assert client.delete(f"/api/v1/tokens/{made.json()['id']}").status_code == 401


def test_a_session_without_csrf_token_gives_nothing(as_: As) -> None:
    client = _signed_in("bob")

    refused = client.post("/api/v1/tokens", {"name": "x"}, content_type="application/json")

    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert not ApiToken.objects.filter(principal="bob").exists()


def test_a_session_with_csrf_token_gives_one(as_: As) -> None:
    client = _signed_in("bob")
    client.cookies["csrftoken"] = "a" * 32

    made = client.post(
        "/api/v1/tokens",
        {"name": "x"},
        content_type="application/json",
        headers={"X-CSRFToken": "a" * 32},
    )

    assert made.status_code == 201


def test_a_deactivated_persons_session_gives_nothing(as_: As) -> None:
    client = _signed_in("bob", checked=False)
    principals.deactivate(principal="bob", by=act("root"), now=now())

    refused = client.post("/api/v1/tokens", {"name": "x"}, content_type="application/json")

    assert refused.status_code == 401
    assert not ApiToken.objects.filter(principal="bob").exists()
