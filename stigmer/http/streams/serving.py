"""The ASGI side: a request is answered in a thread, what goes on waits on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import io
import time
from collections.abc import Callable
from typing import Any, cast

import structlog
from a2wsgi.asgi_typing import HTTPScope, Receive, Send
from a2wsgi.wsgi import Body, build_environ
from django.core import signals
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from stigmer.http import access, metrics, middleware, problems
from stigmer.http.streams.flowing import flow
from stigmer.http.streams.hub import IN_ENVIRON, Hub
from stigmer.http.streams.opening import PollResponse, StreamResponse
from stigmer.http.views import BODY_LIMIT

log = structlog.get_logger("stigmer.streams")


class Exchange:
    """One request on its way: what a thread needs, and what is recorded at the end."""

    def __init__(self, hub: Hub, handler: WSGIHandler, environ: dict[str, Any]) -> None:
        self.hub, self.handler = hub, handler
        self.began = time.perf_counter()
        self.environ = {**environ, IN_ENVIRON: hub}
        self.request: WSGIRequest

    def answer(self) -> HttpResponseBase:
        """Pass the request through the whole application; called in a thread."""
        set_script_prefix(self.environ["SCRIPT_NAME"] or "/")
        signals.request_started.send(sender=type(self), environ=self.environ)
        self.request = WSGIRequest(self.environ)
        response = self.handler.get_response(self.request)
        response.close()
        return response

    def again(self, attempt: Callable[[], HttpResponse | None]) -> HttpResponse | None:
        """Another attempt of a long poll; called in a thread."""
        try:
            found = attempt()
        except Exception as cause:  # noqa: BLE001 as Django's handler does
            found = problems.answer_for(cause, self.request)
        return None if found is None else self.finished(found)

    def finished(self, response: HttpResponse) -> HttpResponse:
        """With what the middleware gives every answer."""
        middleware.finish(response, getattr(self.request, "request_id", ""))
        return response

    def record(self, status: int) -> None:
        """The access log's record of what went on."""
        access.record(self.request, status, time.perf_counter() - self.began)

    def observe(self, status: int) -> None:
        """The metrics of what went on."""
        metrics.observe(self.request, status, time.perf_counter() - self.began)


async def serve(
    hub: Hub, handler: WSGIHandler, scope: HTTPScope, receive: Receive, send: Send
) -> None:
    """Answer one request that may wait."""
    body = await _body(scope, receive)
    if body is None:
        return
    environ = build_environ(scope, cast(Body, io.BytesIO(body)))
    exchange = Exchange(hub, handler, cast(dict[str, Any], environ))
    response = await hub.threads.open(exchange.answer)
    if isinstance(response, StreamResponse):
        await _stream(exchange, response, receive, send)
    elif isinstance(response, PollResponse):
        await _poll(exchange, response, receive, send)
    else:
        await respond(cast(HttpResponse, response), send)


async def _body(scope: HTTPScope, receive: Receive) -> bytes | None:
    """The body up to its length, or what is enough to refuse it; None when the client left."""
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    length = int(lengths[0]) if lengths and lengths[0].isdigit() else 0
    found = bytearray()
    # What is too long, or of unknown length, is refused by the parser unread.
    while length <= BODY_LIMIT and len(found) < length:
        message: Any = await receive()
        if message["type"] == "http.disconnect":
            return None
        found += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(found)


async def respond(response: HttpResponse, send: Send) -> None:
    """Send a whole response."""
    await send(
        {
            "type": "http.response.start",
            "status": response.status_code,
            "headers": headers_of(response),
        }
    )
    await send({"type": "http.response.body", "body": response.content, "more_body": False})


def headers_of(response: HttpResponse) -> list[tuple[bytes, bytes]]:
    """The headers as ASGI has them."""
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in response.items()]


# Streams ------------------------------------------------------------------------------------------


async def _stream(
    exchange: Exchange, response: StreamResponse, receive: Receive, send: Send
) -> None:
    status = response.status_code
    exchange.observe(status)
    del response.headers["Content-Length"]
    await send({"type": "http.response.start", "status": status, "headers": headers_of(response)})
    stream = response.stream
    metrics.STREAMS.inc()
    watching = _watching(stream.bell.leave, receive)
    try:
        reason = await flow(stream, exchange.hub.threads, send)
        log.info("stream_ended", reason=reason, request_id=exchange.request.request_id)  # type: ignore[attr-defined]
    finally:
        metrics.STREAMS.dec()
        watching.cancel()
        await exchange.hub.unwatch(stream.bell)
        exchange.record(status)


def _watching(left: Callable[[], None], receive: Receive) -> asyncio.Task[None]:
    """Tell when the client leaves."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        left()

    return asyncio.get_running_loop().create_task(watch())


# Long polls ---------------------------------------------------------------------------------------


async def _poll(exchange: Exchange, response: PollResponse, receive: Receive, send: Send) -> None:
    poll = response.poll
    watching = _watching(poll.bell.leave, receive)
    found: HttpResponse | None = None
    try:
        while found is None and not poll.bell.over:
            left = poll.until - time.monotonic()
            if left <= 0 or not await poll.bell.wait(left):
                break
            if not poll.bell.over:
                found = await exchange.hub.threads.open(lambda: exchange.again(poll.attempt))
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await exchange.hub.unwatch(poll.bell)
    answer = found or exchange.finished(response.empty)
    exchange.observe(answer.status_code)
    exchange.record(answer.status_code)
    await respond(answer, send)
