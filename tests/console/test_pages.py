"""Every page opens, within its number of statements, under the console's policy."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from stigmer.console.policy import CONTENT_SECURITY_POLICY
from tests.console.items import Open, say

LISTS = (
    "workitems_workitem",
    "organizations_organization",
    "organizations_membership",
    "organizations_organizationslug",
    "organizations_principal",
    "organizations_apitoken",
    "background_heartbeat",
    "background_sweeprun",
    "django_celery_beat_periodictask",
    "django_celery_beat_intervalschedule",
    "django_celery_beat_crontabschedule",
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", LISTS)
def test_a_list_page_takes_fewer_than_12_statements(
    name: str,
    signed_in: Callable[..., Client],
    open_item: Open,
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    app, model = name.rsplit("_", 1)
    client = signed_in("vera", f"{app}.view_{model}")
    for number in range(20):
        open_item(f"Item {number}")

    with django_assert_max_num_queries(11):  # type: ignore[attr-defined]
        answer = client.get(reverse(f"admin:{name}_changelist"))

    assert answer.status_code == 200
    assert answer["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    assert b"http://" not in answer.content.replace(b"http://www.w3.org", b"")
    assert b"https://" not in answer.content


def test_the_dashboard_takes_fewer_than_10_statements(
    signed_in: Callable[..., Client],
    open_item: Open,
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    open_item("Fix the door")
    client = signed_in(
        "vera",
        "workitems.view_workitem",
        "organizations.view_organization",
        "background.view_heartbeat",
        "background.view_sweeprun",
    )

    with django_assert_max_num_queries(9):  # type: ignore[attr-defined]
        answer = client.get("/console/")

    assert answer.status_code == 200
    assert "Fix the door" in answer.content.decode()


def test_an_item_page_takes_fewer_than_12_statements(
    root: Client, open_item: Open, django_assert_max_num_queries: Callable[..., object]
) -> None:
    item = open_item()
    say(item, "make it open again")

    with django_assert_max_num_queries(11):  # type: ignore[attr-defined]
        answer = root.get(f"/console/workitems/workitem/{item}/change/")

    assert "make it open again" in answer.content.decode()


@pytest.mark.parametrize("app", ["workitems", "organizations", "background", "auth"])
def test_every_app_has_a_page(root: Client, app: str) -> None:
    assert root.get(f"/console/{app}/").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "organizations/organization/acme/change/",
        "organizations/organizationslug/acme/change/",
        "organizations/principal/named/surface:telegram",
        "auth/group/add/",
        "password_change/",
        "password_change/done/",
        "django_celery_beat/intervalschedule/add/",
        "search/?s=work",
    ],
)
def test_a_page_opens_for_a_platform_admin(root: Client, path: str) -> None:
    answer = root.get(f"/console/{path}", follow=True)

    assert answer.status_code == 200
    assert answer["Content-Security-Policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("path", ["organizations/organization/none/change/", "nothing/here/"])
def test_what_is_not_there_is_not_found(root: Client, path: str) -> None:
    assert root.get(f"/console/{path}").status_code == 404


def test_the_console_without_its_slash_leads_to_it(client: Client) -> None:
    assert client.get("/console")["Location"] == "/console/"
