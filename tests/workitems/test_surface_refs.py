"""POST and GET /work-items/{id}/surface-refs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests import factories
from tests.workitems.world import events_of, invalid, nothing_written, refused, rows
from workitems import operations

pytestmark = pytest.mark.django_db
CHAT = {"surface": "telegram", "external_id": "chat-1"}


def link(api: Any, item: Any, **more: Any) -> Any:
    send = {name: more.pop(name) for name in ("key", "headers") if name in more}
    return api.post(f"/work-items/{item.id}/surface-refs", json=CHAT | more, **send)


def refs(api: Any, item: Any, query: str = "") -> Any:
    return api.get(f"/work-items/{item.id}/surface-refs{query}")


def test_a_new_one_is_remembered(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    response = link(as_("bob"), item)

    answer = response.json()
    ref = answer["surface_ref"]
    assert (response.status_code, set(answer)) == (201, {"schema_version", "surface_ref"})
    assert ref.pop("first_seen_at") == ref.pop("last_seen_at")
    assert ref == CHAT | {"work_item_id": item.id, "actor_external_id": None}


def test_writes_one_event_without_the_ids_and_raises_no_version(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    link(as_("bob"), item, actor_external_id="user-7")
    link(as_("bob"), item)

    assert events_of(item.id) == ["created", "surface_linked"]
    event = rows("SELECT t::text FROM workitems_workitemevent t WHERE seq = 2")[0][0]
    assert "chat-1" not in event
    assert "user-7" not in event
    assert rows("SELECT state_version, updated_at FROM workitems_workitem") == [
        (1, item.updated_at)
    ]


def test_a_known_one_is_seen_again(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    first = link(as_("bob"), item, actor_external_id="user-7").json()["surface_ref"]

    response = link(as_("alice"), item)

    again = response.json()["surface_ref"]
    assert response.status_code == 200
    assert again["first_seen_at"] == first["first_seen_at"]
    assert again["last_seen_at"] > first["last_seen_at"]
    assert again["actor_external_id"] == "user-7"


def test_only_a_non_empty_actor_replaces_the_known_one(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    sent = ["user-7", "", "user-8", ""]

    found = [
        link(as_("bob"), item, actor_external_id=one).json()["surface_ref"]["actor_external_id"]
        for one in sent
    ]

    assert found == ["user-7", "user-7", "user-8", "user-8"]


def test_a_clock_that_went_back_never_moves_last_seen_back(cast: Any) -> None:
    item = factories.open_item()
    now = factories.now()

    seen = [
        operations.link_surface(
            item=item.id, surface="telegram", external_id="c", actor_external_id="",
            by=factories.act(), now=moment,
        ).ref.last_seen_at
        for moment in (now, now - timedelta(hours=1))
    ]  # fmt: skip

    assert seen == [now, now]


@pytest.mark.parametrize("action", ["complete", "archive", "supersede"])
def test_a_terminal_item_takes_references(as_: Any, cast: Any, action: str) -> None:
    item = factories.ended_item(action=action)

    assert link(as_("bob"), item).status_code == 201
    assert events_of(item.id)[-1] == "surface_linked"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"surface": ""}, "/surface"),
        ({"surface": None}, "/surface"),
        ({"surface": "Telegram"}, "/surface"),
        ({"external_id": ""}, "/external_id"),
        ({"external_id": "é" * 129}, "/external_id"),
        ({"external_id": "a\nb"}, "/external_id"),
        ({"external_id": 7}, "/external_id"),
        ({"actor_external_id": None}, "/actor_external_id"),
        ({"actor_external_id": "x" * 257}, "/actor_external_id"),
        ({"idempotency_key": "k"}, "/idempotency_key"),
    ],
)
def test_refuses_a_wrong_field(as_: Any, cast: Any, change: dict[str, Any], pointer: str) -> None:
    item = factories.open_item()
    with nothing_written():
        response = link(as_("bob"), item, **change)

    invalid(response, pointer)


@pytest.mark.parametrize("field", ["surface", "external_id"])
def test_refuses_a_missing_field(as_: Any, cast: Any, field: str) -> None:
    item = factories.open_item()
    body = {name: value for name, value in CHAT.items() if name != field}
    with nothing_written():
        response = as_("bob").post(f"/work-items/{item.id}/surface-refs", json=body)

    invalid(response, f"/{field}", f"{field} is required")


@pytest.mark.parametrize("key", ["k", ""])
def test_takes_no_idempotency_key(as_: Any, cast: Any, key: str) -> None:
    item = factories.open_item()
    with nothing_written():
        response = link(as_("bob"), item, key=key)

    invalid(response, "Idempotency-Key")


@pytest.mark.parametrize("field", ["external_id", "actor_external_id"])
def test_refuses_a_secret(as_: Any, cast: Any, field: str) -> None:
    item = factories.open_item()
    with nothing_written():
        response = link(as_("bob"), item, **{field: "ghp_" + "aB3" * 12})

    assert refused(response, 400, "secret_in_text")["details"]["field"] == field


def test_the_list_walks_in_order(as_: Any, cast: Any) -> None:
    item, other = factories.open_item(), factories.open_item()
    known = [("slack", "b"), ("slack", "B"), ("slack", "é"), ("telegram", "a"), ("cli", "z")]
    for surface, external_id in known:
        link(as_("bob"), item, surface=surface, external_id=external_id)
    link(as_("bob"), other, external_id="elsewhere")

    found, query = [], "?limit=2"
    while query and len(found) < 100:
        page = refs(as_("vera"), item, query).json()
        found += [(ref["surface"], ref["external_id"]) for ref in page["items"]]
        query = page["next_cursor"] and f"?limit=2&cursor={page['next_cursor']}"

    assert found == sorted(known)


def test_a_full_last_page_has_no_cursor(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    for name in "ab":
        link(as_("bob"), item, external_id=name)

    assert refs(as_("bob"), item, "?limit=2").json()["next_cursor"] is None


def test_a_cursor_belongs_to_its_item(as_: Any, cast: Any) -> None:
    item, other = factories.open_item(), factories.open_item()
    for name in "ab":
        link(as_("bob"), item, external_id=name)
    cursor = refs(as_("bob"), item, "?limit=1").json()["next_cursor"]

    invalid(refs(as_("bob"), other, f"?cursor={cursor}"), "cursor")
    refused(refs(as_("mallory"), item, "?cursor=x"), 404, "work_item_not_found")
