"""Everything on one port: each request passes the gate; what may wait does so on the event loop."""

import re
import signal
import threading
from types import FrameType
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from a2wsgi.asgi_typing import LifespanScope, Receive, Scope, Send
from a2wsgi.wsgi_typing import WSGIApp
from django.conf import settings

from stigmer.http import gate
from stigmer.http.arriving import Arriving
from stigmer.wsgi import application as wsgi

# What follows needs the apps, which the line above loads.
# isort: split
from stigmer.http.streams.hub import Hub
from stigmer.http.streams.serving import respond, serve

behind = Arriving(WSGIMiddleware(cast(WSGIApp, wsgi), workers=settings.STIGMER_WEB_THREADS))
WAITING = re.compile(
    r"GET /api/v1/.+/stream|POST /api/v1/runner/claim|GET /api/v1/runner/executions/[^/]+/signals"
)


class _Process:
    """The hub of this process, made on its event loop."""

    hub: Hub | None = None


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application."""
    if scope["type"] == "lifespan":
        await _live(scope, receive, send)
        return
    if scope["type"] == "http":
        refusal = gate.refusal_of(scope["headers"], scope["query_string"])
        if refusal is not None:
            await respond(gate.answer_to(refusal), send)
            return
        scope = {**scope, "headers": gate.unambiguous(scope["headers"])}
        if WAITING.fullmatch(f"{scope['method']} {scope['path']}"):
            await serve(_hub(), wsgi, scope, receive, send)
            return
    await behind(scope, receive, send)


def _hub() -> Hub:
    if _Process.hub is None:
        _Process.hub = Hub()
    return _Process.hub


async def _live(_scope: LifespanScope, receive: Receive, send: Send) -> None:
    """From the start of the process to its end."""
    messages: Any = receive
    answer: Any = send
    await messages()
    _told_of_the_end(_hub())
    await answer({"type": "lifespan.startup.complete"})
    await messages()
    await _hub().stop()
    await answer({"type": "lifespan.shutdown.complete"})


def _told_of_the_end(hub: Hub) -> None:
    """End the streams at once: the server only waits for them before it says that it ends."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        before = signal.getsignal(number)

        def told(number: int, frame: FrameType | None, before: Any = before) -> None:
            hub.loop.call_soon_threadsafe(hub.close)
            if callable(before):
                before(number, frame)

        signal.signal(number, told)
