"""The two seams: decided anew each time, replaceable, and never open by failing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from organizations.authorization import (
    Decision,
    Permission,
    PermissiveAuthorizer,
    Resource,
    Verdict,
    authorize,
)
from organizations.errors import OrganizationNotFound
from organizations.models import Organization
from organizations.states import Role
from stigmer.core.callers import SYSTEM, Caller
from stigmer.core.errors import AuthorizationUnavailable, PermissionDenied
from tests.factories import Api

As = Callable[[str | None], Api]
HERE = "tests.organizations.test_authorization"
LEAST = {
    Permission.READ: "viewer",
    Permission.WRITE: "member",
    Permission.MANAGE: "admin",
    Permission.OWN: "owner",
}


class FailingAuthorizer:
    """An authorizer whose service is away."""

    def authorize(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        raise ConnectionError


class UnavailableAuthorizer:
    """An authorizer that says so itself."""

    def authorize(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        return Decision(Verdict.UNAVAILABLE, "secret reason")


class DenyingAuthorizer:
    """An authorizer with a reason that is nobody's business."""

    def authorize(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        return Decision(Verdict.DENY, "secret reason")


class NothingScope:
    """A read scope that knows without a query that there is nothing."""

    def restrict(self, queryset: Any, principal: Caller, kind: str) -> Any:
        return queryset.none()


def _caller(role: str | None, *, admin: bool = False) -> Caller:
    roles = {} if role is None else {"acme": role}
    return Caller("prn_x", "somebody", "human", admin, roles)


def _ask(caller: Caller, permission: str, private_to: str | None = None) -> None:
    resource = Resource("organization", "acme", "acme", private_to)
    authorize(caller, permission, resource, missing=OrganizationNotFound, denied="fixed text")


@pytest.mark.parametrize("permission", LEAST)
@pytest.mark.parametrize("role", list(Role))
def test_a_role_includes_every_role_below(role: Role, permission: str) -> None:
    if role.rank >= Role(LEAST[permission]).rank:
        _ask(_caller(role), permission)
        return
    with pytest.raises(PermissionDenied) as caught:
        _ask(_caller(role), permission)
    assert caught.value.detail == "fixed text"


@pytest.mark.parametrize("permission", LEAST)
def test_without_a_membership_there_is_nothing(permission: str) -> None:
    with pytest.raises(OrganizationNotFound):
        _ask(_caller(None), permission)


@pytest.mark.parametrize("permission", LEAST)
def test_platform_admins_and_the_platform_itself_may_everything(permission: str) -> None:
    _ask(_caller(None, admin=True), permission, private_to="another")
    _ask(SYSTEM, permission, private_to="another")


def test_a_private_thing_is_there_for_its_principal_alone() -> None:
    _ask(_caller("viewer"), Permission.READ, private_to="somebody")

    with pytest.raises(OrganizationNotFound):
        _ask(_caller("owner"), Permission.READ, private_to="another")


@pytest.mark.django_db
def test_no_token_obtains_the_internal_caller(as_: As, cast: dict[str, Caller]) -> None:
    assert not any(one.internal for one in cast.values())


@pytest.mark.parametrize("name", ["FailingAuthorizer", "UnavailableAuthorizer"])
@pytest.mark.django_db
def test_what_cannot_be_decided_is_503_and_nothing_is_written(
    as_: As, settings: Any, name: str
) -> None:
    alice = as_("alice")
    settings.STIGMER_AUTHORIZER = f"{HERE}.{name}"

    answers = [
        alice.get("/organizations/acme"),
        alice.get("/organizations/acme/members"),
        alice.patch("/organizations/acme", {"name": "Other"}),
        alice.delete("/organizations/acme"),
    ]

    assert {(a.status_code, a.json()["code"]) for a in answers} == {
        (503, "authorization_unavailable")
    }
    assert "secret" not in answers[0].content.decode()
    assert Organization.objects.get(slug="acme").name == "Acme"
    with pytest.raises(AuthorizationUnavailable):
        _ask(_caller("owner"), Permission.READ)


@pytest.mark.django_db
def test_the_reason_of_a_denial_stays_inside(as_: As, settings: Any) -> None:
    alice = as_("alice")
    settings.STIGMER_AUTHORIZER = f"{HERE}.DenyingAuthorizer"

    denied = alice.patch("/organizations/acme", {"name": "Other"})

    assert (denied.status_code, denied.json()["code"]) == (403, "permission_denied")
    assert denied.json()["detail"] == "only an admin or an owner may change this organization"


@pytest.mark.django_db
def test_a_single_team_may_allow_everything_that_exists(as_: As, settings: Any) -> None:
    mallory = as_("mallory")
    settings.STIGMER_AUTHORIZER = (
        f"{PermissiveAuthorizer.__module__}.{PermissiveAuthorizer.__qualname__}"
    )

    assert mallory.get("/organizations/acme").status_code == 200
    assert mallory.patch("/organizations/acme", {"name": "Ours"}).status_code == 200
    assert mallory.get("/organizations/nowhere").status_code == 404
    assert mallory.get("/organizations/nowhere/members").status_code == 404


@pytest.mark.parametrize("path", ["/work-items", "/workflow-executions", "/organizations"])
@pytest.mark.django_db
def test_a_scope_may_know_that_there_is_nothing(as_: As, settings: Any, path: str) -> None:
    alice = as_("alice")
    settings.STIGMER_LIST_READ_SCOPE = f"{HERE}.NothingScope"

    answer = alice.get(path)

    assert (answer.status_code, answer.json()["items"]) == (200, [])
