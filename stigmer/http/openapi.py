"""The OpenAPI 3.1 document, built from what every door says of itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.generators import SchemaGenerator

from stigmer.http import parsing
from stigmer.http.authentication import SessionAuthentication
from stigmer.http.examples import example_of
from stigmer.http.naming import operation_id, parameters_in, tag_of
from stigmer.http.pagination import DEFAULT_LIMIT, MAX_LIMIT
from stigmer.http.problem_docs import Problem, codes_of, problem_responses
from stigmer.http.schemas import Body
from stigmer.http.views import Spec

REFS = "#/components/schemas/{name}"
LIMIT = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}
REQUEST_ID = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
ETAG = {"ETag": {"$ref": "#/components/headers/ETag"}}


@dataclass(frozen=True, slots=True)
class Route:
    """One operation of the document."""

    path: str
    method: str
    spec: Spec
    session: bool = False
    media: str = "application/json"


class DoorGenerator(SchemaGenerator):
    """drf-spectacular finds the views; every door describes itself."""

    def routes(self) -> list[Route]:
        """Every door of the urlconf."""
        finder: Any = self
        finder._initialise_endpoints()
        return [_route(found) for found in finder._get_paths_and_endpoints()]

    def get_schema(self, request: Any = None, public: bool = False) -> dict[str, Any]:
        """The whole document. Raises TypeError for a view method that is no door."""
        return document(self.routes())


def _route(found: tuple[str, str, str, Any]) -> Route:
    path, _, method, view = found
    spec = getattr(getattr(view, method.lower()), "spec", None)
    if spec is None:
        raise TypeError(f"{type(view).__name__}.{method.lower()} is not a door")
    # A view may choose its authenticators by the request's method.
    view.request = HttpRequest()
    view.request.method = method
    session = any(isinstance(one, SessionAuthentication) for one in view.get_authenticators())
    return Route(path, method.lower(), spec, session, spec.media)


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """The OpenAPI document of these routes."""
    routes = sorted(routes, key=lambda route: (route.path, route.method))
    schemas = _Schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method] = _operation(route, schemas)
    about = settings.SPECTACULAR_SETTINGS
    return {
        "openapi": "3.1.0",
        "info": {name.lower(): about[name] for name in ("TITLE", "DESCRIPTION", "VERSION")},
        "tags": [{"name": tag} for tag in sorted({tag_of(route.path) for route in routes})],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "securitySchemes": SECURITY,
        },
    }


@cache
def document_bytes() -> bytes:
    """The document of this process as JSON, built once."""
    generator: Any = DoorGenerator
    return msgspec.json.encode(generator().get_schema())


class _Schemas:
    """The component schemas of all structs, and a reference to each."""

    def __init__(self, routes: Iterable[Route]) -> None:
        found = {s for r in routes for s in (r.spec.body, r.spec.answer) if s is not None}
        kinds: list[Any] = sorted(found | {Problem}, key=lambda kind: (kind.__module__, str(kind)))
        refs, components = msgspec.json.schema_components(kinds, ref_template=REFS)
        self.refs = dict(zip(kinds, refs, strict=True))
        self.components: dict[str, dict[str, Any]] = components
        for kind in kinds:
            if issubclass(kind, Body):
                self._allow_blanks(kind)

    def _allow_blanks(self, kind: Any) -> None:
        """An empty text counts as absent where a text or an enum is optional."""
        properties = self.components[self.refs[kind]["$ref"].rpartition("/")[2]]["properties"]
        for name in parsing.plan(kind).blanks & properties.keys():
            inner = properties[name]
            default = {"default": inner.pop("default")} if "default" in inner else {}
            properties[name] = {"anyOf": [inner, {"const": ""}], **default}

    def query(self, kind: Any) -> tuple[dict[str, Any], set[str]]:
        """The properties of a query struct, and which are required."""
        (ref,), components = msgspec.json.schema_components([kind], ref_template=REFS)
        own = components.pop(ref["$ref"].rpartition("/")[2])
        self.components.update(components)
        return own["properties"], set(own.get("required", ()))


def _operation(route: Route, schemas: _Schemas) -> dict[str, Any]:
    spec = route.spec
    named = operation_id(route.path, route.method)
    operation: dict[str, Any] = {"operationId": named, "summary": spec.summary}
    operation["tags"] = [tag_of(route.path)]
    operation["parameters"] = _parameters(route, schemas)
    if spec.body is not None:
        ref = schemas.refs[spec.body]
        content = {"schema": ref, "example": example_of(ref, schemas.components)}
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    operation["security"] = [{"token": []}, *([{"session": []}] if route.session else [])]
    codes = codes_of(spec, ids=bool(parameters_in(route.path)), session=route.session)
    operation["responses"] = {
        **{str(status): _response(route, status, schemas) for status in _statuses(spec)},
        **problem_responses(codes, schemas.refs[Problem], REQUEST_ID),
    }
    return operation


def _statuses(spec: Spec) -> dict[int, str]:
    return {**spec.statuses, **({304: "Unchanged since the given tag."} if spec.etag else {})}


def _response(route: Route, status: int, schemas: _Schemas) -> dict[str, Any]:
    spec = route.spec
    response: dict[str, Any] = {"description": _statuses(spec)[status], "headers": {**REQUEST_ID}}
    if spec.etag and status in (200, 304):
        response["headers"] |= ETAG
    if spec.answer is not None and status not in (204, 304):
        ref = schemas.refs[spec.answer]
        shown = spec.example if spec.example is not None else example_of(ref, schemas.components)
        response["content"] = {route.media: {"schema": ref, "example": shown}}
    return response


def _parameters(route: Route, schemas: _Schemas) -> list[dict[str, Any]]:
    spec = route.spec
    text = {"type": "string", "minLength": 1}
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in parameters_in(route.path)
    ]
    if spec.query is not None:
        properties, required = schemas.query(spec.query)
        for name, given in properties.items():
            # A page size is text to its struct, so that its fault reads the same everywhere.
            schema = LIMIT if name == "limit" else given
            told = {"description": schema["description"]} if "description" in schema else {}
            found.append(
                {"name": name, "in": "query", "required": name in required, "schema": schema} | told
            )
    asked = {
        "IdempotencyKey": spec.keyed,
        "IfMatch": spec.if_match,
        "IfNoneMatch": spec.etag,
        "LastEventID": spec.resumes,
    }
    names = [name for name, wanted in asked.items() if wanted]
    return found + [{"$ref": f"#/components/parameters/{name}"} for name in [*names, "RequestId"]]


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    schema = {"type": "string", **schema}
    return {"name": name, "in": "header", "description": description, "schema": schema}


PARAMETERS = {
    "IdempotencyKey": _header(
        "Idempotency-Key",
        "Names this request: the same key with the same request answers the same again. 1 to 512 "
        "bytes of UTF-8, taken literally.",
        minLength=1,
        maxLength=512,
    ),
    "IfMatch": _header("If-Match", "Change only what still has this tag; 412 otherwise."),
    "IfNoneMatch": _header("If-None-Match", "304 when the answer still has this tag."),
    "LastEventID": _header(
        "Last-Event-ID", "Where to go on: the last `id` that was seen. It wins over the query."
    ),
    "RequestId": _header("X-Request-Id", "Comes back in the answer and stands in the logs."),
}
HEADERS = {
    "RequestId": {
        "description": "The request's id: yours or a new one.",
        "schema": {"type": "string"},
    },
    "ETag": {"description": "A digest of everything in the answer.", "schema": {"type": "string"}},
}
SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "A console session, with the CSRF token in X-CSRFToken.",
    },
}
