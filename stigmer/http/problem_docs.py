"""Which problems an operation can answer, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from stigmer.core import errors
from stigmer.http import errors as http
from stigmer.http.pages import explained
from stigmer.http.problems import UNFORESEEN
from stigmer.http.schemas import Answer
from stigmer.http.views import Spec


class Fault(Answer):
    """One place of the input that is wrong."""

    pointer: str
    code: str
    detail: str


class Problem(Answer):
    """A refusal (RFC 9457). `type` is the address of a page that explains the code."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    details: dict[str, Any] = {}
    errors: list[Fault] = []


ALWAYS = (
    errors.InvalidRequest, errors.NotAuthenticated, errors.RouteNotFound, http.NotAcceptable,
    http.TooManyRequests, errors.StoreUnavailable, errors.AuthorizationUnavailable,
)  # fmt: skip
WITH_BODY = (
    errors.ActorNotAccepted, http.LengthRequired, http.BodyTooLarge, http.UnsupportedMediaType,
)  # fmt: skip
# Declared by a higher layer: whoever registers the surface gate.
NO_SURFACE = "surface_route_not_allowed"
FAILED = "internal_error"
MEANS = {
    400: "The request is wrong in itself.",
    401: "The caller is not known.",
    403: "The caller may not do this.",
    404: "There is no such thing that the caller can see.",
    406: "There is no answer in an accepted form.",
    409: "The state of things does not allow it now.",
    410: "It existed and its content was removed.",
    411: "The body has no Content-Length.",
    412: "The caller's copy is not the current one.",
    413: "The body is larger than this route takes.",
    415: "The body is not JSON.",
    429: "Too many requests.",
    500: "An unforeseen failure.",
    502: "The execution engine failed.",
    503: "A part that the answer needs is not available.",
}
HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"schema": {"const": "Bearer"}}},
    429: {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string"}}},
}


def codes_of(spec: Spec, *, ids: bool, session: bool) -> set[str]:
    """Every problem code that this operation can answer."""
    kinds: set[type[errors.Refusal]] = {*spec.refusals, *ALWAYS}
    if not ids:
        kinds.discard(errors.RouteNotFound)
    if session:
        # A session without its CSRF token.
        kinds.add(errors.PermissionDenied)
    if spec.body is not None:
        kinds.update(WITH_BODY)
    if spec.keyed:
        kinds.add(errors.IdempotencyKeyReused)
    if spec.if_match:
        kinds.add(errors.PreconditionFailed)
    own = {FAILED} if spec.surfaces else {FAILED, NO_SURFACE}
    return {kind.code for kind in kinds} | own


def problem_responses(
    codes: Iterable[str], problem: dict[str, Any], headers: dict[str, Any]
) -> dict[str, Any]:
    """A response for each status, with an example for each code."""
    known = explained()
    entries = sorted((known[code] for code in codes), key=lambda entry: (entry.status, entry.code))
    found: dict[str, Any] = {}
    for status, group in groupby(entries, key=lambda entry: entry.status):
        examples = {entry.code: _example(entry.code, status, entry.title) for entry in group}
        code = {"properties": {"code": {"enum": list(examples)}}}
        found[str(status)] = {
            "description": MEANS[status],
            "headers": {**headers, **HEADERS.get(status, {})},
            "content": {
                "application/problem+json": {
                    "schema": {"allOf": [problem, code]},
                    "examples": examples,
                }
            },
        }
    return found


def _example(code: str, status: int, title: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": f"/problems/{code}",
        "title": title,
        "status": status,
        "detail": UNFORESEEN if code == FAILED else title,
        "code": code,
        "request_id": "req_01h455vb4pex5vsknk084sn02q",
    }
    if code == errors.InvalidRequest.code:
        body["detail"] = "title must not be empty"
        body["errors"] = [{"pointer": "/title", "code": "blank", "detail": body["detail"]}]
    return {"summary": f"{code}: {title}", "value": body}
