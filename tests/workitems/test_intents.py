"""POST and GET /work-items/{id}/intents, GET …/intents/{id}."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from tests import factories
from tests.workitems.world import conflict, events_of, invalid, nothing_written, refused, rows

pytestmark = pytest.mark.django_db


def say(api: Any, item: Any, text: str = "Please hurry", **more: Any) -> Any:
    send = {name: more.pop(name) for name in ("key", "headers") if name in more}
    return api.post(f"/work-items/{item.id}/intents", json={"text": text} | more, **send)


def intents(api: Any, item: Any, query: str = "") -> Any:
    return api.get(f"/work-items/{item.id}/intents{query}")


def test_records_what_was_asked_for(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    response = say(as_("bob"), item, " Zeile 1\n\tZeile 2 ", params={"b": [1, None], "a": {}})

    answer = response.json()
    intent = answer.pop("intent")
    assert response.status_code == 201
    assert answer == {"schema_version": "workitem/v1", "created": True}
    number = intent.pop("id")
    assert isinstance(number, int)
    assert intent.pop("created_at").endswith("Z")
    assert intent == {
        "work_item_id": item.id, "actor_principal": "bob", "surface": "api",
        "text": " Zeile 1\n\tZeile 2 ", "text_redacted": False, "params": {"b": [1, None], "a": {}},
    }  # fmt: skip
    one = as_("vera").get(f"/work-items/{item.id}/intents/{number}")
    shown = one.json()["intent"]
    assert shown == intent | {"id": number, "created_at": shown["created_at"]}


def test_the_event_names_the_intent_and_not_its_text(as_: Any, cast: Any) -> None:
    item = factories.open_item()

    made = say(as_("bob"), item, "Please hurry", surface="telegram").json()["intent"]

    assert events_of(item.id) == ["created", "intent_appended"]
    assert rows(
        "SELECT (detail->>'intent_id')::int, detail::text, surface FROM workitems_workitemevent "
        "WHERE seq = 2"
    ) == [(made["id"], f'{{"intent_id": {made["id"]}}}', "telegram")]


def test_raises_no_version_and_moves_no_time(as_: Any, cast: Any) -> None:
    item = factories.waiting_item()

    assert say(as_("bob"), item).status_code == 201

    assert rows("SELECT state_version, updated_at FROM workitems_workitem") == [
        (2, item.updated_at)
    ]


@pytest.mark.parametrize("action", ["complete", "archive", "supersede"])
def test_refuses_a_terminal_item(as_: Any, cast: Any, action: str) -> None:
    item = factories.ended_item(action=action)
    with nothing_written():
        response = say(as_("bob"), item, key="k")

    conflict(response, "invalid_transition", item.state, 2)


def test_a_null_params_is_absent_and_an_empty_object_is_not(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    sent: list[dict[str, Any]] = [{}, {"params": None}, {"params": {}}]

    answers = [say(as_("bob"), item, **more).json()["intent"]["params"] for more in sent]

    assert answers == [None, None, {}]
    assert rows(
        "SELECT params IS NULL FROM workitems_workitemintent ORDER BY id"
    ) == [(True,), (True,), (False,)]  # fmt: skip


@pytest.mark.parametrize("more", [{}, {"params": None}, {"surface": "api"}, {"surface": ""}])
def test_spelling_out_a_default_is_the_same_request(as_: Any, cast: Any, more: Any) -> None:
    item = factories.open_item()
    first = say(as_("bob"), item, key="k").json()["intent"]
    with nothing_written():
        again = say(as_("bob"), item, key="k", **more)

    assert (again.status_code, again.json()["intent"]) == (200, first)
    assert again.json()["created"] is False


def test_a_replay_on_a_terminal_item_answers_the_intent(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    first = say(as_("bob"), item, key="k").json()["intent"]
    factories.moved_item(item, "complete")

    again = say(as_("bob"), item, key="k")

    assert (again.status_code, again.json()["intent"]) == (200, first)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"text": ""}, "/text"),
        ({"text": " \n\t "}, "/text"),
        ({"text": None}, "/text"),
        ({"text": 7}, "/text"),
        ({"text": "é" * 4097}, "/text"),
        ({"text": "a\x07b"}, "/text"),
        ({"params": []}, "/params"),
        ({"params": "x"}, "/params"),
        ({"params": {"a": "x" * 8192}}, "/params"),
        ({"params": {"a/b": [{"~": "\x1b"}]}}, "/params/a~1b/0/~0"),
        ({"params": {"a\x01": 1}}, "/params"),
        ({"surface": "Chat"}, "/surface"),
        ({"surface": None}, "/surface"),
        ({"external_id": "x"}, "/external_id"),
    ],
)
def test_refuses_a_wrong_field(as_: Any, cast: Any, change: dict[str, Any], pointer: str) -> None:
    item = factories.open_item()
    with nothing_written():
        response = say(as_("bob"), item, **({"text": "x", "key": "k"} | change))

    invalid(response, pointer)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"text": "x", "params": {"a": "\\u0000"}}',
        b'{"text": "x", "params": {"\\ud800": 1}}',
        b'{"text": "\\u0000"}',
        b'{"text": "x", "params": {"a": 1, "a": 1}}',
        b'{"text": "x", "params": {"a": NaN}}',
        b'{"text": "x", "params": {"a": 9007199254740993}}',
        b'{"text": "x", "params": ' + b'{"a":' * 33 + b"1" + b"}" * 33 + b"}",
        b'{"text": "\xff"}',
    ],
)
def test_refuses_what_no_json_of_ours_holds(as_: Any, cast: Any, raw: bytes) -> None:
    item = factories.open_item()
    with nothing_written():
        response = as_("bob").post(f"/work-items/{item.id}/intents", body=raw)

    refused(response, 400, "invalid_request")


def test_takes_text_and_params_at_their_longest(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    params = {"a": "é" * ((8192 - len('{"a":""}')) // 2)}

    response = say(as_("bob"), item, "🚪" * 2048, params=params)

    assert response.status_code == 201
    assert response.json()["intent"]["params"] == params


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"text": "use {secret} now"}, "text"),
        ({"params": {"a": [{"deep": "{secret}"}]}}, "params"),
        ({"params": {"{secret}": 1}}, "params"),
    ],
)
def test_refuses_a_secret(as_: Any, cast: Any, more: Any, field: str) -> None:
    item = factories.open_item()
    body = factories.encode({"text": "x"} | more).replace(b"{secret}", b"ghp_" + b"aB3" * 12)
    with nothing_written():
        response = as_("bob").post(f"/work-items/{item.id}/intents", body=body, key="k")

    assert refused(response, 400, "secret_in_text")["details"]["field"] == field
    assert "aB3aB3" not in response.content.decode()


# Reads --------------------------------------------------------------------------------------------


def test_lists_ascending_and_says_when_more_follow(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    ids = [say(as_("bob"), item, f"wish {n}").json()["intent"]["id"] for n in range(5)]

    first = intents(as_("vera"), item, "?limit=3").json()
    rest = intents(as_("vera"), item, f"?limit=3&after_id={ids[2]}").json()

    assert set(first) == {"schema_version", "intents", "truncated"}
    assert ([one["id"] for one in first["intents"]], first["truncated"]) == (ids[:3], True)
    assert ([one["id"] for one in rest["intents"]], rest["truncated"]) == (ids[3:], False)


def test_a_full_last_page_is_not_truncated(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    for _ in range(2):
        say(as_("bob"), item)

    assert intents(as_("bob"), item, "?limit=2").json()["truncated"] is False


@pytest.mark.parametrize("digits", [18, 19, 5000])
def test_nothing_is_behind_a_number_that_no_intent_has(as_: Any, cast: Any, digits: int) -> None:
    item = factories.open_item()
    say(as_("bob"), item)

    assert intents(as_("bob"), item, f"?after_id={'9' * digits}").json()["intents"] == []
    assert len(intents(as_("bob"), item, f"?after_id={'0' * digits}").json()["intents"]) == 1


@pytest.mark.parametrize("raw", ["-1", "1.0", "x", "", "1e3", "%C2%B2", "%201"])
def test_refuses_what_is_no_counter(as_: Any, cast: Any, raw: str) -> None:
    item = factories.open_item()

    invalid(intents(as_("bob"), item, f"?after_id={raw}"), "after_id")


@pytest.mark.parametrize("raw", ["0", "501", "-1", "x", "", "1.0", "1e2"])
def test_refuses_a_limit_outside(as_: Any, cast: Any, raw: str) -> None:
    item = factories.open_item()

    response = intents(as_("bob"), item, f"?limit={raw}")

    invalid(response, "limit", "limit must be an integer from 1 to 500")


def test_an_intent_of_another_item_is_not_found(as_: Any, cast: Any) -> None:
    item, other = factories.open_item(), factories.open_item()
    number = say(as_("bob"), other).json()["intent"]["id"]
    answers = []
    for wrong in (number, 0, number + 1000, "x", f"0{number}", "-1", "9" * 30, "²"):
        response = as_("bob").get(f"/work-items/{item.id}/intents/{wrong}")
        answers.append(refused(response, 404, "intent_not_found") | {"request_id": ""})
    other_spelling = as_("bob").get(f"/work-items/{other.id}/intents/0{number}")

    assert all(answer == answers[0] for answer in answers)
    refused(other_spelling, 404, "intent_not_found")


def test_a_redacted_intent_is_empty_and_says_so(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    number = say(as_("bob"), item, params={"a": 1}, key="k").json()["intent"]["id"]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE workitems_workitemintent SET text = NULL, params = NULL")

    shown = as_("bob").get(f"/work-items/{item.id}/intents/{number}").json()["intent"]
    again = say(as_("bob"), item, params={"a": 1}, key="k")

    assert (shown["text"], shown["text_redacted"], shown["params"]) == ("", True, None)
    assert (again.status_code, again.json()["intent"]) == (200, shown)


def test_an_intent_has_an_etag(as_: Any, cast: Any) -> None:
    item = factories.open_item()
    number = say(as_("bob"), item).json()["intent"]["id"]
    path = f"/work-items/{item.id}/intents/{number}"
    tag = as_("bob").get(path)["ETag"]

    assert as_("bob").get(path, headers={"If-None-Match": tag}).status_code == 304
