"""Sealing: secret values leave a spec before it is stored and never come back through a read."""

from __future__ import annotations

from functools import cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from stigmer.core.errors import InvalidRequest
from stigmer.http.json_text import step

CLIENT_SECRET = "auth.client_secret"  # noqa: S105 the name, not the secret


@cache
def _box(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def seal(text: str) -> str:
    """This text under the newest key of STIGMER_SEAL_KEYS."""
    return _box(tuple(settings.STIGMER_SEAL_KEYS)).encrypt(text.encode()).decode()


def unseal(token: str) -> str:
    """The text of a token sealed under any key of STIGMER_SEAL_KEYS.

    Raises cryptography's InvalidToken when no key fits.
    """
    return _box(tuple(settings.STIGMER_SEAL_KEYS)).decrypt(token.encode()).decode()


def reseal(token: str) -> str:
    """The same text under the newest key. Raises InvalidToken."""
    return _box(tuple(settings.STIGMER_SEAL_KEYS)).rotate(token.encode()).decode()


def holds(token: str | None, text: str) -> bool:
    """Whether the token is this text, sealed."""
    try:
        return token is not None and unseal(token) == text
    except InvalidToken:
        return False


def split(
    kind: str, spec: dict[str, Any], sealed: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The spec without its secret values, and those values sealed.

    `sealed` is what is stored now: a secret that comes without a value keeps it, and so does one
    whose value has not changed. Raises InvalidRequest for a secret without any value.
    """
    if kind == "environment":
        return _variables(spec, sealed)
    if kind == "mcp_server" and "client_secret" in (spec.get("auth") or {}):
        return _client_secret(spec, sealed)
    return spec, {}


def _variables(
    spec: dict[str, Any], sealed: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    shown: dict[str, Any] = {}
    kept: dict[str, str] = {}
    for name, variable in spec["variables"].items():
        value, secret = variable.get("value"), variable.get("secret", False)
        if secret:
            kept[name] = _keep(value, sealed.get(name), f"/spec/variables{step(name)}/value")
            shown[name] = {"secret": True}
        elif value is None:
            raise _valueless(f"/spec/variables{step(name)}/value")
        else:
            shown[name] = {"value": value}
    return {**spec, "variables": shown}, kept


def _client_secret(
    spec: dict[str, Any], sealed: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    given = spec["auth"]["client_secret"]
    value = given if isinstance(given, str) else None
    token = _keep(value, sealed.get(CLIENT_SECRET), "/spec/auth/client_secret")
    auth = {**spec["auth"], "client_secret": {"secret": True}}
    return {**spec, "auth": auth}, {CLIENT_SECRET: token}


def _keep(value: str | None, token: str | None, pointer: str) -> str:
    if value is None:
        if token is None:
            raise _valueless(pointer)
        return token
    return str(token) if holds(token, value) else seal(value)


def _valueless(pointer: str) -> InvalidRequest:
    return InvalidRequest("value is required", pointer=pointer, fault="missing")
