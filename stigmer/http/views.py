"""Doors: a view method gets a typed call and gives a typed answer; the rest happens here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any, NoReturn

import msgspec
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from stigmer.core import texts
from stigmer.core.callers import SURFACE, Act, Caller
from stigmer.core.errors import InvalidRequest, NotAuthenticated, Refusal
from stigmer.core.registries import surface_gate
from stigmer.http import etags, parsing, throttling
from stigmer.http.errors import MethodNotAllowed
from stigmer.http.fields import UNSET
from stigmer.http.queries import read_query
from stigmer.http.schemas import Answer, Body, Query

JSON = "application/json"
KIB = 1024
BODY_LIMIT = 64 * KIB
SAFE = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Spec:
    """What one method of a view takes, gives and refuses; the OpenAPI document reads it too."""

    summary: str
    answer: type[Answer] | None
    body: type[Body] | None = None
    query: type[Query] | None = None
    gate: Callable[..., None] | None = None
    body_gate: Callable[..., None] | None = None
    statuses: Mapping[int, str] = field(default_factory=lambda: {200: "Done."})
    refusals: tuple[type[Refusal], ...] = ()
    limit: int = BODY_LIMIT
    rate: str = "reads"
    keyed: bool = False
    etag: bool = False
    if_match: bool = False
    surfaces: bool = False
    example: Any = None


class Door(APIView):
    """The base of every view of the API; `@door` makes its methods."""

    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    metadata_class = None

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """DRF's own, after a short cut for what nearly every client sends."""
        if request.META.get("HTTP_ACCEPT", "") in ("", "*/*", JSON):
            return JSONRenderer(), JSON
        return super().perform_content_negotiation(request, force)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kw: Any) -> NoReturn:
        raise MethodNotAllowed(headers={"Allow": ", ".join(self.allowed_methods)})


@dataclass(slots=True)
class Call:
    """One request at a door: who asks, when, and what."""

    request: HttpRequest
    spec: Spec
    caller: Caller
    now: datetime
    data: Any = None
    body: Any = None
    query: Any = None

    def act(self, surface: Any = UNSET) -> Act:
        """What a write is told about its caller."""
        return Act(
            caller=self.caller,
            surface="api" if surface is UNSET else surface,
            request_id=getattr(self.request, "request_id", ""),
            key=self._key(),
        )

    def facts(self) -> dict[str, Any]:
        """The validated body with its defaults, without the key: what an idempotency key binds."""
        found: dict[str, Any] = msgspec.to_builtins(self.body)
        found.pop("idempotency_key", None)
        return found

    def _key(self) -> str | None:
        header = header_key(self.request)
        own = getattr(self.body, "idempotency_key", UNSET)
        if own is UNSET:
            return header
        if header is not None and header != own:
            raise InvalidRequest(
                "Idempotency-Key header and idempotency_key differ",
                pointer="/idempotency_key",
                fault="differs",
            )
        return str(own)


def header_key(request: HttpRequest) -> str | None:
    """The Idempotency-Key header taken literally, or None. Raises InvalidRequest."""
    raw = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if raw is None:
        return None
    try:
        # WSGI hands header bytes over as latin-1.
        key = raw.encode("latin-1").decode("utf-8")
    except UnicodeError:
        raise InvalidRequest(
            "Idempotency-Key is not valid UTF-8", pointer="Idempotency-Key", fault="not_utf8"
        ) from None
    return texts.check_key(key, "Idempotency-Key")


def reply(answer: Answer | None, status: int = 200, **headers: str) -> HttpResponse:
    """The response with this answer, or an empty one."""
    content = b"" if answer is None else msgspec.json.encode(answer)
    response = HttpResponse(content, status=status, content_type=JSON)
    if answer is None:
        del response["Content-Type"]
    for name, value in headers.items():
        response[name.replace("_", "-")] = value
    return response


def door(**options: Any) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Turn a view method into a door: authenticate, gate, parse, call, answer.

    The order of refusals is the same everywhere: 401, the surface gate, then 404 and 403 of the
    `gate`, then the body, then what the method itself refuses.
    """
    spec = Spec(**options)

    def wrap(method: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(method)
        def opened(view: APIView, request: Request, **ids: str) -> HttpResponse:
            call = _enter(spec, request, ids)
            response = method(view, call, **ids)
            return (
                _tagged(call, response) if spec.etag and response.status_code == 200 else response
            )

        opened.spec = spec  # type: ignore[attr-defined]
        return opened

    return wrap


def _enter(spec: Spec, request: Request, ids: dict[str, str]) -> Call:
    caller = request.user
    if not isinstance(caller, Caller):
        raise NotAuthenticated("send the header Authorization: Bearer <token>")
    http = request._request
    http.principal = caller.name  # type: ignore[attr-defined]
    throttling.spend(spec.rate, caller.name)
    if caller.kind == SURFACE and not spec.surfaces:
        surface_gate.refuse()
    call = Call(request=http, spec=spec, caller=caller, now=timezone.now())
    if spec.body is not None and spec.gate is not None and not ids:
        return _by_body(call, spec.gate)
    if http.method in SAFE:
        _read_first(call, ids)
        return call
    if spec.gate is not None:
        spec.gate(caller, **ids)
    if spec.body_gate is not None:
        return _by_body(call, spec.body_gate)
    _read(call)
    return call


def _read_first(call: Call, ids: dict[str, str]) -> None:
    """A read asks the gate only when the query is wrong: what follows looks for itself."""
    try:
        _read(call)
    except Refusal:
        if call.spec.gate is not None:
            call.spec.gate(call.caller, **ids)
        raise


def _by_body(call: Call, gate: Callable[..., None]) -> Call:
    """The organization named in the body is judged between the actor and the other faults."""
    assert call.spec.body is not None
    call.query = read_query(call.request, call.spec.query)
    call.data = parsing.read_json(call.request, call.spec.limit)
    if isinstance(call.data, dict):
        parsing.refuse_actor(call.data)
        gate(call.caller, call.data)
    call.body = parsing.convert(call.data, call.spec.body)
    _refuse_key(call)
    return call


def _read(call: Call) -> None:
    call.query = read_query(call.request, call.spec.query)
    if call.spec.body is not None:
        call.data = parsing.read_json(call.request, call.spec.limit)
        call.body = parsing.convert(call.data, call.spec.body)
    _refuse_key(call)


def _refuse_key(call: Call) -> None:
    if call.spec.keyed or call.request.method in SAFE:
        return
    if "HTTP_IDEMPOTENCY_KEY" in call.request.META:
        raise InvalidRequest(
            "this route takes no Idempotency-Key", pointer="Idempotency-Key", fault="unknown"
        )


def _tagged(call: Call, response: HttpResponse) -> HttpResponse:
    tag = etags.etag_of(response.content)
    if etags.unchanged(call.request, tag):
        response = HttpResponse(status=304)
        del response["Content-Type"]
    response["ETag"] = tag
    return response
