"""How a door begins a stream or a long poll; the ASGI application goes on with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from stigmer.core.callers import Caller
from stigmer.core.errors import InvalidRequest, NotAuthenticated
from stigmer.http.authentication import TokenAuthentication
from stigmer.http.errors import StreamsElsewhere
from stigmer.http.streams.hub import IN_ENVIRON, Bell, Hub
from stigmer.http.streams.sources import EVENT_STREAM, Batch, Source
from stigmer.http.views import Call, Door

Permit = Callable[[Caller], Any]
Attempt = Callable[[Call], HttpResponse | None]
_LARGEST = 2**53 - 1


class EventStream(BaseRenderer):
    """Names the media type for content negotiation; frames are made elsewhere."""

    media_type = EVENT_STREAM
    format = "stream"


class StreamDoor(Door):
    """The base of every view that answers with server-sent events."""

    http_method_names = ["get"]
    renderer_classes = [EventStream]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """DRF's own: JSON is no event stream."""
        return APIView.perform_content_negotiation(self, request, force)


@dataclass(slots=True)
class Stream:
    """A stream that was opened: its bell, what it reads, and what the first read found."""

    bell: Bell
    source: Source
    first: Batch
    recheck: Callable[[], None]


@dataclass(slots=True)
class Poll:
    """A long poll that found nothing at first."""

    bell: Bell
    attempt: Callable[[], HttpResponse | None]
    until: float


class StreamResponse(HttpResponse):
    """The head of a stream."""

    goes_on = True

    def __init__(self, stream: Stream) -> None:
        super().__init__(content_type=EVENT_STREAM)
        self.stream = stream
        self.headers["Cache-Control"] = "no-store"
        # nginx's word for not buffering an answer.
        self.headers["X-Accel-Buffering"] = "no"


class PollResponse(HttpResponse):
    """Stands for the answer of a long poll that goes on."""

    goes_on = True

    def __init__(self, poll: Poll, empty: HttpResponse) -> None:
        super().__init__()
        self.poll, self.empty = poll, empty


def follow(call: Call, topic: str, source: Source, permit: Permit) -> HttpResponse:
    """The stream of a source that the caller may read; wake-ups come before the first read.

    `permit` judges the caller again from time to time. Raises StreamsElsewhere and what the first
    read raises.
    """
    hub = _hub_of(call)
    if hub is None:
        raise StreamsElsewhere
    bell = hub.watch([topic])
    try:
        first = source.read()
    except BaseException:
        hub.drop(bell)
        raise
    return StreamResponse(Stream(bell, source, first, _recheck(call, permit)))


def poll(
    call: Call,
    topics: Iterable[str],
    seconds: float,
    attempt: Attempt,
    empty: Callable[[], HttpResponse],
) -> HttpResponse:
    """What an attempt answers as soon as it answers something within these seconds, else `empty`.

    Where nobody can wait there is one attempt.
    """
    hub = _hub_of(call)
    if hub is None or not seconds:
        return attempt(call) or empty()
    until = time.monotonic() + seconds
    bell = hub.watch(topics)
    try:
        found = attempt(call)
    except BaseException:
        hub.drop(bell)
        raise
    if found is not None:
        hub.drop(bell)
        return found

    def again() -> HttpResponse | None:
        return attempt(replace(call, now=timezone.now()))

    return PollResponse(Poll(bell, again, until), empty())


def _hub_of(call: Call) -> Hub | None:
    found: Hub | None = call.request.META.get(IN_ENVIRON)
    return found


def _recheck(call: Call, permit: Permit) -> Callable[[], None]:
    request = call.request

    def recheck() -> None:
        found = TokenAuthentication().authenticate(request)
        if found is None:
            raise NotAuthenticated
        permit(found[0])

    return recheck


def last_event_id(call: Call) -> int | None:
    """Where a client that comes back goes on, or None without the header.

    Raises InvalidRequest.
    """
    raw = call.request.META.get("HTTP_LAST_EVENT_ID")
    if raw is None:
        return None
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 18 and int(raw) <= _LARGEST):
        raise InvalidRequest(
            "Last-Event-ID must be an integer of at least 0",
            pointer="Last-Event-ID",
            fault="out_of_range",
        )
    return int(raw)
