"""Who sees and does what in the console."""

from collections.abc import Callable

import pytest
from django.test import Client

from organizations.models import Principal
from tests.console.items import Open
from workitems.models import WorkItem

pytestmark = pytest.mark.django_db
ITEMS = "/console/workitems/workitem/"
SignIn = Callable[..., Client]


def page(item: str) -> str:
    return f"{ITEMS}{item}/change/"


@pytest.mark.parametrize("path", ["/console/", ITEMS, "/console/password_change/"])
def test_anonymous_is_sent_to_the_sign_in_page(client: Client, cast: object, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 302
    assert answer["Location"].startswith("/console/login/")


def test_who_is_no_staff_is_sent_to_the_sign_in_page(signed_in: SignIn) -> None:
    answer = signed_in("bob", staff=False).get(ITEMS)

    assert answer["Location"].startswith("/console/login/")


@pytest.mark.parametrize(
    "path",
    [
        ITEMS,
        f"{ITEMS}export/csv/",
        "/console/organizations/organization/",
        "/console/organizations/organization/acme/change/",
        "/console/organizations/principal/named/alice",
        "/console/organizations/apitoken/",
        "/console/background/heartbeat/",
        "/console/auth/group/",
    ],
)
def test_staff_without_the_permission_is_refused(signed_in: SignIn, path: str) -> None:
    assert signed_in("bob").get(path).status_code == 403


def test_staff_without_the_permission_does_not_see_an_item(
    signed_in: SignIn, open_item: Open
) -> None:
    assert signed_in("alice").get(page(open_item())).status_code == 403


def test_staff_with_the_permission_sees_every_organization(
    signed_in: SignIn, open_item: Open
) -> None:
    item = open_item("In globex", owner="mallory", tenant="globex")
    client = signed_in("vera", "workitems.view_workitem")

    assert "In globex" in client.get(ITEMS).content.decode()
    assert client.get(page(item)).status_code == 200


def test_private_items_are_for_platform_admins(
    signed_in: SignIn, root: Client, open_item: Open
) -> None:
    item = open_item("A secret plan", visibility="private")
    staff = signed_in("vera", "workitems.view_workitem", "workitems.change_workitem")

    assert staff.get(page(item)).status_code == 404
    for path in ("/console/", ITEMS, f"{ITEMS}?q=secret", f"{ITEMS}export/csv/?state=any"):
        answer = staff.get(path)
        assert "A secret plan" not in (answer.getvalue().decode()), path
    assert "A secret plan" in root.get(page(item)).content.decode()
    assert "A secret plan" in root.get("/console/").content.decode()


def test_what_a_deleted_organization_left_is_invisible(root: Client, open_item: Open) -> None:
    from organizations.operations.organizations import delete_organization
    from tests import factories
    from tests.console.items import move

    item = open_item("Left behind", external_key="LEFT")
    move(item, "complete")
    delete_organization(slug="acme", by=factories.act(), now=factories.now())

    assert root.get(page(item)).status_code == 404
    for path in (
        "/console/",
        f"{ITEMS}?state=any",
        f"{ITEMS}?q=LEFT",
        f"{ITEMS}export/csv/?q=LEFT",
    ):
        assert "Left behind" not in root.get(path).getvalue().decode(), path
    assert (
        '<span class="console-number">0</span><span>ended' in root.get("/console/").content.decode()
    )


def test_a_private_successor_is_not_named_to_staff(signed_in: SignIn, open_item: Open) -> None:
    from tests.console.items import move

    hidden, item = open_item("Hidden", visibility="private"), open_item("Shown")
    move(item, "supersede", superseded_by=hidden)
    staff = signed_in("vera", "workitems.view_workitem")

    assert hidden not in staff.get(page(item)).content.decode()


@pytest.mark.parametrize("view", ["add/", "{pk}/delete/", "{pk}/history/"])
@pytest.mark.parametrize("model", ["workitems/workitem", "organizations/organizationslug"])
def test_nothing_is_added_or_deleted_and_no_history_has_a_page(
    root: Client, open_item: Open, model: str, view: str
) -> None:
    pk = open_item() if model.startswith("workitems") else "acme"

    assert root.get(f"/console/{model}/{view.format(pk=pk)}").status_code == 404


def test_no_form_edits_an_item(root: Client, open_item: Open) -> None:
    item = open_item("As it was")

    answer = root.post(page(item), {"title": "Changed", "state": "completed"})

    assert answer.status_code == 403
    assert WorkItem.objects.get(pk=item).title == "As it was"


def test_an_action_needs_its_permission(signed_in: SignIn, open_item: Open) -> None:
    item = open_item()
    client = signed_in("alice", "workitems.view_workitem")

    answer = client.post(f"{ITEMS}act/complete/", {"row": item, "version": "1"})

    assert answer.status_code == 403
    assert WorkItem.objects.get(pk=item).state == "active"
    assert "Complete" not in client.get(page(item)).content.decode()


def test_an_action_needs_a_token_against_forgery(signed_in: SignIn, open_item: Open) -> None:
    item = open_item()
    signed = signed_in("root")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = signed.cookies

    answer = strict.post(f"{ITEMS}act/complete/", {"row": item, "version": "1"})

    assert answer.status_code == 403
    assert WorkItem.objects.get(pk=item).state == "active"


def test_a_deactivated_principal_is_signed_out(root: Client) -> None:
    Principal.objects.filter(name="root").update(is_active=False)

    assert root.get("/console/")["Location"].startswith("/console/login/")


def test_the_navigation_shows_what_one_may_see(signed_in: SignIn) -> None:
    content = signed_in("vera", "workitems.view_workitem").get("/console/").content.decode()

    assert "/console/workitems/workitem/" in content
    assert "/console/organizations/apitoken/" not in content
