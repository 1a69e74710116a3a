"""The headers that every answer carries."""

from __future__ import annotations

from urllib.parse import quote

from django.conf import settings
from django.http.response import HttpResponseBase

NOTHING = "default-src 'none'; frame-ancestors 'none'"
HSTS_SECONDS = 31_536_000
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_ALWAYS = (
    ("Content-Security-Policy", NOTHING),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)


def harden(response: HttpResponseBase, request_id: str) -> None:
    """Add them; a page's own policy stays.

    A request id that is not ASCII is percent-encoded here, and shown as it is in bodies and logs.
    """
    for name, value in _ALWAYS:
        response.headers.setdefault(name, value)
    if settings.STIGMER_TLS:
        response.headers.setdefault("Strict-Transport-Security", f"max-age={HSTS_SECONDS}")
    if not request_id.isascii():
        request_id = quote(request_id, safe=_PRINTABLE)
    response.headers["X-Request-Id"] = request_id
