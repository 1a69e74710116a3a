"""Refusals as RFC 9457 problems: the one table from family to status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import structlog
from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from rest_framework import exceptions as drf

from stigmer.core import errors
from stigmer.http import errors as http

log = structlog.get_logger("stigmer.refusals")

STATUS: dict[type[errors.Refusal], int] = {
    errors.Invalid: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Gone: 410,
    errors.Conflict: 409,
    errors.Stale: 412,
    errors.TooLarge: 413,
    errors.Throttled: 429,
    errors.EngineFailed: 502,
    errors.Unavailable: 503,
}
FAILURE_TITLE = "Something failed that should not"
UNFORESEEN = "An unforeseen failure; it is logged under the request id."


def status_of(refusal: errors.Refusal | type[errors.Refusal]) -> int:
    """The HTTP status of a refusal: its own when HTTP itself defines it, else its family's."""
    kind = refusal if isinstance(refusal, type) else type(refusal)
    own: int | None = getattr(kind, "status", None)
    return own or next(STATUS[family] for family in kind.__mro__ if family in STATUS)


def problem(refusal: errors.Refusal, request_id: str) -> HttpResponse:
    """The response that carries this refusal."""
    body: dict[str, Any] = {
        "type": f"/problems/{refusal.code}",
        "title": refusal.title(),
        "status": status_of(refusal),
        "detail": refusal.detail,
        "code": refusal.code,
        "request_id": request_id,
    }
    headers = refusal.facts.pop("headers", {})
    if refusal.facts:
        body["details"] = refusal.facts
    if isinstance(refusal, errors.InvalidRequest):
        body["errors"] = [
            {"pointer": refusal.pointer, "code": refusal.fault, "detail": refusal.detail}
        ]
    return _response(body, headers)


def _response(body: dict[str, Any], headers: dict[str, str]) -> HttpResponse:
    response = HttpResponse(
        msgspec.json.encode(body), status=body["status"], content_type="application/problem+json"
    )
    if body["status"] == 401:
        response["WWW-Authenticate"] = "Bearer"
    for name, value in headers.items():
        response[name] = value
    return response


def failure(request_id: str) -> HttpResponse:
    """500: fixed text, nothing of the cause."""
    body = {
        "type": "/problems/internal_error",
        "title": FAILURE_TITLE,
        "status": 500,
        "detail": UNFORESEEN,
        "code": "internal_error",
        "request_id": request_id,
    }
    return _response(body, {})


# What Django, DRF and the database raise, and the refusal it stands for; the first match counts.
FOREIGN: tuple[tuple[type[Exception], Callable[[Any], errors.Refusal]], ...] = (
    (OperationalError, lambda _: errors.StoreUnavailable(headers={"Retry-After": "1"})),
    (InterfaceError, lambda _: errors.StoreUnavailable(headers={"Retry-After": "1"})),
    (Http404, lambda _: errors.RouteNotFound()),
    (RequestDataTooBig, lambda _: http.BodyTooLarge()),
    (DisallowedHost, lambda _: _unreadable("this host is not served here", "Host")),
    (SuspiciousOperation, lambda _: _unreadable("the request cannot be read")),
    (UnreadablePostError, lambda _: _unreadable("the body ended early")),
    (PermissionDenied, lambda _: errors.PermissionDenied()),
    (drf.MethodNotAllowed, lambda _: http.MethodNotAllowed()),
    (drf.NotAcceptable, lambda _: http.NotAcceptable()),
    (drf.NotAuthenticated, lambda _: errors.NotAuthenticated()),
    (drf.AuthenticationFailed, lambda _: errors.NotAuthenticated()),
    (drf.PermissionDenied, lambda cause: errors.PermissionDenied(str(cause.detail))),
)


def _unreadable(detail: str, pointer: str = "") -> errors.InvalidRequest:
    return errors.InvalidRequest(detail, pointer=pointer, fault="unreadable")


def as_refusal(exc: BaseException) -> errors.Refusal | None:
    """The refusal that an exception of Django, DRF or the database stands for, if any."""
    if isinstance(exc, errors.Refusal):
        return exc
    return next((stands_for(exc) for kind, stands_for in FOREIGN if isinstance(exc, kind)), None)


def problem_response(exc: Exception, context: dict[str, Any]) -> HttpResponse:
    """DRF's exception handler."""
    request: HttpRequest = context["request"]._request
    return answer_for(exc, request)


def answer_for(exc: Exception, request: HttpRequest) -> HttpResponse:
    """The response to an exception; anything unforeseen is logged with its cause."""
    request_id = getattr(request, "request_id", "")
    refusal = as_refusal(exc)
    # The access log tells how the request ended.
    request.code = refusal.code if refusal else "internal_error"  # type: ignore[attr-defined]
    if refusal is None:
        log.error("unforeseen", request_id=request_id, path=request.path, exc_info=exc)
        return failure(request_id)
    if isinstance(exc, (OperationalError, InterfaceError)):
        log.error("store_unavailable", request_id=request_id, cause=str(exc).partition("\n")[0])
    return problem(refusal, request_id)
