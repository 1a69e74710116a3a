"""Signing in to the console with a password: humans only, and not without end."""

from __future__ import annotations

from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest
from django.utils import timezone
from unfold.forms import AuthenticationForm

from organizations.operations import attempts
from organizations.states import PrincipalKind

log = structlog.get_logger("stigmer.audit")
LOCKED_OUT = "Too many failed attempts. Wait 15 minutes, then try again."


def address_of(request: HttpRequest | None) -> str:
    """Where a request comes from; behind our proxy the address that the proxy saw."""
    if request is None:
        return ""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    if settings.SECURE_PROXY_SSL_HEADER and forwarded:
        # The last one is the proxy's word, those before it anybody's.
        return str(forwarded.rpartition(",")[2].strip())
    return str(request.META.get("REMOTE_ADDR", ""))


class PasswordBackend(ModelBackend):
    """Name and password of an active human; the fifth failure from one address locks both out."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        name = username if username is not None else kwargs.get("name")
        if name is None or password is None:
            return None
        address = address_of(request)
        if not attempts.spend(name=name, address=address, now=timezone.now()):
            log.warning("sign_in_locked_out", address=address)
            raise PermissionDenied(LOCKED_OUT)
        principal = super().authenticate(request, username=name, password=password)
        if principal is None:
            log.warning("sign_in_failed", address=address)
            return None
        attempts.forget(name=name, address=address)
        log.info("signed_in", principal=name, address=address)
        return principal

    def user_can_authenticate(self, user: Any) -> bool:
        return user.kind == PrincipalKind.HUMAN and super().user_can_authenticate(user)


class SignInForm(AuthenticationForm):  # type: ignore[misc]
    """The console's sign-in form: says when it is the lock-out that refuses."""

    def get_invalid_login_error(self) -> ValidationError:
        name, address = self.cleaned_data.get("username", ""), address_of(self.request)
        if attempts.is_locked(name=name, address=address, now=timezone.now()):
            return ValidationError(LOCKED_OUT, code="locked_out")
        error: ValidationError = super().get_invalid_login_error()
        return error
