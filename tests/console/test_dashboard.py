"""The dashboard's numbers."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client

from tests import factories
from tests.console.items import Open, move
from workitems import summaries

pytestmark = pytest.mark.django_db


def test_counts_open_work_by_organization(open_item: Open) -> None:
    for _ in range(3):
        open_item()
    waiting = open_item()
    move(waiting, "wait", waiting_reason="input")
    move(open_item(), "complete")
    open_item(owner="mallory", tenant="globex")

    found = summaries.work(factories.caller("root"), factories.now())

    loads = [(load.organization, load.active, load.waiting) for load in found.loads]
    assert loads == [("acme", 3, 1), ("globex", 1, 0)]
    assert (found.active, found.waiting) == (4, 1)


def test_counts_private_work_for_platform_admins_alone(open_item: Open) -> None:
    open_item(visibility="private")

    assert summaries.work(factories.caller("root"), factories.now()).active == 1
    assert summaries.work(factories.caller("vera"), factories.now()).active == 0


def test_names_what_waits_longest_and_what_changed_last(open_item: Open) -> None:
    items = [open_item(f"Item {number}") for number in range(3)]
    for item in items:
        move(item, "wait", waiting_reason="input")

    found = summaries.work(factories.caller("root"), factories.now())

    assert [item.id for item in found.oldest] == items
    assert [item.id for item in found.newest] == items[::-1]


def test_counts_what_ended_by_day(open_item: Open) -> None:
    item = open_item()
    move(item, "complete")
    move(open_item(), "archive")

    days = summaries.work(factories.caller("root"), factories.now()).ended

    assert len(days) == summaries.DAYS
    assert days[-1].day - days[0].day == timedelta(days=summaries.DAYS - 1)
    assert sum(day.ended for day in days) == 2


def test_a_long_table_is_estimated(open_item: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        open_item()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE workitems_workitem")
    tables = {"Work items": "workitems_workitem"}

    assert summaries.sizes(tables) == {"Work items": (5, True)}
    monkeypatch.setattr(summaries, "EXACT_UP_TO", 3)
    assert summaries.sizes(tables) == {"Work items": (5, False)}


def test_links_an_organization_to_its_open_work(root: Client, open_item: Open) -> None:
    open_item("In acme")

    page = root.get("/console/").content.decode()
    address = "/console/workitems/workitem/?organization__slug__exact=acme"

    assert address in page
    assert "In acme" in root.get(address).content.decode()


def test_says_so_when_nothing_is_open_to_somebody(signed_in: object) -> None:
    client: Client = signed_in("vera")  # type: ignore[operator]

    assert "Nothing is open to you here yet" in client.get("/console/").content.decode()
