"""Pages for people: what each problem code means, and refusals outside the API."""

from __future__ import annotations

import base64
import sys
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import msgspec
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from stigmer.core.errors import REFUSALS
from stigmer.http import problems

STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding-bottom: 0.5rem; }
th, td { text-align: left; padding: 0.25rem 1rem 0.25rem 0; vertical-align: top; }
"""
_DIGEST = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Explained:
    """What is to be said of one code."""

    code: str
    status: int
    title: str
    explanation: str

    def paragraphs(self) -> list[str]:
        return [" ".join(part.split()) for part in self.explanation.split("\n\n") if part.strip()]


FAILURE = Explained(
    "internal_error",
    500,
    problems.FAILURE_TITLE,
    "The cause is in the log under the request id. Retry with the same idempotency key: nothing "
    "is done twice.",
)


def explained() -> dict[str, Explained]:
    """Every code that an answer can carry."""
    known = [
        Explained(code, problems.status_of(kind), kind.title(), kind.explanation())
        for code, kind in REFUSALS.items()
    ]
    return {entry.code: entry for entry in sorted([*known, FAILURE], key=lambda entry: entry.code)}


@require_safe
def problem_index(request: HttpRequest) -> HttpResponse:
    """`/problems`: all codes."""
    entries = list(explained().values())
    if not _wants_page(request):
        return _json({"items": [asdict(entry) for entry in entries]})
    return _page("problems/index.html", {"title": "Problems", "problems": entries})


@require_safe
def problem_page(request: HttpRequest, code: str) -> HttpResponse:
    """`/problems/<code>`: one code."""
    entry = explained().get(code)
    if entry is None:
        raise Http404
    if not _wants_page(request):
        return _json(asdict(entry))
    return _page("problems/problem.html", {**asdict(entry), "paragraphs": entry.paragraphs()})


def refused(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler of 400, 403, 404 and 500: a problem, and for a person at a page a page."""
    cause = exception or sys.exception()
    assert isinstance(cause, Exception)
    response = problems.answer_for(cause, request)
    if request.path_info.startswith("/api/") or not _asks_for_html(request):
        return response
    body: dict[str, Any] = msgspec.json.decode(response.content)
    page = _page("problems/refused.html", body, response.status_code)
    for name, value in response.headers.items():
        page.headers.setdefault(name, value)
    return page


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's answer to a form without its token."""
    return refused(request, PermissionDenied(reason))


def _asks_for_html(request: HttpRequest) -> bool:
    return "text/html" in request.META.get("HTTP_ACCEPT", "")


def _wants_page(request: HttpRequest) -> bool:
    """A page, unless the request accepts JSON and not HTML."""
    return _asks_for_html(request) or "json" not in request.META.get("HTTP_ACCEPT", "")


def _page(template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    content = render_to_string(template, {**context, "style": STYLE})
    response = HttpResponse(content, status=status)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Vary"] = "Accept"
    return response


def _json(body: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(msgspec.json.encode(body), content_type="application/json")
    response.headers["Vary"] = "Accept"
    return response
