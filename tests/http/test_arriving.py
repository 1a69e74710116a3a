"""Bodies that come slowly, or not at all."""

import asyncio
from typing import Any

import pytest

from stigmer.http import arriving

NEVER = None
PIECE = b"x" * 40_000


class Behind:
    """Stands for the application: notes what it has read when it is called, then reads the rest."""

    def __init__(self) -> None:
        self.called = False
        self.body = b""

    async def __call__(self, _scope: Any, receive: Any, _send: Any) -> None:
        self.called = True
        more = True
        while more:
            message = await receive()
            self.body += message.get("body", b"")
            more = message.get("more_body", False)


def send(*pieces: bytes | None, length: str | None = None) -> tuple[Behind, list[Any]]:
    """What the application got of these pieces (NEVER: it does not come), and what was answered."""
    behind, waiting = Behind(), list(pieces)
    answered: list[Any] = []

    async def receive() -> Any:
        piece = waiting.pop(0)
        if piece is NEVER:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": piece, "more_body": bool(waiting)}

    async def answer(message: Any) -> None:
        answered.append(message)

    whole = str(sum(len(piece) for piece in pieces if piece)) if length is None else length
    scope: Any = {"type": "http", "headers": [(b"content-length", whole.encode())]}
    asyncio.run(arriving.Arriving(behind)(scope, receive, answer))  # type: ignore[arg-type]
    return behind, answered


def test_hands_the_whole_body_on() -> None:
    behind, _ = send(b'{"a"', b": 1", b"}")

    assert behind.body == b'{"a": 1}'


def test_hands_a_long_body_on_piece_by_piece() -> None:
    behind, _ = send(PIECE, PIECE, PIECE, PIECE)

    assert behind.body == PIECE * 4


def test_a_body_that_does_not_come_never_reaches_the_application(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arriving, "SECONDS", 0.05)

    behind, (start, end) = send(b"{", NEVER, length="100")

    assert not behind.called
    assert start["status"] == 400
    assert (b"connection", b"close") in start["headers"]
    assert b'"code":"invalid_request","' in end["body"]
    assert b"the body did not arrive" in end["body"]


def test_the_rest_of_a_long_body_is_not_awaited_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "SECONDS", 0.05)

    behind, _ = send(PIECE, PIECE, NEVER, length="100000")

    assert behind.body == PIECE * 2


@pytest.mark.parametrize("length", ["", "0", "x", "5000000", "9" * 5000])
def test_no_body_and_one_beyond_every_limit_are_not_awaited(length: str) -> None:
    order: list[str] = []
    behind = Behind()

    async def receive() -> Any:
        order.append("called first" if behind.called else "read first")
        return {"type": "http.request", "body": b"", "more_body": False}

    scope: Any = {"type": "http", "headers": [(b"content-length", length.encode())]}
    asyncio.run(arriving.Arriving(behind)(scope, receive, receive))  # type: ignore[arg-type]

    assert order == ["called first"]
