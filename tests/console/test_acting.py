"""Actions go through the operations and tell, row by row, what came of them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import OperationalError
from django.test import Client

from organizations.models import ApiToken, Principal
from stigmer.console.base import acting
from tests import factories
from tests.console.items import Open, move
from workitems.models import WorkItem, WorkItemEvent

pytestmark = pytest.mark.django_db
ITEMS = "/console/workitems/workitem/"


def state(item: str) -> str:
    return WorkItem.objects.get(pk=item).state


def told(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def act(client: Client, name: str, item: str, version: object, **more: str) -> Any:
    return client.post(f"{ITEMS}act/{name}/", {"row": item, "version": version, **more})


def test_completes_an_item_from_its_page(root: Client, open_item: Open) -> None:
    item = open_item("Fix the door")

    answer = act(root, "complete", item, 1, back="1")

    assert answer["Location"] == f"{ITEMS}{item}/change/"
    assert told(answer) == ["Fix the door: completed"]
    event = WorkItemEvent.objects.filter(work_item=item).latest("seq")
    assert (event.to_state, event.actor_id, event.surface) == ("completed", "root", "console")


def test_refuses_what_a_stale_page_asks(root: Client, open_item: Open) -> None:
    item = open_item("Fix the door")
    move(item, "wait", waiting_reason="input")

    answer = act(root, "complete", item, 1, back="1")

    assert "Fix the door: " in told(answer)[0]
    assert "completed" not in told(answer)[0]
    assert state(item) == "waiting"
    assert WorkItemEvent.objects.filter(work_item=item).count() == 2


@pytest.mark.parametrize("version", ["", "x", "²", "-1", "999999999999999999999"])
def test_a_version_that_is_none_is_refused(root: Client, open_item: Open, version: str) -> None:
    item = open_item()

    answer = act(root, "complete", item, version, back="1")

    assert answer.status_code == 302
    assert state(item) == "active"


def test_offers_only_what_the_lifecycle_allows(root: Client, open_item: Open) -> None:
    item = open_item()
    move(item, "complete")

    content = root.get(f"{ITEMS}{item}/change/").content.decode()

    assert "act/complete/" not in content
    assert "act/archive/" not in content


def test_shows_the_refusal_of_the_operation(root: Client, open_item: Open) -> None:
    item = open_item("Fix the door")
    move(item, "complete")

    answer = act(root, "archive", item, 2, back="1")

    assert told(answer) == ["Fix the door: cannot archive when completed"]


def test_staff_outside_the_organization_is_refused_by_the_operation(
    signed_in: Callable[..., Client], open_item: Open
) -> None:
    item = open_item()
    staff = signed_in("mallory", "workitems.view_workitem", "workitems.change_workitem")

    answer = act(staff, "complete", item, 1, back="1")

    assert "not found" in told(answer)[0]
    assert state(item) == "active"
    page = staff.get(f"{ITEMS}{item}/change/").content.decode()
    assert "act/complete/" not in page
    assert "Only members" in page


def test_an_action_tells_staff_nothing_of_a_private_item(
    signed_in: Callable[..., Client], open_item: Open
) -> None:
    item = open_item("A secret plan", visibility="private")
    staff = signed_in("bob", "workitems.view_workitem", "workitems.change_workitem")

    confirmed = staff.post(ITEMS, {"action": "archive", "_selected_action": item})
    answer = act(staff, "archive", item, 1)

    assert "A secret plan" not in confirmed.content.decode() + answer.content.decode()
    assert "work item not found" in answer.content.decode()
    assert state(item) == "active"


def test_says_how_many_before_it_does_them(root: Client, open_item: Open) -> None:
    items = [open_item(f"Item {number}") for number in range(3)]

    answer = root.post(ITEMS, {"action": "archive", "_selected_action": items[:2]})

    content = answer.content.decode()
    assert "Archive: 2 work items?" in content
    assert "Item 0" in content
    assert "Item 2" not in content
    assert [state(item) for item in items] == ["active"] * 3


def test_select_across_takes_no_more_than_was_chosen(root: Client, open_item: Open) -> None:
    items = [open_item(f"Item {number}") for number in range(3)]

    answer = root.post(
        ITEMS, {"action": "archive", "_selected_action": items[:1], "select_across": "1"}
    )

    assert "Archive: 1 work item?" in answer.content.decode()


def test_reports_row_by_row(root: Client, open_item: Open) -> None:
    good, stale = open_item("Good one"), open_item("Stale one")
    move(stale, "wait", waiting_reason="input")
    gone = "wi_01h455vb4pex5vsknk084sn02q"

    answer = root.post(
        f"{ITEMS}act/complete/", {"row": [good, stale, gone], "version": ["1", "1", "1"]}
    )

    content = answer.content.decode()
    assert "Complete: 1 completed, 2 refused" in content
    assert content.count("badge-bad") == 2
    assert "work item not found" in content
    assert (state(good), state(stale)) == ("completed", "waiting")


@pytest.mark.parametrize(("rows", "versions"), [([], []), (["a"], []), (["a"] * 201, ["1"] * 201)])
def test_a_malformed_request_does_nothing(
    root: Client, rows: list[str], versions: list[str]
) -> None:
    answer = root.post(f"{ITEMS}act/complete/", {"row": rows, "version": versions})

    assert answer.status_code == 404


def test_more_rows_than_the_limit_are_not_confirmed(
    root: Client, open_item: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acting, "MOST", 1)
    items = [open_item(f"Item {number}") for number in range(2)]

    answer = root.post(ITEMS, {"action": "archive", "_selected_action": items}, follow=True)

    assert "At most 1 rows at once; 2 were chosen." in answer.content.decode()


def test_an_unknown_action_is_no_page(root: Client, open_item: Open) -> None:
    assert act(root, "resurrect", open_item(), 1).status_code == 404


def test_reading_an_action_does_nothing(root: Client, open_item: Open) -> None:
    assert root.get(f"{ITEMS}act/complete/").status_code == 403


def test_a_database_that_is_away_is_told_and_not_thrown(
    root: Client, open_item: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = open_item("Fix the door")

    def away(**_: Any) -> None:
        raise OperationalError("lock timeout")

    monkeypatch.setattr("workitems.admin.items.transition", away)
    answer = act(root, "complete", item, 1, back="1")

    assert told(answer) == ["Fix the door: The database is not available"]


def test_revokes_a_token(root: Client) -> None:
    secret = factories.make_token("alice")
    token = ApiToken.objects.get(principal="alice")

    root.post(
        "/console/organizations/apitoken/act/revoke/", {"row": token.pk, "version": "", "back": "1"}
    )

    token.refresh_from_db()
    assert token.revoked_at is not None
    assert factories.Api(secret).get("/whoami").status_code == 401


def test_staff_does_not_revoke_anothers_token(signed_in: Callable[..., Client]) -> None:
    factories.make_token("alice")
    token = ApiToken.objects.get(principal="alice")
    staff = signed_in("vera", "organizations.view_apitoken", "organizations.change_apitoken")

    answer = staff.post(
        "/console/organizations/apitoken/act/revoke/", {"row": token.pk, "version": "", "back": "1"}
    )

    assert "only a platform admin revokes another's token" in told(answer)[0]
    assert ApiToken.objects.get(pk=token.pk).revoked_at is None


def switch(client: Client, name: str, principal: str) -> Any:
    row = Principal.objects.get(name=principal)
    return client.post(
        f"/console/organizations/principal/act/{name}/",
        {"row": row.pk, "version": "", "back": "1"},
    )


def test_switches_a_principal_off_and_on(root: Client) -> None:
    switch(root, "deactivate", "bob")
    assert not Principal.objects.get(name="bob").is_active

    switch(root, "activate", "bob")
    assert Principal.objects.get(name="bob").is_active


def test_nobody_switches_oneself_off(root: Client) -> None:
    answer = switch(root, "deactivate", "root")

    assert "you cannot switch yourself off or on" in told(answer)[0]
    assert Principal.objects.get(name="root").is_active


def test_staff_does_not_switch_a_platform_admin_off(signed_in: Callable[..., Client]) -> None:
    staff = signed_in("vera", "organizations.view_principal", "organizations.change_principal")

    answer = switch(staff, "deactivate", "root")

    assert "only a platform admin switches a platform admin" in told(answer)[0]
    assert Principal.objects.get(name="root").is_active
