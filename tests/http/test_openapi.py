"""Tests of the OpenAPI document and of Swagger UI."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from openapi_spec_validator import OpenAPIV31SpecValidator
from rest_framework.views import APIView

from stigmer.core.errors import REFUSALS
from stigmer.http import openapi
from stigmer.http.naming import operation_id
from stigmer.http.openapi import DoorGenerator, Route, document
from stigmer.http.parsing import convert
from stigmer.http.problems import status_of
from stigmer.http.schemas import Answer
from stigmer.http.views import Door, Spec

ROUTES = DoorGenerator().routes()
DOCUMENT = document(ROUTES)


class Tick(Answer):
    """What a stream tells."""

    count: int


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


def test_is_made_without_a_warning(client: Client) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        openapi.document_bytes.cache_clear()
        answer = client.get("/api/v1/schema")

    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert answer.json() == DOCUMENT
    assert not GENERATOR_STATS


def test_operation_ids_are_readable_and_unique() -> None:
    found = Counter(operation["operationId"] for _, _, operation in operations())

    assert set(found.values()) == {1}
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in found)


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("get", "/api/v1/work-items", "list_work_items"),
        ("post", "/api/v1/work-items", "create_work_item"),
        ("get", "/api/v1/work-items/{item}", "get_work_item"),
        ("patch", "/api/v1/work-items/{item}", "update_work_item"),
        ("post", "/api/v1/work-items/{item}/resume", "resume_work_item"),
        ("get", "/api/v1/work-items/{item}/events/stream", "get_work_item_event_stream"),
        ("put", "/api/v1/organizations/{slug}/members/{name}", "put_organization_member"),
        ("get", "/api/v1/whoami", "get_whoami"),
        ("get", "/api/v1/resources/{kind}", "list_resources"),
        ("post", "/api/v1/resources/{kind}/apply", "apply_resource"),
    ],
)
def test_operation_ids_follow_from_the_address(method: str, path: str, name: str) -> None:
    assert operation_id(path, method) == name


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_refusal_is_documented_with_an_example(route: Route) -> None:
    responses = DOCUMENT["paths"][route.path][route.method]["responses"]

    expected = {*route.spec.refusals, REFUSALS["unauthenticated"], REFUSALS["throttled"]}
    for refusal in expected:
        content = responses[str(status_of(refusal))]["content"]["application/problem+json"]
        assert content["examples"][refusal.code]["value"]["code"] == refusal.code
    assert "internal_error" in responses["500"]["content"]["application/problem+json"]["examples"]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_answer_is_described(route: Route) -> None:
    operation = DOCUMENT["paths"][route.path][route.method]

    assert operation["summary"]
    for status, response in operation["responses"].items():
        assert response["description"]
        assert "X-Request-Id" in response["headers"]
        if status in ("200", "201") and route.spec.answer is not None:
            assert "example" in response["content"][route.media]


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if r.spec.body], ids=lambda route: f"{route.method} {route.path}"
)
def test_a_documented_request_is_one_that_the_route_takes(route: Route) -> None:
    body = DOCUMENT["paths"][route.path][route.method]["requestBody"]["content"]
    assert route.spec.body is not None

    assert convert(body["application/json"]["example"], route.spec.body)


def test_headers_stand_where_they_count() -> None:
    for route in ROUTES:
        parameters = DOCUMENT["paths"][route.path][route.method]["parameters"]
        names = {str(p.get("$ref", "")).rpartition("/")[2] for p in parameters}
        assert ("IdempotencyKey" in names) is route.spec.keyed
        assert ("IfMatch" in names) is route.spec.if_match
        assert ("IfNoneMatch" in names) is route.spec.etag


def test_a_session_opens_the_token_route_alone() -> None:
    open_to_sessions = {
        (method, path) for path, method, o in operations() if {"session": []} in o["security"]
    }

    assert open_to_sessions == {("post", "/api/v1/tokens")}


def test_a_stream_is_described_by_its_own_media_type() -> None:
    spec = Spec(summary="Watch", answer=Tick, statuses={200: "Ticks until the end."})
    watch = Route("/api/v1/clocks/{clock}/ticks/stream", "get", spec, media="text/event-stream")

    made = document([*DoorGenerator().routes(), watch])

    operation = made["paths"][watch.path]["get"]
    assert operation["operationId"] == "get_clock_tick_stream"
    assert "text/event-stream" in operation["responses"]["200"]["content"]
    assert "Tick" in made["components"]["schemas"]
    assert list(OpenAPIV31SpecValidator(made).iter_errors()) == []


def test_every_view_is_a_door() -> None:
    finder: Any = DoorGenerator()
    finder._initialise_endpoints()
    views = [type(view) for _, _, _, view in finder._get_paths_and_endpoints()]

    assert views
    assert all(issubclass(view, Door) for view in views)


def test_refuses_a_method_that_is_no_door() -> None:
    class Plain(APIView):
        def get(self, request: Any) -> None:
            """Not a door."""

    with pytest.raises(TypeError, match=r"Plain\.get is not a door"):
        openapi._route(("/x", "/x", "GET", Plain()))


def test_swagger_needs_no_other_host(client: Client) -> None:
    page = client.get("/api/v1/docs")
    content = page.content.decode()

    loaded = re.findall(r'(?:src|href)="([^"]+)"', content)
    assert len(loaded) == 4
    for address in loaded:
        assert address.startswith("/")
        if address.startswith("/static/"):
            assert finders.find(address.removeprefix("/static/"))
    assert "<script>" not in content
    assert "style=" not in content
    start = client.get("/api/v1/docs/start.js")
    assert start["Content-Type"].startswith("text/javascript")
    assert "SwaggerUIBundle" in start.content.decode()
