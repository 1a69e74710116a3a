"""Bearer tokens on every route; a session, with CSRF, where a route says so."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.authentication import SessionAuthentication as DrfSession

from stigmer.core.callers import Caller
from stigmer.core.errors import NotAuthenticated
from stigmer.core.registries import callers


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`; nothing else is a token."""

    def authenticate(self, request: Any) -> tuple[Caller, str] | None:
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise NotAuthenticated("send the header Authorization: Bearer <token>")
        caller = callers.by_token(token, timezone.now())
        if caller is None:
            raise NotAuthenticated("the token is unknown, revoked or expired")
        return caller, "token"

    def authenticate_header(self, request: Any) -> str:
        return "Bearer"


class SessionAuthentication(DrfSession):
    """The console's session, for the route that gives a person a first token."""

    def authenticate(self, request: Any) -> tuple[Any, Any] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        return callers.by_name(found[0].get_username()), "session"
