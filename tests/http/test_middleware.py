"""Tests of what every answer has, and of refusals outside the doors."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from stigmer import urls
from stigmer.core.ids import is_id
from stigmer.http.access import AccessFormatter
from tests.factories import Api

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


def broken(_request: HttpRequest) -> HttpResponse:
    raise RuntimeError("the secret cause")


def away(_request: HttpRequest) -> HttpResponse:
    raise OperationalError("connection refused by db.internal")


class Faulty:
    """The product's routes and two that fail."""

    urlpatterns = [*urls.urlpatterns, path("broken", broken), path("away", away)]
    handler400 = urls.handler400
    handler403 = urls.handler403
    handler404 = urls.handler404
    handler500 = urls.handler500


@pytest.fixture
def client() -> Iterator[Client]:
    with override_settings(ROOT_URLCONF=Faulty):
        yield Client(raise_request_exception=False)


ADDRESSES = [
    "/healthz", "/nothing", "/api/v1/nothing", "/api/v1/whoami", "/problems", "/problems/nothing",
    "/api/v1/schema", "/api/v1/docs", "/console/login/", "/console/", "/broken", "/away",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_is_hardened(client: Client, address: str) -> None:
    answer = client.get(address)

    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
    assert "http:" not in answer["Content-Security-Policy"]
    assert is_id("req", answer["X-Request-Id"])
    assert "Server" not in answer


@pytest.mark.parametrize("address", [a for a in ADDRESSES if "console" not in a])
def test_nothing_inline_is_allowed_outside_the_console(client: Client, address: str) -> None:
    assert "unsafe" not in client.get(address)["Content-Security-Policy"]


def test_tells_browsers_to_stay_with_tls(client: Client, settings: Any) -> None:
    assert "Strict-Transport-Security" not in client.get("/healthz")

    settings.STIGMER_TLS = True

    assert client.get("/healthz")["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize(
    ("given", "shown", "header"),
    [
        ("trace-1", "trace-1", "trace-1"),
        ("a b=c;d", "a b=c;d", "a b=c;d"),
        ("дверь", "дверь", "%D0%B4%D0%B2%D0%B5%D1%80%D1%8C"),
        ("x\r\nSet-Cookie: a=b", "xSet-Cookie: a=b", "xSet-Cookie: a=b"),
        ("x" * 1000, "x" * 256, "x" * 256),
    ],
)
def test_an_id_of_the_caller_comes_back(
    client: Client, given: str, shown: str, header: str
) -> None:
    answer = client.get("/nothing", HTTP_X_REQUEST_ID=given.encode().decode("latin-1"))

    assert answer["X-Request-Id"] == header
    assert answer.json()["request_id"] == shown


@pytest.mark.parametrize("given", ["", "   ", "\x00\x01", "\xff\xfe"])
def test_an_id_of_nothing_is_replaced(client: Client, given: str) -> None:
    assert is_id("req", client.get("/healthz", HTTP_X_REQUEST_ID=given)["X-Request-Id"])


@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v1/whoami/", 404, "not_found"),
        ("GET", "/api/v1/organizations/a%00b", 404, "not_found"),
        ("GET", "/api/v1/whoami", 401, "unauthenticated"),
        ("POST", "/api/v1/whoami", 405, "method_not_allowed"),
        ("OPTIONS", "/api/v1/whoami", 405, "method_not_allowed"),
        ("TRACE", "/api/v1/whoami", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
        ("GET", "/broken", 500, "internal_error"),
        ("GET", "/away", 503, "store_unavailable"),
    ],
)
def test_a_refusal_outside_the_doors_is_a_problem(
    client: Client, method: str, address: str, status: int, code: str
) -> None:
    answer = client.generic(method, address)

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == code
    assert answer.json()["type"] == f"/problems/{code}"


def test_an_unknown_host_is_refused(client: Client) -> None:
    answer = client.get("/api/v1/whoami", HTTP_HOST="evil.example")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "Host"
    assert client.get("/healthz", HTTP_HOST="127.0.0.1:8000").status_code == 200


def test_405_lists_the_methods(client: Client, as_: As) -> None:
    assert client.post("/api/v1/whoami")["Allow"] == "GET, HEAD"
    assert client.put("/api/v1/work-items")["Allow"] == "GET, POST, HEAD"
    assert client.post("/healthz")["Allow"] == "GET, HEAD"
    assert "Allow" not in as_("alice").get("/whoami")


def test_406_for_a_form_that_nobody_has(as_: As) -> None:
    alice = as_("alice")

    refused = alice.get("/whoami", headers={"Accept": "text/csv"})

    assert (refused.status_code, refused.json()["code"]) == (406, "not_acceptable")
    for accepted in ("*/*", "application/json", "application/*;q=0.5, text/html", ""):
        assert alice.get("/whoami", headers={"Accept": accepted}).status_code == 200


def test_an_unforeseen_failure_tells_nothing_and_logs_the_cause(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get("/broken")

    assert "secret" not in answer.content.decode()
    assert answer.json()["detail"] == "An unforeseen failure; it is logged under the request id."
    (told,) = (record.msg for record in caplog.records if record.name == "stigmer.refusals")
    assert isinstance(told, dict)
    assert str(told["exc_info"]) == "the secret cause"
    assert told["request_id"] == answer.json()["request_id"]


def test_a_lost_database_is_told_without_its_address(client: Client) -> None:
    answer = client.get("/away")

    assert "db.internal" not in answer.content.decode()
    assert answer["Retry-After"] == "1"


def test_a_person_at_a_page_gets_a_page(client: Client) -> None:
    answer = client.get("/nothing", headers={"Accept": "text/html"})

    assert answer.status_code == 404
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    assert "There is nothing at this address" in answer.content.decode()
    assert client.get("/api/v1/nothing", headers={"Accept": "text/html"}).json()


def test_a_form_without_its_token_is_refused(client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)

    answer = strict.post("/console/login/", {"username": "alice", "password": "x"})

    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_the_api_opens_no_session(as_: As) -> None:
    assert not as_("alice").get("/whoami").cookies


def test_says_how_long_an_answer_is(client: Client, as_: As) -> None:
    answer = client.get("/healthz")
    tag = as_("alice").get("/organizations/acme")["ETag"]
    unchanged = as_("alice").get("/organizations/acme", headers={"If-None-Match": tag})

    assert answer["Content-Length"] == str(len(answer.content))
    assert unchanged.status_code == 304
    assert "Content-Length" not in unchanged


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[logging.LogRecord]:
    """What the access log gets."""
    found: list[logging.LogRecord] = []
    log = logging.getLogger("stigmer.access")
    monkeypatch.setattr(log, "level", logging.INFO)
    monkeypatch.setattr(log, "handle", found.append)
    log.manager._clear_cache()  # type: ignore[attr-defined]
    return found


def test_every_request_is_logged_once_without_its_query(
    as_: As, records: list[logging.LogRecord]
) -> None:
    as_("alice").get("/organizations?limit=0", headers={"X-Request-Id": "trace-1"})

    (record,) = records
    line = json.loads(AccessFormatter(json=True).format(record))
    assert line.pop("ms") > 0
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "request",
        "method": "GET",
        "path": "/api/v1/organizations",
        "status": 400,
        "principal": "alice",
        "code": "invalid_request",
        "request_id": "trace-1",
        "logger": "stigmer.access",
        "level": "info",
    }
    assert "limit" not in AccessFormatter(json=False).format(record)


@pytest.mark.parametrize("json_lines", [True, False])
def test_a_path_cannot_write_a_second_record(
    client: Client, records: list[logging.LogRecord], json_lines: bool
) -> None:
    client.get("/nothing%0A2026-01-31 request method=GET")

    (record,) = records
    assert len(AccessFormatter(json=json_lines).format(record).splitlines()) == 1
