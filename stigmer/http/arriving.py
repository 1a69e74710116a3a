"""Bodies arrive before a thread takes the request: whoever sends slowly holds none."""

import asyncio
from collections import deque
from typing import Any

from a2wsgi import WSGIMiddleware
from a2wsgi.asgi_typing import Receive, Scope, Send

from stigmer.core.errors import InvalidRequest
from stigmer.http import gate

# What is longer is read by the thread, piece by piece; a body beyond every limit not at all.
AHEAD = 64 * 1024
LONGEST = 4 * 1024 * 1024
SECONDS = 30.0


class Arriving:
    """The ASGI form of a WSGI application, in front of which bodies are awaited."""

    def __init__(self, behind: WSGIMiddleware) -> None:
        self.behind = behind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_awaited(scope["headers"]):
            source: Any = receive
            try:
                receive = _again(await _first(source), source)
            except TimeoutError:
                await _refuse(send)
                return
        await self.behind(scope, receive, send)


def _is_awaited(headers: gate.Headers) -> bool:
    given = dict(headers).get(b"content-length", b"")
    return given.isdigit() and len(given) < 10 and 0 < int(given) <= LONGEST


async def _first(receive: Any) -> deque[Any]:
    """The body, or so much of it as is kept for a request that has no thread yet."""
    messages: deque[Any] = deque()
    size = 0
    async with asyncio.timeout(SECONDS):
        while size < AHEAD:
            messages.append(await receive())
            size += len(messages[-1].get("body", b""))
            if not messages[-1].get("more_body", False):
                break
    return messages


def _again(messages: deque[Any], receive: Any) -> Any:
    async def next_one() -> Any:
        if messages:
            return messages.popleft()
        try:
            return await asyncio.wait_for(receive(), SECONDS)
        except TimeoutError:
            return {"type": "http.disconnect"}

    return next_one


async def _refuse(send: Any) -> None:
    response = gate.answer_to(InvalidRequest("the body did not arrive", fault="incomplete"))
    headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    headers.append((b"connection", b"close"))
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": response.content, "more_body": False})
