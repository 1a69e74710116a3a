"""Who is let into the console, and how the password changes."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from organizations.models import Principal
from stigmer.console.policy import CONTENT_SECURITY_POLICY
from stigmer.core.callers import system_act
from tests import factories

pytestmark = pytest.mark.django_db
LOGIN = "/console/login/"
PASSWORD = "correct horse battery"


def access(name: str) -> str:
    return f"/console/organizations/principal/access/{Principal.objects.get(name=name).pk}/"


def set_password(name: str) -> None:
    from organizations.operations.principals import set_password

    set_password(principal=name, password=PASSWORD, by=system_act(), now=factories.now())


def test_gives_a_human_the_console_with_a_group(root: Client, client: Client) -> None:
    group = Group.objects.create(name="readers")
    group.permissions.add(Permission.objects.get(codename="view_workitem"))

    root.post(access("bob"), {"staff": "on", "groups": [group.pk]})

    bob = Principal.objects.get(name="bob")
    client.force_login(bob)
    assert client.get("/console/workitems/workitem/").status_code == 200
    assert client.get("/console/organizations/principal/").status_code == 403


def test_takes_the_console_away(root: Client, signed_in: Callable[..., Client]) -> None:
    client = signed_in("bob")

    root.post(access("bob"), {})

    assert client.get("/console/")["Location"].startswith(LOGIN)


@pytest.mark.parametrize("permission", ["view_principal", "change_principal"])
def test_only_a_platform_admin_gives_access(
    signed_in: Callable[..., Client], permission: str
) -> None:
    staff = signed_in("vera", "organizations.view_principal", f"organizations.{permission}")

    answer = staff.post(access("bob"), {"staff": "on"})

    assert answer.status_code == 403
    assert not Principal.objects.get(name="bob").is_staff


def test_a_platform_admin_keeps_the_console(root: Client) -> None:
    answer = root.post(access("root"), {}, follow=True)

    assert "a platform admin has the console" in answer.content.decode()
    assert Principal.objects.get(name="root").is_staff


@pytest.mark.parametrize("name", ["service:dispatcher", "surface:telegram"])
def test_only_humans_have_the_console(root: Client, name: str) -> None:
    root.post(access(name), {"staff": "on"})

    assert not Principal.objects.get(name=name).is_staff


def test_signs_in_and_out(cast: object, client: Client) -> None:
    set_password("root")

    entered = client.post(LOGIN, {"username": "root", "password": PASSWORD, "next": "/console/"})
    assert entered["Location"] == "/console/"
    assert client.get("/console/").status_code == 200

    client.post("/console/logout/")
    assert client.get("/console/")["Location"].startswith(LOGIN)


def test_the_sign_in_page_has_the_policy(client: Client) -> None:
    assert client.get(LOGIN)["Content-Security-Policy"] == CONTENT_SECURITY_POLICY


def test_does_not_send_elsewhere_after_the_sign_in(cast: object, client: Client) -> None:
    set_password("root")

    answer = client.post(
        f"{LOGIN}?next=https://evil.example/",
        {"username": "root", "password": PASSWORD, "next": "https://evil.example/"},
    )

    assert answer["Location"] == "/console/"


def test_who_is_no_staff_does_not_sign_in(cast: object, client: Client) -> None:
    set_password("bob")

    answer = client.post(LOGIN, {"username": "bob", "password": PASSWORD})

    assert answer.status_code == 200
    assert "_auth_user_id" not in client.session


def test_changes_ones_password_and_nothing_else(root: Client, client: Client) -> None:
    set_password("root")
    root.force_login(Principal.objects.get(name="root"))
    new = "another long staple"

    answer = root.post(
        "/console/password_change/",
        {"old_password": PASSWORD, "new_password1": new, "new_password2": new},
    )

    assert answer["Location"] == "/console/password_change/done/"
    assert Principal.objects.get(name="root").check_password(new)
    assert root.get("/console/").status_code == 200


@pytest.mark.parametrize(
    ("old", "new"), [("wrong", "another long staple"), (PASSWORD, "short"), (PASSWORD, "12345678")]
)
def test_refuses_a_password_change(root: Client, old: str, new: str) -> None:
    set_password("root")
    root.force_login(Principal.objects.get(name="root"))

    answer = root.post(
        "/console/password_change/",
        {"old_password": old, "new_password1": new, "new_password2": new},
    )

    assert answer.status_code == 200
    assert Principal.objects.get(name="root").check_password(PASSWORD)
