"""Receipts: one idempotency key is one request, one effect, and the same answer again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stigmer.core.callers import Act
from stigmer.core.canonical import request_hash
from stigmer.core.errors import IdempotencyKeyReused


@dataclass(frozen=True, slots=True)
class Request:
    """What a key is bound to: operation, actor and the digest of the validated body."""

    key: str
    operation: str
    actor: str
    digest: str


def keyed(*, operation: str, target: str, body: dict[str, Any], by: Act) -> Request | None:
    """The request that the caller's key names, or None when there is no key.

    `body` is validated and has its defaults filled in, so that spelling out a default is the same
    request; the key is no part of it.
    """
    if by.key is None:
        return None
    return Request(by.key, operation, by.actor, request_hash(operation, target, body))


def check_same(kept: tuple[str, str, str], request: Request) -> None:
    """Compare a stored (operation, actor, hash) with the request that shows its key.

    Raises IdempotencyKeyReused: never a silent replay of something else.
    """
    if kept != (request.operation, request.actor, request.digest):
        raise IdempotencyKeyReused("this idempotency key was used for another request")
