"""Tokens: told once, known by digest, worthless at once when revoked, expired or switched off."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from organizations import queries
from organizations.models import ApiToken
from organizations.operations import principals, tokens
from stigmer.core.callers import SYSTEM, Caller, system_act
from stigmer.core.errors import InvalidRequest, PermissionDenied
from tests.factories import Api, act, make_token, now, race

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


def _is_refused(token: str | None, **headers: str) -> bool:
    answer = Api(token).get("/whoami", headers=headers)
    return (
        answer.status_code == 401
        and answer.json()["code"] == "unauthenticated"
        and answer["WWW-Authenticate"] == "Bearer"
    )


def test_a_secret_is_told_once_and_works(as_: As) -> None:
    made = as_("bob").post("/tokens", {"name": "laptop"})

    body = made.json()
    assert made.status_code == 201
    assert sorted(body) == ["created_at", "expires_at", "id", "name", "token"]
    assert body["token"].startswith("stigmer_")
    assert len(body["token"]) >= len("stigmer_") + 43  # 256 bits in base64
    assert made["Cache-Control"] == "no-store"
    assert Api(body["token"]).get("/whoami").json()["principal"] == "bob"


def test_neither_secret_nor_digest_ever_leaves(as_: As, caplog: Any) -> None:
    secret = as_("bob").post("/tokens", {"name": "laptop"}).json()["token"]

    listed = as_("bob").get("/tokens")

    digest = queries.digest_of(secret)
    assert [sorted(item) for item in listed.json()["items"]] == [
        ["created_at", "expires_at", "id", "name"]
    ] * 2
    for text in (listed.content.decode(), caplog.text):
        assert secret not in text
        assert digest not in text
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM organizations_apitoken t WHERE t::text ~ %s", [secret])
        assert cursor.fetchone()[0] == 0


def test_lists_own_tokens_alone_newest_first(as_: As) -> None:
    bob = as_("bob")
    as_("alice").post("/tokens", {"name": "hers"})
    ids = [bob.post("/tokens", {"name": f"n{n}"}).json()["id"] for n in range(3)]

    first = bob.get("/tokens?limit=2").json()
    second = bob.get(f"/tokens?limit=2&cursor={first['next_cursor']}").json()

    assert [item["id"] for item in first["items"]] == ids[:0:-1]
    assert [item["name"] for item in second["items"]] == ["n0", "test"]
    assert second["next_cursor"] is None
    assert first["schema_version"] == "stigmer/v1"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "é" * 33},
        {"name": "a\tb"},
        {"name": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x", "expires_at": "2999-01-01T00:00:00"},
        {"name": "x", "expires_at": 5},
        {"name": "x", "expires_at": None},
        {"name": "x", "principal": "alice"},
    ],
)
def test_refuses_a_wrong_token(as_: As, body: dict[str, Any]) -> None:
    bob = as_("bob")

    refused = bob.post("/tokens", body)

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert ApiToken.objects.filter(principal="bob").count() == 1


def test_a_token_expires(as_: As) -> None:
    made = as_("bob").post("/tokens", {"name": "x", "expires_at": "2999-01-01T01:00:00+01:00"})
    assert made.json()["expires_at"] == "2999-01-01T00:00:00.000000Z"
    assert Api(made.json()["token"]).get("/whoami").status_code == 200

    ApiToken.objects.filter(id=made.json()["id"]).update(expires_at=now())

    assert _is_refused(made.json()["token"])


def test_a_revoked_token_is_worthless(as_: As) -> None:
    made = as_("bob").post("/tokens", {"name": "x"}).json()
    mine = Api(made["token"])

    assert mine.delete(f"/tokens/{made['id']}").status_code == 204

    assert _is_refused(made["token"])
    again = as_("bob").delete(f"/tokens/{made['id']}")
    assert (again.status_code, again.json()["code"]) == (404, "token_not_found")
    assert made["id"] not in as_("bob").get("/tokens").content.decode()


def test_anothers_token_is_not_found_like_none(as_: As) -> None:
    made = as_("bob").post("/tokens", {"name": "x"}).json()
    nothing = "tok_01jjwz3k8nf2m9v4c7x6t5q0ra"

    answers = [
        as_(who).delete(f"/tokens/{id}")
        for who in ("alice", "root")
        for id in (made["id"], nothing, "TOK", "tok_%01")
    ]

    assert {(a.status_code, a.json()["code"]) for a in answers} == {(404, "token_not_found")}
    assert len({without_request_id(answer) for answer in answers}) == 1
    assert Api(made["token"]).get("/whoami").status_code == 200


def without_request_id(answer: Any) -> str:
    body = answer.json()
    body.pop("request_id")
    return str(body)


def test_a_deactivated_principals_token_is_worthless_until_it_is_back(as_: As) -> None:
    bob = as_("bob")
    assert bob.get("/whoami").status_code == 200

    principals.deactivate(principal="bob", by=act("root"), now=now())
    assert _is_refused(bob.token)

    principals.activate(principal="bob", by=act("root"), now=now())
    assert bob.get("/whoami").status_code == 200


def test_only_the_header_carries_a_token(as_: As) -> None:
    token = as_("bob").token

    assert _is_refused(None)
    assert Api(None).get(f"/whoami?token={token}").status_code == 401
    assert Api(None).get(f"/whoami?access_token={token}").status_code == 401
    assert _is_refused(None, Authorization=f"Token {token}")
    assert _is_refused(None, Authorization=f"Basic {token}")
    assert _is_refused(None, Authorization="Bearer ")
    assert _is_refused(None, Authorization=f"Bearer {token}x")
    assert _is_refused(None, Authorization=f"Bearer {queries.digest_of(token or '')}")
    assert _is_refused(None, Cookie=f"token={token}")
    assert Api(None).get("/whoami", headers={"Authorization": f"bearer {token}"}).status_code == 200


def test_authentication_is_one_statement(
    cast: dict[str, Caller], django_assert_num_queries: Callable[[int], CaptureQueriesContext]
) -> None:
    secret, moment = make_token("alice"), now()
    queries.caller_by_token(secret, moment)

    with django_assert_num_queries(1):
        found = queries.caller_by_token(secret, moment)

    assert found == cast["alice"]


def test_use_is_noted_at_most_once_a_minute(cast: dict[str, Caller]) -> None:
    secret, moment = make_token("alice"), now()

    def used(after: int) -> Any:
        queries.caller_by_token(secret, moment + timedelta(seconds=after))
        return ApiToken.objects.get(principal="alice").last_used_at

    assert used(0) == moment
    assert used(59) == moment
    assert used(60) == moment + timedelta(seconds=60)


@pytest.mark.django_db(transaction=True)
def test_uses_at_once_do_not_wait_for_each_other(cast: dict[str, Caller]) -> None:
    secret, moment = make_token("alice"), now()

    callers = race(*[lambda: queries.caller_by_token(secret, moment)] * 16)

    assert {caller.name for caller in callers} == {"alice"}
    assert ApiToken.objects.get(principal="alice").last_used_at == moment


@pytest.mark.django_db(transaction=True)
def test_a_use_never_waits_for_the_row_of_its_token(cast: dict[str, Caller]) -> None:
    secret, moment = make_token("alice"), now()

    def hold_the_row() -> None:
        with transaction.atomic():
            list(ApiToken.objects.filter(principal="alice").locked())
            connection.cursor().execute("SELECT pg_sleep(0.5)")

    def use() -> Any:
        connection.cursor().execute("SELECT pg_sleep(0.2)")
        connection.cursor().execute("SET lock_timeout = '50ms'")
        return queries.caller_by_token(secret, moment)

    _, found = race(hold_the_row, use)

    assert found == cast["alice"]


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "other"},
        {"principal_id": "bob"},
        {"created_at": None},
        {"revoked_at": None},
    ],
)
def test_the_database_keeps_tokens(cast: dict[str, Caller], change: dict[str, Any]) -> None:
    make_token("alice")
    ApiToken.objects.update(revoked_at=now())
    before = ApiToken.objects.values().get()

    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.update(**change)

    assert ApiToken.objects.values().get() == before


def test_the_platforms_own_principal_has_no_token() -> None:
    with pytest.raises(InvalidRequest):
        make_token(SYSTEM.name)

    assert not ApiToken.objects.exists()


def test_only_a_platform_admin_revokes_anothers(cast: dict[str, Caller]) -> None:
    token, _ = tokens.create_token(
        principal="bob", name="x", expires_at=None, by=system_act(), now=now()
    )

    with pytest.raises(PermissionDenied):
        tokens.revoke_any_token(id=token.id, by=act("alice"), now=now())
    assert ApiToken.objects.get(id=token.id).revoked_at is None

    tokens.revoke_any_token(id=token.id, by=act("root"), now=now())
    assert ApiToken.objects.get(id=token.id).revoked_at is not None


def test_the_command_prints_only_the_token(cast: dict[str, Caller], capsys: Any) -> None:
    call_command("create_token", "bob", "--name", "ci", "--days", "2")

    secret = capsys.readouterr().out
    assert secret.count("\n") == 1
    assert Api(secret.strip()).get("/whoami").json()["principal"] == "bob"
    token = ApiToken.objects.get(name="ci")
    assert token.expires_at - token.created_at == timedelta(days=2)
