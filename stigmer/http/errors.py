"""What can be refused about a request as such."""

from stigmer.core.errors import Invalid, Throttled, TooLarge, Unavailable

__all__ = [
    "BodyTooLarge", "LengthRequired", "MethodNotAllowed", "NotAcceptable", "StreamsElsewhere",
    "TooManyRequests", "UnsupportedMediaType",
]  # fmt: skip


class LengthRequired(Invalid):
    """The request has a body of unknown length.

    Send a `Content-Length`; a body without it is not read.
    """

    code = "length_required"
    status = 411


class BodyTooLarge(TooLarge):
    """The body is larger than this route takes."""

    code = "body_too_large"


class UnsupportedMediaType(Invalid):
    """The body is not JSON.

    Send it with `Content-Type: application/json`, in UTF-8.
    """

    code = "unsupported_media_type"
    status = 415


class MethodNotAllowed(Invalid):
    """This address does not take this method.

    The `Allow` header lists those that it takes.
    """

    code = "method_not_allowed"
    status = 405


class NotAcceptable(Invalid):
    """There is no answer in a form that the request accepts.

    Answers are `application/json`; streams are `text/event-stream`.
    """

    code = "not_acceptable"
    status = 406


class TooManyRequests(Throttled):
    """Too many requests.

    Wait for the seconds in `Retry-After`, then retry with the same idempotency key.
    """

    code = "throttled"


class StreamsElsewhere(Unavailable):
    """This process serves no event streams.

    Streams are served by the ASGI process (`python -m stigmer.serve`); a proxy routes them there.
    """

    code = "streams_elsewhere"
    default_detail = "event streams are served by another process"
