"""Lists: every row once, in order, found by index and never counted."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stigmer.console.base.lists import behind
from tests import factories
from tests.console.items import Open, move
from workitems.admin import WorkItemAdmin

pytestmark = pytest.mark.django_db
ITEMS = "/console/workitems/workitem/"


def ids(page: str) -> list[str]:
    return re.findall(r'name="_selected_action"[^>]*value="(wi_[0-9a-z]+)"', page) or re.findall(
        r'value="(wi_[0-9a-z]+)"[^>]*name="_selected_action"', page
    )


def turn(page: str, way: str) -> str | None:
    found = re.search(rf'<a rel="{way}"[^>]*href="([^"]+)"', page)
    return found and found.group(1).replace("&amp;", "&")


def read(client: Client, query: str = "") -> str:
    answer = client.get(f"{ITEMS}{query}", follow=True)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_pages_show_every_row_once_with_equal_times(
    root: Client, open_item: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkItemAdmin, "list_per_page", 3)
    at = factories.now()
    items = [open_item(f"Item {number}", now=at) for number in range(8)]

    seen, pages, query = [], [], ""
    while True:
        page = read(root, query)
        pages.append(ids(page))
        seen += pages[-1]
        following = turn(page, "next")
        if following is None:
            break
        query = following

    assert seen == sorted(items, reverse=True)
    assert [len(page) for page in pages] == [3, 3, 2]
    back = read(root, turn(page, "prev") or "")
    assert ids(back) == pages[1]
    first = read(root, turn(back, "prev") or "")
    assert (ids(first), turn(first, "prev")) == (pages[0], None)


def test_filters_stay_when_the_page_turns(
    root: Client, open_item: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkItemAdmin, "list_per_page", 1)
    for number in range(2):
        open_item(f"Item {number}", surface="telegram")
    open_item("Elsewhere", surface="portal")

    page = read(root, "?surface=telegram")
    following = read(root, turn(page, "next") or "")

    assert "Item 1" in page
    assert "Item 0" in following
    assert turn(following, "next") is None


def test_filters_stay_when_another_is_applied(root: Client, open_item: Open) -> None:
    kept = '<input type="hidden" name="state" value="waiting"'

    assert kept in read(root, "?state=waiting&surface=telegram")
    assert 'name="state"' not in read(root, "?surface=telegram")


@pytest.mark.parametrize(
    "query", ["?after=x", "?after=W10", "?before=WyJ4IiwieSJd", "?external_key=%00", "?nothing=1"]
)
def test_what_cannot_be_read_is_left_out(root: Client, open_item: Open, query: str) -> None:
    open_item("Still there")

    assert "Still there" in read(root, query)


def test_an_id_with_a_nul_is_not_found(root: Client) -> None:
    assert root.get(f"{ITEMS}wi_%00/change/").status_code == 404


def test_no_list_counts_its_rows(root: Client, open_item: Open) -> None:
    open_item()

    with CaptureQueriesContext(
        connection,
    ) as caught:
        read(root)

    assert not [q["sql"] for q in caught if "COUNT(" in q["sql"].upper()]


def test_open_work_is_shown_first_and_everything_on_demand(root: Client, open_item: Open) -> None:
    item = open_item("Done thing")
    move(item, "complete")

    assert "Done thing" not in read(root)
    assert "Done thing" in read(root, "?state=completed")
    assert "Done thing" in read(root, "?state=any")
    assert "Done thing" not in read(root, "?state=waiting")


def test_searches_by_id_external_key_and_part_of_a_title(root: Client, open_item: Open) -> None:
    door = open_item("Fix the DOOR", external_key="JIRA-1")
    open_item("Paint the wall", external_key="JIRA-2")
    move(door, "complete")

    for query in (door, "JIRA-1", "the door", "doo"):
        assert ids(read(root, f"?q={query}")) == [door], query
    assert ids(read(root, "?q=JIRA")) == []


def test_owner_and_organization_narrow(root: Client, open_item: Open) -> None:
    mine = open_item("Of alice")
    theirs = open_item("Of bob", owner="bob")
    open_item("Elsewhere", owner="mallory", tenant="globex")

    assert ids(read(root, "?owner__name__exact=bob")) == [theirs]
    assert ids(read(root, "?organization__slug__exact=acme")) == [theirs, mine]


def test_members_narrow_by_principal(root: Client) -> None:
    page = root.get("/console/organizations/membership/?principal__name__exact=vera")

    content = page.content.decode()
    assert "viewer" in content
    assert "globex" not in content


@pytest.mark.parametrize("query", ["owner__password__startswith=x", "owner__is_staff=1"])
def test_nothing_else_of_a_relation_is_asked(root: Client, query: str) -> None:
    assert root.get(f"{ITEMS}?{query}").status_code == 400


def test_visibility_narrows(root: Client, open_item: Open) -> None:
    open_item("For all")
    private = open_item("For alice", visibility="private")

    assert ids(read(root, "?visibility=private")) == [private]


def test_autocomplete_finds_organizations_without_counting(root: Client) -> None:
    with CaptureQueriesContext(connection) as caught:
        answer = root.get(
            "/console/autocomplete/",
            {
                "app_label": "workitems",
                "model_name": "workitem",
                "field_name": "organization",
                "term": "ac",
            },
        )

    assert answer.json() == {
        "results": [{"id": "acme", "text": "acme"}],
        "pagination": {"more": False},
    }
    assert not [q["sql"] for q in caught if "COUNT(" in q["sql"].upper()]


def test_a_position_of_one_key_is_one_condition() -> None:
    assert str(behind(["-id"], ["b"])) == "(AND: ('id__lt', 'b'))"
