"""Refusals: what can be refused is a class, its family decides the HTTP status elsewhere."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

FAMILIES: list[type[Refusal]] = []
REFUSALS: dict[str, type[Refusal]] = {}


class Refusal(Exception):
    """A request that was understood and refused.

    A subclass with a `code` is a refusal that clients can act on: the first line of its docstring
    is the title, the rest explains it on `/problems/<code>`, and its keyword facts become the
    members of `details`.
    """

    code: ClassVar[str] = ""
    default_detail: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "code" not in cls.__dict__:
            FAMILIES.append(cls)
            return
        if not cls.__doc__:
            raise TypeError(f"{cls.__name__} needs a docstring: its first line is the title")
        known = REFUSALS.get(cls.code)
        if known is not None and _place(known) != _place(cls):
            raise TypeError(f"{cls.code} is declared by {known.__name__} and {cls.__name__}")
        REFUSALS[cls.code] = cls

    def __init__(self, detail: str = "", **facts: Any) -> None:
        self.detail = detail or self.default_detail or self.title()
        self.facts = facts
        super().__init__(self.detail)

    @classmethod
    def title(cls) -> str:
        """The first line of the docstring, without its full stop."""
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0].rstrip(".")

    @classmethod
    def explanation(cls) -> str:
        """Everything after the first line of the docstring."""
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[2].strip()


def _place(kind: type[Refusal]) -> tuple[str, str]:
    """Where a class is declared; a module that is loaded again declares the same."""
    return kind.__module__, kind.__qualname__


class Invalid(Refusal):
    """The request is wrong in itself."""


class Unauthenticated(Refusal):
    """The caller is not known."""


class Forbidden(Refusal):
    """The caller may not do this."""


class NotFound(Refusal):
    """There is no such thing that the caller can see."""


class Gone(Refusal):
    """It existed and its content was removed."""


class Conflict(Refusal):
    """The state of things does not allow it now."""


class Stale(Refusal):
    """The caller's copy is not the current one."""


class TooLarge(Refusal):
    """The body is larger than this route takes."""


class Throttled(Refusal):
    """Too many requests."""


class EngineFailed(Refusal):
    """The execution engine failed."""


class Unavailable(Refusal):
    """A part that the answer needs is not available."""


class InvalidRequest(Invalid):
    """The request is not valid.

    `errors` names the first place that is wrong as a JSON pointer (RFC 6901) into the body, or the
    name of a header or query parameter, with a code and a sentence.
    """

    code = "invalid_request"

    def __init__(self, detail: str, *, pointer: str = "", fault: str = "invalid") -> None:
        super().__init__(detail)
        self.pointer = pointer
        self.fault = fault


class ActorNotAccepted(Invalid):
    """The body names who acts.

    Who acts is always the authenticated principal. Remove the named field from the body.
    """

    code = "actor_not_accepted"


class NotAuthenticated(Unauthenticated):
    """A valid token is needed.

    Send `Authorization: Bearer <token>` with a token that is neither revoked nor expired.
    """

    code = "unauthenticated"


class PermissionDenied(Forbidden):
    """You may not do this.

    The resource is visible to you, and your role does not allow this action on it.
    """

    code = "permission_denied"


class RouteNotFound(NotFound):
    """There is nothing at this address."""

    code = "not_found"


class AlreadyExists(Conflict):
    """It exists already.

    Something live holds this name. Choose another one, or use what exists.
    """

    code = "already_exists"


class InvalidTransition(Conflict):
    """The state does not allow this.

    `details` carries the state as it is now, and the version where there is one.
    """

    code = "invalid_transition"


class PreconditionFailed(Stale):
    """The resource has changed.

    The `If-Match` header names another version than the current one. Read it again and retry.
    """

    code = "precondition_failed"


class IdempotencyKeyReused(Conflict):
    """The idempotency key belongs to another request.

    A key names one request: the same operation, caller and body. Use a fresh key for a new one.
    """

    code = "idempotency_key_reused"


class StoreUnavailable(Unavailable):
    """The database is not available.

    Nothing is known to have been written. Retry with the same idempotency key.
    """

    code = "store_unavailable"


class AuthorizationUnavailable(Unavailable):
    """The authorization service is not available.

    Whether you may do this could not be decided. Retry later.
    """

    code = "authorization_unavailable"
