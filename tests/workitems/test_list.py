"""GET /work-items."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tests import factories
from tests.workitems.world import invalid, refused

pytestmark = pytest.mark.django_db


def listed(api: Any, query: str = "") -> list[str]:
    """The titles on the page."""
    response = api.get(f"/work-items{query}")
    assert response.status_code == 200, response.content
    return [item["title"] for item in response.json()["items"]]


def walk(api: Any, query: str, meanwhile: Any = lambda: None) -> list[str]:
    """The ids on every page in order."""
    found: list[str] = []
    cursor = ""
    while cursor is not None:
        page = api.get(f"/work-items?{query}{cursor and f'&cursor={cursor}'}").json()
        found += [item["id"] for item in page["items"]]
        assert len(found) < 500, "the walk does not end"
        cursor = page["next_cursor"]
        meanwhile()
    return found


def test_shows_open_items_newest_updated_first(as_: Any, cast: Any) -> None:
    first = factories.open_item("first")
    factories.open_item("second")
    factories.ended_item("third")
    factories.moved_item(first, "wait", waiting_reason="input")

    answer = as_("vera").get("/work-items").json()

    assert set(answer) == {"schema_version", "items", "next_cursor"}
    assert [item["title"] for item in answer["items"]] == ["first", "second"]
    assert answer["next_cursor"] is None
    one = as_("vera").get(f"/work-items/{first.id}").json()["work_item"]
    assert answer["items"][0] == one


def test_narrows_to_one_state(as_: Any, cast: Any) -> None:
    factories.open_item("active")
    factories.waiting_item("waiting")
    for action in ("complete", "archive", "supersede"):
        factories.ended_item(action, action=action)

    found = {
        state: set(listed(as_("alice"), f"?state={state}"))
        for state in ("open", "active", "waiting", "completed", "superseded", "archived")
    }

    assert found == {
        "open": {"active", "waiting", "Its successor"}, "active": {"active", "Its successor"},
        "waiting": {"waiting"}, "completed": {"complete"}, "superseded": {"supersede"},
        "archived": {"archive"},
    }  # fmt: skip


def test_narrows_by_every_filter_at_once(as_: Any, cast: Any) -> None:
    factories.open_item("one", owner="bob", external_key="k", surface="telegram")
    factories.open_item("two", owner="bob", external_key="K")
    factories.open_item("three", owner="alice", surface="telegram")
    alice = as_("alice")

    assert listed(alice, "?owner=bob&surface=telegram&external_key=k&tenant=acme&q=ON") == ["one"]
    assert set(listed(alice, "?owner=bob")) == {"one", "two"}
    assert set(listed(alice, "?surface=telegram")) == {"one", "three"}
    assert listed(alice, "?external_key=K") == ["two"]
    assert listed(alice, "?owner=nobody") == []


@pytest.mark.parametrize(
    ("title", "q"),
    [
        ("Fix the DOOR", "door"),
        ("STRAẞE kehren", "straße"),
        ("Ölwechsel", "öL"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("修理大门", "大门"),
        ("修理大门", "门"),
        ("🚪 closed", "🚪"),
        ("100% done_now", "% done_"),
        ("it's a \\ 'quote'", "\\ 'q"),
        ("two  words", "  "),
        ("a b", " "),
        ("a&b|c!(d):*", "&b|c!(d):*"),
    ],
)
def test_q_is_a_substring_without_regard_to_case(as_: Any, cast: Any, title: str, q: str) -> None:
    factories.open_item(title)
    factories.open_item("unrelated")

    assert listed(as_("bob"), f"?q={quote(q)}") == [title]


@pytest.mark.parametrize("q", ["d_or", "d%r", "dor", "door door", "*", "d.*r"])
def test_q_knows_no_wildcards(as_: Any, cast: Any, q: str) -> None:
    factories.open_item("Fix the door")

    assert listed(as_("bob"), f"?q={quote(q)}") == []


@pytest.mark.parametrize("q", ["", "x" * 257, "a%00b", "a%0Ab", "%FF"])
def test_refuses_a_wrong_q(as_: Any, cast: Any, q: str) -> None:
    refused(as_("bob").get(f"/work-items?q={q}"), 400, "invalid_request")


@pytest.mark.parametrize("raw", ["0", "501", "-1", "x", "", "1.0", "1e2", "%C2%B2"])
def test_refuses_a_limit_outside(as_: Any, cast: Any, raw: str) -> None:
    response = as_("bob").get(f"/work-items?limit={raw}")

    invalid(response, "limit", "limit must be an integer from 1 to 500")


@pytest.mark.parametrize(
    ("query", "pointer"),
    [("state=closed", "state"), ("sort=title", "sort"), ("limit=1&limit=2", "limit")],
)
def test_refuses_a_wrong_parameter(as_: Any, cast: Any, query: str, pointer: str) -> None:
    invalid(as_("bob").get(f"/work-items?{query}"), pointer)


@pytest.mark.parametrize("more", ["", "&limit=0", "&cursor=x"])
@pytest.mark.parametrize("tenant", ["globex", "nowhere", "", "%20acme"])
def test_refuses_a_tenant_without_access_first(as_: Any, cast: Any, tenant: str, more: str) -> None:
    response = as_("alice").get(f"/work-items?tenant={tenant}{more}")

    refused(response, 403, "tenant_forbidden", "you have no access to this tenant")


def test_the_default_page_has_a_hundred(as_: Any, cast: Any) -> None:
    for number in range(101):
        factories.open_item(str(number))

    assert len(listed(as_("bob"))) == 100
    assert len(listed(as_("bob"), "?limit=500")) == 101


# Cursors ------------------------------------------------------------------------------------------


def _twins(count: int) -> list[str]:
    """Items whose times are equal in threes, in the order of the list."""
    start = factories.now()
    made = [factories.open_item(str(n), at=start + timedelta(seconds=n // 3)) for n in range(count)]
    order = sorted(made, key=lambda item: (item.updated_at, item.id), reverse=True)
    return [item.id for item in order]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 13, 14])
def test_a_walk_meets_equal_times_exactly_once(as_: Any, cast: Any, limit: int) -> None:
    expected = _twins(13)

    assert walk(as_("bob"), f"limit={limit}") == expected


def test_a_full_last_page_has_no_cursor(as_: Any, cast: Any) -> None:
    _twins(4)

    pages = [as_("bob").get(f"/work-items?limit={limit}").json() for limit in (4, 3)]

    assert pages[0]["next_cursor"] is None
    assert pages[1]["next_cursor"] is not None


def test_a_walk_skips_and_repeats_no_survivor(as_: Any, cast: Any) -> None:
    expected = _twins(24)
    chance = random.Random(7)
    touched: set[str] = set()

    def meanwhile() -> None:
        factories.open_item("new", at=factories.now() + timedelta(minutes=1))
        item = chance.choice([one for one in expected if one not in touched])
        touched.add(item)
        row = factories.found_item(item)
        factories.moved_item(row, chance.choice(["complete", "archive"]))

    found = walk(as_("bob"), "limit=5", meanwhile)

    assert len(found) == len(set(found))
    survivors = [item for item in expected if item not in touched]
    assert [item for item in found if item in survivors] == survivors
    assert set(found) <= set(expected)


def test_a_waiting_item_moves_to_the_front_and_is_not_repeated(as_: Any, cast: Any) -> None:
    expected = _twins(6)
    api = as_("bob")
    page = api.get("/work-items?limit=3").json()
    last = factories.found_item(expected[-1])
    factories.moved_item(
        last, "wait", waiting_reason="input", at=factories.now() + timedelta(minutes=1)
    )

    rest = api.get(f"/work-items?limit=3&cursor={page['next_cursor']}").json()

    assert [item["id"] for item in rest["items"]] == expected[3:5]


def test_an_altered_cursor_is_refused(as_: Any, cast: Any) -> None:
    _twins(4)
    cursor = as_("bob").get("/work-items?limit=2").json()["next_cursor"]
    altered = [
        cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        for place in range(len(cursor))
    ]

    for wrong in [*altered, cursor[:-1], cursor + "A", cursor + "=", "", "x", "%00"]:
        refused(as_("bob").get(f"/work-items?limit=2&cursor={wrong}"), 400, "invalid_request")


@pytest.mark.parametrize(
    "query", ["state=active", "tenant=acme", "owner=alice", "q=1", "surface=api", "external_key=k"]
)
def test_a_cursor_belongs_to_its_filters(as_: Any, cast: Any, query: str) -> None:
    _twins(4)
    cursor = as_("bob").get("/work-items?limit=2").json()["next_cursor"]

    invalid(as_("bob").get(f"/work-items?limit=2&cursor={cursor}&{query}"), "cursor")


def test_spelling_out_a_default_and_another_limit_keep_the_cursor(as_: Any, cast: Any) -> None:
    expected = _twins(4)
    cursor = as_("bob").get("/work-items?limit=2").json()["next_cursor"]

    page = as_("bob").get(f"/work-items?limit=7&state=open&cursor={cursor}").json()

    assert [item["id"] for item in page["items"]] == expected[2:]
