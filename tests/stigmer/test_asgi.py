"""The gate before WSGI, and what passes it."""

import asyncio
import json
from typing import Any

import pytest

from stigmer.asgi import application

ONCE = ["authorization", "content-length", "content-type", "host", "idempotency-key"]
ONCE += ["if-match", "if-none-match", "x-request-id"]


def call(headers: list[tuple[str, str]], query: bytes = b"") -> tuple[int, dict[str, str], Any]:
    """Status, headers and decoded body of GET /healthz."""
    sent: list[Any] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "path": "/healthz",
        "root_path": "",
        "query_string": query,
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(application(scope, receive, send))  # type: ignore[arg-type]
    body = b"".join(message.get("body", b"") for message in sent[1:])
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, json.loads(body)


def test_passes_an_ordinary_request_on() -> None:
    status, _, body = call([("host", "localhost"), ("accept", "a"), ("accept", "b")])

    assert (status, body) == (200, {"status": "ok"})


@pytest.mark.parametrize("name", ONCE)
def test_refuses_a_repeated_header(name: str) -> None:
    others = [("host", "localhost")] if name != "host" else []

    status, headers, body = call([*others, (name, "1"), (name.title(), "1")])

    assert status == 400
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-request-id"] == body["request_id"]
    assert body["code"] == "invalid_request"
    assert body["detail"] == f"the header {name} must not be repeated"
    assert body["errors"] == [{"pointer": name, "code": "repeated", "detail": body["detail"]}]


def test_refuses_a_query_that_is_not_ascii() -> None:
    status, _, body = call([("host", "localhost")], query=b"q=\xc3\xa4")

    assert (status, body["code"]) == (400, "invalid_request")


def test_a_header_with_an_underscore_joins_no_other() -> None:
    status, _, _ = call([("host", "localhost"), ("x_forwarded_host", "evil"), ("HOST_", "x")])

    assert status == 200
