"""The gate before WSGI, and what passes it."""

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from stigmer.asgi import application

ONCE = ["authorization", "content-length", "content-type", "host", "idempotency-key"]
ONCE += ["if-match", "if-none-match", "last-event-id", "x-stigmer-claim-token"]


NO_BODY: Iterator[bytes] = iter(())


def call(
    headers: list[tuple[str, str]],
    query: bytes = b"",
    method: str = "GET",
    body: Iterator[bytes] = NO_BODY,
) -> tuple[int, dict[str, str], Any]:
    """Status, headers and decoded body of a request for /healthz."""
    sent: list[Any] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": "/healthz",
        "root_path": "",
        "query_string": query,
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }

    async def receive() -> Any:
        part = next(body, None)
        return {"type": "http.request", "body": part or b"", "more_body": part is not None}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(application(scope, receive, send))  # type: ignore[arg-type]
    answer = b"".join(message.get("body", b"") for message in sent[1:])
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, json.loads(answer)


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


def test_a_repeated_request_id_fails_nothing() -> None:
    twice = [("x-request-id", "edge-1"), ("X-Request-Id", "proxy-2")]

    status, headers, _ = call([("host", "localhost"), *twice])

    assert (status, headers["x-request-id"]) == (200, "edge-1,proxy-2")


def test_refuses_a_query_that_is_not_ascii() -> None:
    status, _, body = call([("host", "localhost")], query=b"q=\xc3\xa4")

    assert (status, body["code"]) == (400, "invalid_request")


def test_a_header_with_an_underscore_joins_no_other() -> None:
    status, _, _ = call([("host", "localhost"), ("x_forwarded_host", "evil"), ("HOST_", "x")])

    assert status == 200


def test_a_body_that_nobody_asks_for_is_not_read() -> None:
    parts = count()
    body = (b"x" * 65536 for _ in parts)

    status, _, _ = call([("host", "localhost"), ("content-length", "9" * 12)], b"", "POST", body)

    assert status == 405
    assert next(parts) <= 1


def test_a_body_is_awaited_before_the_application_has_the_request() -> None:
    def late() -> Iterator[bytes]:
        raise TimeoutError
        yield b""

    sized = [("host", "localhost"), ("content-length", "100")]

    status, headers, body = call(sized, method="POST", body=late())

    assert (status, headers["connection"]) == (400, "close")
    assert body["errors"][0]["code"] == "incomplete"
