"""Secret values are sealed, kept through updates, and never read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.fernet import Fernet, InvalidToken
from django.db import IntegrityError, transaction

from resources import secrets
from resources.errors import ResourceNotFound
from resources.models import Resource
from resources.queries import documents as queries
from resources.queries.environments import variables
from stigmer.core.errors import InvalidRequest
from tests import factories
from tests.resources.conftest import body

pytestmark = pytest.mark.django_db
VALUE = "hunter2-correct-horse"
SPEC = {"variables": {"TOKEN": {"value": VALUE, "secret": True}, "COLOUR": {"value": "green"}}}


def values(id: str, who: str = "alice") -> dict[str, str]:
    return variables(factories.caller(who), [id])


@pytest.fixture
def environment(stored: Any) -> Any:
    return stored("environment", "Prod", spec=SPEC)


def test_a_secret_reads_as_a_secret_without_its_value(as_: Any, cast: Any) -> None:
    alice = as_("alice")
    made = alice.post("/resources/environment", json=body("environment", "Prod", spec=SPEC))

    id = made.json()["metadata"]["id"]
    assert made.json()["spec"]["variables"] == {
        "TOKEN": {"secret": True}, "COLOUR": {"value": "green"},
    }  # fmt: skip
    for path in (f"/{id}", "/by-slug/acme/prod", "", f"/{id}/versions"):
        assert VALUE not in alice.get(f"/resources/environment{path}").content.decode()
    assert VALUE not in alice.get("/search?q=hunter2").content.decode()


def test_no_column_holds_the_value(environment: Any) -> None:
    (row,) = Resource.objects.values()

    assert VALUE not in json.dumps(row, default=str)
    assert row["sealed"]["TOKEN"]


def test_whoever_starts_an_execution_gets_the_values(stored: Any, environment: Any) -> None:
    more = stored("environment", "More", spec={"variables": {"COLOUR": {"value": "red"}}})

    assert values(environment.id, "vera") == {"TOKEN": VALUE, "COLOUR": "green"}
    both = variables(factories.caller("alice"), [environment.id, more.id])
    assert both == {"TOKEN": VALUE, "COLOUR": "red"}
    with pytest.raises(ResourceNotFound):
        values(environment.id, "mallory")


def test_a_patch_elsewhere_keeps_the_value(as_: Any, environment: Any) -> None:
    sealed = Resource.objects.get().sealed

    as_("bob").patch(
        f"/resources/environment/{environment.id}",
        json={"spec": {"variables": {"COLOUR": {"value": "blue"}}}},
    )

    assert values(environment.id) == {"TOKEN": VALUE, "COLOUR": "blue"}
    assert Resource.objects.get().sealed == sealed


def test_applying_what_was_read_keeps_the_value(as_: Any, environment: Any) -> None:
    read = as_("bob").get(f"/resources/environment/{environment.id}").json()

    answer = as_("bob").post(
        "/resources/environment/apply", json=body("environment", "Prod", spec=read["spec"])
    )

    assert answer.status_code == 200
    assert values(environment.id) == {"TOKEN": VALUE, "COLOUR": "green"}


def test_a_new_value_replaces_and_a_removed_variable_is_forgotten(
    as_: Any, environment: Any
) -> None:
    path = f"/resources/environment/{environment.id}"
    as_("bob").patch(path, json={"spec": {"variables": {"TOKEN": {"value": "new"}}}})
    assert values(environment.id)["TOKEN"] == "new"

    as_("bob").patch(path, json={"spec": {"variables": {"TOKEN": None}}})

    assert values(environment.id) == {"COLOUR": "green"}
    assert Resource.objects.get().sealed == {}


@pytest.mark.parametrize(
    "variable", [{"secret": True}, {}, {"secret": False}, {"secret": True, "value": None}]
)
def test_a_new_variable_needs_a_value(as_: Any, environment: Any, variable: Any) -> None:
    answer = as_("bob").post(
        "/resources/environment",
        json=body("environment", "X1", spec={"variables": {"A": variable}}),
    )

    assert answer.status_code == 400
    assert Resource.objects.count() == 1


def test_a_secret_does_not_turn_plain_without_a_new_value(as_: Any, environment: Any) -> None:
    path = f"/resources/environment/{environment.id}"

    answer = as_("bob").patch(path, json={"spec": {"variables": {"TOKEN": {"secret": False}}}})

    assert answer.status_code == 400
    assert values(environment.id)["TOKEN"] == VALUE


def test_a_client_secret_of_an_mcp_server_is_sealed_too(as_: Any, cast: Any) -> None:
    auth = {"client_id": "me", "client_secret": VALUE}
    made = as_("alice").post(
        "/resources/mcp_server",
        json=body("mcp_server", "Docs", spec={"url": "https://x.example", "auth": auth}),
    )

    assert made.json()["spec"]["auth"] == {"client_id": "me", "client_secret": {"secret": True}}
    (row,) = Resource.objects.all()
    assert secrets.unseal(row.sealed[secrets.CLIENT_SECRET]) == VALUE
    as_("alice").patch(
        f"/resources/mcp_server/{row.pk}", json={"spec": {"auth": {"client_id": "you"}}}
    )
    row.refresh_from_db()
    assert secrets.unseal(row.sealed[secrets.CLIENT_SECRET]) == VALUE


def test_keys_rotate(settings: Any, environment: Any) -> None:
    old, new = settings.STIGMER_SEAL_KEYS, Fernet.generate_key().decode()
    token = Resource.objects.get().sealed["TOKEN"]

    settings.STIGMER_SEAL_KEYS = [new, *old]
    assert values(environment.id)["TOKEN"] == VALUE
    rotated = secrets.reseal(token)
    settings.STIGMER_SEAL_KEYS = [new]
    assert secrets.unseal(rotated) == VALUE
    with pytest.raises(InvalidToken):
        secrets.unseal(token)


def test_other_kinds_hold_no_sealed_values(stored: Any) -> None:
    made = stored("team", "Blue")

    with (
        pytest.raises(IntegrityError, match="resource_sealed_where_kinds_seal"),
        transaction.atomic(),
    ):
        Resource.objects.filter(pk=made.id).update(sealed={"a": "b"}, resource_version=2)
    assert queries.find("team", made.id) == made


def test_a_refusal_never_shows_the_value(stored: Any) -> None:
    spec = {"variables": {"TOKEN": {"value": VALUE, "secret": True, "more": VALUE}}}

    with pytest.raises(InvalidRequest) as refused:
        stored("environment", "Prod", spec=spec)
    assert VALUE not in refused.value.detail
