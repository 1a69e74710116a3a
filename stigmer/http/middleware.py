"""Middleware: the frame around every request, and sessions for the pages that need them alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.deprecation import MiddlewareMixin

from stigmer.core import texts
from stigmer.core.ids import new_id
from stigmer.http import access, problems
from stigmer.http.errors import MethodNotAllowed
from stigmer.http.headers import harden

Answering = Callable[[HttpRequest], HttpResponseBase]
HOSTS_KEPT = 1000


class RequestMiddleware:
    """Outermost: request id, host, the headers of every answer, the access log."""

    def __init__(self, get_response: Answering) -> None:
        self.get_response = get_response
        self.good_hosts: set[str] = set()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        request_id = given_id(request) or new_id("req")
        request.request_id = request_id  # type: ignore[attr-defined]
        fault = self._fault(request)
        if fault is None:
            response = self.get_response(request)
        else:
            response = problems.answer_for(fault, request)
        if isinstance(response, HttpResponseNotAllowed):
            response = problems.answer_for(
                MethodNotAllowed(headers={"Allow": response.headers["Allow"]}), request
            )
        finish(response, request_id)
        # A stream or a long poll that goes on is recorded when it ends.
        if not getattr(response, "goes_on", False):
            access.record(request, response.status_code, time.perf_counter() - began)
        return response

    def _fault(self, request: HttpRequest) -> Exception | None:
        # PostgreSQL cannot hold a NUL, so nothing has one in its address.
        if "\x00" in request.path_info:
            return Http404()
        host = request.META.get("HTTP_HOST", "")
        if host not in self.good_hosts:
            try:
                request.get_host()
            except DisallowedHost as fault:
                return fault
            if len(self.good_hosts) < HOSTS_KEPT:
                self.good_hosts.add(host)
        return None


def finish(response: HttpResponseBase, request_id: str) -> None:
    """Give a response what every answer has."""
    harden(response, request_id)
    _measure(response)


def _measure(response: HttpResponseBase) -> None:
    # 204 and 304 have no content, and say no length (RFC 9110, 8.6).
    if isinstance(response, HttpResponse) and response.status_code not in (204, 304):
        response.headers.setdefault("Content-Length", str(len(response.content)))


def given_id(request: HttpRequest) -> str:
    """The caller's X-Request-Id made storable, or "" without one."""
    raw = request.META.get("HTTP_X_REQUEST_ID")
    # WSGI hands header bytes over as latin-1.
    return "" if raw is None else texts.clean_request_id(raw.encode("latin-1", "ignore")).strip()


def needs_session(request: HttpRequest) -> bool:
    """Whether this address is one of those that know a session beside a token."""
    return request.path_info.startswith(settings.STIGMER_SESSION_PATHS)


class _ForPages(MiddlewareMixin):
    """Passes every other request by: an API call shall not pay for sessions."""

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) if needs_session(request) else self.get_response(request)


class PageSessions(_ForPages, SessionMiddleware):
    """Sessions."""


class PageLogins(_ForPages, AuthenticationMiddleware):
    """`request.user`."""


class PageMessages(_ForPages, MessageMiddleware):
    """Messages from one page to the next."""


class PageForgeries(_ForPages, CsrfViewMiddleware):
    """CSRF."""

    def process_view(self, request: HttpRequest, *view: Any) -> Any:
        return super().process_view(request, *view) if needs_session(request) else None
