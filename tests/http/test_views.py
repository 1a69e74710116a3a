"""Tests of doors on the real routes: the order of refusals, keys, tags, problem bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from stigmer.core.errors import AlreadyExists, InvalidRequest, NotAuthenticated, StoreUnavailable
from stigmer.http.errors import BodyTooLarge, TooManyRequests
from stigmer.http.problems import failure, problem
from tests.factories import Api, open_item

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]
ITEM = {"tenant": "acme", "title": "Fix the door"}


def rows(table: str = "workitems_workitem") -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        (found,) = cursor.fetchone()
        return int(found)


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def place_of(answer: Any) -> tuple[int, str, str]:
    (error,) = answer.json()["errors"]
    return answer.status_code, error["pointer"], error["code"]


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic YWxpY2U6eA==", "Token x", "stigmer_x", "Bearer stigmer_x",
     "Bearer stigmer_" + "x" * 100_000, "Bearer \xff\xfe", "Bearer stigmer_x, Bearer stigmer_y"],
)  # fmt: skip
def test_refuses_what_is_no_token(as_: As, header: str) -> None:
    answer = as_(None).get("/whoami", headers={"Authorization": header})

    assert code_of(answer) == (401, "unauthenticated")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_takes_a_token_from_the_header_alone(as_: As) -> None:
    token = as_("alice").token

    assert as_(None).get("/whoami", headers={"Authorization": f"bearer {token}"}).status_code == 200
    assert as_(None).get(f"/whoami?token={token}").status_code == 401
    cookie = as_(None)
    cookie.client.cookies["token"] = str(token)
    assert cookie.get("/whoami").status_code == 401


def test_judges_in_the_order_token_sight_role_body(as_: As) -> None:
    item = f"/work-items/{open_item().id}"
    broken = {"body": b"{", "headers": {"Content-Type": "text/plain"}}

    assert code_of(as_(None).patch(item, **broken)) == (401, "unauthenticated")
    assert code_of(as_("mallory").patch(item, **broken)) == (404, "work_item_not_found")
    assert code_of(as_("vera").patch(item, **broken)) == (403, "permission_denied")
    assert code_of(as_("alice").patch(item, body=b"{")) == (400, "invalid_request")


def test_a_wrong_query_does_not_tell_what_is_there(as_: As) -> None:
    item = f"/work-items/{open_item().id}/events?x=1"

    assert code_of(as_("mallory").get(item)) == (404, "work_item_not_found")
    assert place_of(as_("vera").get(item)) == (400, "x", "unknown_field")


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        (b"", "blank"),
        (b"k" * 513, "too_long"),
        ("🚪".encode() * 129, "too_long"),
        (b"\xff", "not_utf8"),
        (b"\xc3", "not_utf8"),
        (b"a\tb", "control_character"),
        (b"a\x00b", "control_character"),
        ("a\u2028b".encode(), "control_character"),
    ],
)
def test_refuses_a_malformed_key(as_: As, header: bytes, fault: str) -> None:
    headers = {"Idempotency-Key": header.decode("latin-1")}

    answer = as_("alice").post("/work-items", ITEM, headers=headers)

    assert place_of(answer) == (400, "Idempotency-Key", fault)
    assert rows() == 0


@pytest.mark.parametrize("key", ["k" * 512, "🚪" * 128, " ", "a, b", '"quoted"'])
def test_takes_a_key_literally(as_: As, key: str) -> None:
    first = as_("alice").post("/work-items", ITEM, key=key)
    again = as_("alice").post("/work-items", {**ITEM, "idempotency_key": key})

    assert (first.status_code, again.status_code) == (201, 200)
    assert rows() == 1


def test_refuses_two_different_keys(as_: As) -> None:
    answer = as_("alice").post("/work-items", {**ITEM, "idempotency_key": "a"}, key="b")

    assert place_of(answer) == (400, "/idempotency_key", "differs")
    assert rows() == 0


def test_refuses_a_key_where_there_is_none(as_: As) -> None:
    before = rows("organizations_organization")

    answer = as_("alice").post("/organizations", {"name": "Fresh"}, key="k")

    assert place_of(answer) == (400, "Idempotency-Key", "unknown")
    assert rows("organizations_organization") == before


def test_a_read_does_not_mind_a_key(as_: As) -> None:
    assert as_("alice").get("/organizations/acme", key="k").status_code == 200


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Content-Type": "text/plain"}, (415, "unsupported_media_type")),
        ({"Content-Type": "application/json; charset=utf-16"}, (415, "unsupported_media_type")),
        ({"Content-Length": str(100 * 1024 * 1024)}, (413, "body_too_large")),
        ({"Content-Length": ""}, (411, "length_required")),
        ({"Content-Length": "", "Transfer-Encoding": "chunked"}, (411, "length_required")),
    ],
)
def test_refuses_a_body_by_its_headers(
    as_: As, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    answer = as_("alice").post("/work-items", ITEM, headers=headers)

    assert code_of(answer) == expected
    assert rows() == 0


def test_a_body_ends_at_64_kib(as_: As) -> None:
    fits = b'{"tenant":"acme","title":"x"' + b" " * (65536 - 29) + b"}"
    assert len(fits) == 65536

    assert as_("alice").post("/work-items", body=fits).status_code == 201
    answer = as_("alice").post("/work-items", body=fits + b" ")

    assert code_of(answer) == (413, "body_too_large")
    assert answer.json()["details"] == {"limit": 65536}
    assert rows() == 1


@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b'"x"', b"[" * 10_000])
def test_refuses_a_body_that_is_no_object(as_: As, body: bytes) -> None:
    assert code_of(as_("alice").post("/work-items", body=body)) == (400, "invalid_request")
    assert rows() == 0


def test_a_tag_answers_304_while_nothing_changes(as_: As) -> None:
    alice = as_("alice")
    tag = alice.get("/organizations/acme")["ETag"]

    same = alice.get("/organizations/acme", headers={"If-None-Match": tag})

    assert (same.status_code, same.content, same["ETag"]) == (304, b"", tag)
    assert "Content-Type" not in same
    alice.patch("/organizations/acme", {"name": "Acme two"})
    assert alice.get("/organizations/acme", headers={"If-None-Match": tag}).status_code == 200


def test_a_head_is_a_get_without_content(as_: As) -> None:
    assert as_("alice").send("HEAD", "/organizations/acme").status_code == 200


def test_a_problem_has_the_members_of_rfc_9457() -> None:
    answer = problem(AlreadyExists("acme is taken", slug="acme"), "req_1")

    assert answer.status_code == 409
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.content == (
        b'{"type":"/problems/already_exists","title":"It exists already","status":409,'
        b'"detail":"acme is taken","code":"already_exists","request_id":"req_1",'
        b'"details":{"slug":"acme"}}'
    )


def test_an_input_fault_stands_in_errors() -> None:
    answer = problem(InvalidRequest("x is wrong", pointer="/x", fault="wrong_type"), "req_1")

    assert (
        b'"errors":[{"pointer":"/x","code":"wrong_type","detail":"x is wrong"}]' in answer.content
    )
    assert b"details" not in answer.content


@pytest.mark.parametrize(
    ("refusal", "header"),
    [
        (TooManyRequests(headers={"Retry-After": "7"}), ("Retry-After", "7")),
        (StoreUnavailable(headers={"Retry-After": "1"}), ("Retry-After", "1")),
        (NotAuthenticated(), ("WWW-Authenticate", "Bearer")),
    ],
)
def test_some_problems_have_a_header(refusal: Any, header: tuple[str, str]) -> None:
    name, value = header

    answer = problem(refusal, "req_1")

    assert answer[name] == value
    assert b"headers" not in answer.content


def test_facts_and_failures_are_plain() -> None:
    assert b'"details":{"limit":5}' in problem(BodyTooLarge(limit=5), "").content
    assert failure("req_1").status_code == 500
