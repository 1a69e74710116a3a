"""What is refused before WSGI sees a request: WSGI would hide it."""

from collections import Counter
from collections.abc import Iterable

from django.http import HttpResponse

from stigmer.core.errors import InvalidRequest, Refusal
from stigmer.core.ids import new_id
from stigmer.http.headers import harden
from stigmer.http.problems import problem

Headers = Iterable[tuple[bytes, bytes]]

# WSGI joins repeated headers with a comma, after which nobody can tell one value from two.
SINGLE = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"if-match",
        b"if-none-match",
        b"last-event-id",
        b"origin",
        b"referer",
        b"user-agent",
        b"x-forwarded-host",
        b"x-forwarded-proto",
        b"x-stigmer-claim-token",
    }
)


def refusal_of(headers: Headers, query: bytes) -> Refusal | None:
    """Why a request is refused unread, if it is."""
    counts = Counter(name.lower() for name, _ in headers)
    for name in sorted(SINGLE & counts.keys()):
        if counts[name] > 1:
            shown = name.decode()
            detail = f"the header {shown} must not be repeated"
            return InvalidRequest(detail, pointer=shown, fault="repeated")
    if not query.isascii():
        return InvalidRequest("the query must be percent-encoded", fault="not_ascii")
    return None


def answer_to(refusal: Refusal) -> HttpResponse:
    """The whole response, with the headers that every response of the application has."""
    request_id = new_id("req")
    response = problem(refusal, request_id)
    harden(response, request_id)
    response["Content-Length"] = str(len(response.content))
    return response


def unambiguous(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Without names that hold an underscore: WSGI reads `x_request_id` as `x-request-id`."""
    return [(name, value) for name, value in headers if b"_" not in name]
