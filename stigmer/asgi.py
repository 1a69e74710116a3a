"""Everything on one port: each request passes the gate, then the WSGI application."""

from typing import cast

from a2wsgi import WSGIMiddleware
from a2wsgi.asgi_typing import HTTPResponseStartEvent, Receive, Scope, Send
from a2wsgi.wsgi_typing import WSGIApp
from django.conf import settings
from django.http import HttpResponse

from stigmer.http import gate
from stigmer.http.arriving import Arriving
from stigmer.wsgi import application as wsgi

behind = Arriving(WSGIMiddleware(cast(WSGIApp, wsgi), workers=settings.STIGMER_WEB_THREADS))


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application."""
    if scope["type"] == "http":
        refusal = gate.refusal_of(scope["headers"], scope["query_string"])
        if refusal is not None:
            await respond(gate.answer_to(refusal), send)
            return
        scope = {**scope, "headers": gate.unambiguous(scope["headers"])}
    await behind(scope, receive, send)


async def respond(response: HttpResponse, send: Send) -> None:
    """Send a whole response."""
    headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    start: HTTPResponseStartEvent = {
        "type": "http.response.start",
        "status": response.status_code,
        "headers": headers,
    }
    await send(start)
    await send({"type": "http.response.body", "body": response.content, "more_body": False})
