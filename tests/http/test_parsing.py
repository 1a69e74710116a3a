"""Tests of typed bodies: wrong types, blanks, unknown fields, and the place of each fault."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import Annotated, Any, Literal

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory
from msgspec import UNSET, Meta, UnsetType

from stigmer.core.errors import ActorNotAccepted, InvalidRequest, Refusal
from stigmer.http.errors import BodyTooLarge, LengthRequired, UnsupportedMediaType
from stigmer.http.fields import Instant, Name, Surface, line, text
from stigmer.http.parsing import convert, read_json
from stigmer.http.schemas import ACTOR_FIELDS, Body

Title = Annotated[str, line(8)]


class Part(Body):
    """A body within a body."""

    label: Title
    note: Title | UnsetType = UNSET


class Order(Body):
    """One field of each kind."""

    title: Title
    count: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    ratio: float | UnsetType = UNSET
    flag: bool | UnsetType = UNSET
    mode: Literal["fast", "slow"] | UnsetType = "fast"
    notes: Annotated[str, text(8)] | UnsetType = UNSET
    at: Instant | UnsetType = UNSET
    surface: Surface | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    part: Part | UnsetType = UNSET
    parts: list[Part] | UnsetType = UNSET
    labels: dict[str, Title] | UnsetType = UNSET
    anything: dict[str, Any] | None = None


def order(**fields: Any) -> Order:
    return convert({"title": "t", **fields}, Order)


def fault_of(data: Any) -> tuple[str, str]:
    with pytest.raises(InvalidRequest) as raised:
        convert(data, Order)
    return raised.value.fault, raised.value.pointer


WRONG = {
    "title": [1, 1.5, True, None, [], {}],
    "count": ["1", 1.0, True, None, [], {}],
    "ratio": ["1", True, None, [], {}],
    "flag": ["true", 1, 0, None, [], {}],
    "mode": ["FAST", 1, True, None, [], {}],
    "notes": [1, True, None, [], {}],
    "at": [1, True, None, "yesterday", "2026-01-31", "2026-01-31T09:30:00", [], {}],
    "part": ["x", 1, True, None, []],
    "parts": ["x", 1, True, None, {}],
    "labels": ["x", 1, True, None, []],
    "anything": ["x", 1, True, []],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in WRONG.items() for value in values]
)
def test_refuses_another_type(field: str, value: Any) -> None:
    assert fault_of({"title": "t", field: value}) == ("wrong_type", f"/{field}")


@pytest.mark.parametrize("data", [None, [], "x", 1, True, [{"title": "t"}]])
def test_refuses_what_is_no_object(data: Any) -> None:
    assert fault_of(data) == ("wrong_type", "")


@pytest.mark.parametrize(
    ("data", "fault", "pointer"),
    [
        ({}, "missing", "/title"),
        ({"title": "t", "more": 1}, "unknown_field", "/more"),
        ({"title": "t", "a~b/c": 1}, "unknown_field", "/a~0b~1c"),
        ({"title": "t", "a` b": 1}, "unknown_field", "/a` b"),
        ({"title": "t", "": 1}, "unknown_field", "/"),
        ({"title": "t", "part": {}}, "missing", "/part/label"),
        ({"title": "t", "part": {"label": "l", "more": 1}}, "unknown_field", "/part/more"),
        ({"title": "t", "parts": [{"label": "l"}, {"label": 1}]}, "wrong_type", "/parts/1/label"),
        ({"title": "t", "parts": [{"label": "l", "x/y": 1}]}, "unknown_field", "/parts/0/x~1y"),
        ({"title": "t", "count": 0}, "wrong_type", "/count"),
        ({"title": ""}, "blank", "/title"),
        ({"title": " \t "}, "blank", "/title"),
        ({"title": "a\nb"}, "control_character", "/title"),
        ({"title": "123456789"}, "too_long", "/title"),
        ({"title": "🚪🚪🚪"}, "too_long", "/title"),
        ({"title": "t", "notes": "a\x07"}, "control_character", "/notes"),
        ({"title": "t", "name": " bob"}, "padded", "/name"),
        ({"title": "t", "surface": "API"}, "pattern", "/surface"),
        ({"title": "t", "part": {"label": "a\nb"}}, "control_character", "/part/label"),
        ({"title": "t", "parts": [{"label": "123456789"}]}, "too_long", "/parts/0/label"),
        ({"title": "t", "labels": {"a/b": "x\ny"}}, "control_character", "/labels/a~1b"),
        ({"title": "t", "labels": {"a": "x", "b/c": 1, "d": 2}}, "wrong_type", "/labels/b~1c"),
        ({"title": "t", "labels": {"...": None}}, "wrong_type", "/labels/..."),
        ({"title": "t", "labels": {"a": "x", "": 1}}, "wrong_type", "/labels/"),
        ({"title": "t", "at": "0001-01-01T00:00:00+14:00"}, "out_of_range", "/at"),
        ({"title": "t", "at": "9999-12-31T23:59:59-14:00"}, "out_of_range", "/at"),
    ],
)
def test_refuses_and_names_the_place(data: Any, fault: str, pointer: str) -> None:
    assert fault_of(data) == (fault, pointer)


@pytest.mark.parametrize("way", ["labels[...].x", "parts[...]", "parts[9][...]", "title[...]"])
def test_the_name_of_a_field_is_not_taken_for_a_way(way: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        order(labels={}, parts=[], **{f"x` - at `$.{way}": 1})

    assert raised.value.code == "invalid_request"


def test_an_empty_text_for_an_optional_text_or_enum_means_absent() -> None:
    found = order(notes="", mode="", surface="", name="", part={"label": "l", "note": ""})

    assert (found.notes, found.mode, found.surface, found.name) == (UNSET, "fast", UNSET, UNSET)
    assert found.part == Part(label="l")
    assert order(parts=[{"label": "l", "note": ""}]).parts == [Part(label="l")]


@pytest.mark.parametrize("field", ["count", "ratio", "flag", "at", "part", "parts", "anything"])
def test_an_empty_text_means_absent_nowhere_else(field: str) -> None:
    assert fault_of({"title": "t", field: ""}) == ("wrong_type", f"/{field}")


def test_takes_null_where_it_is_allowed() -> None:
    assert order(anything=None).anything is None


def test_takes_a_time_with_any_offset() -> None:
    found = order(at="2026-01-31T09:30:00.123456+02:00").at

    assert isinstance(found, datetime)
    assert found.utcoffset() is not None


@pytest.mark.parametrize("field", ACTOR_FIELDS)
def test_refuses_a_body_that_names_who_acts_before_its_other_faults(field: str) -> None:
    with pytest.raises(ActorNotAccepted) as raised:
        convert({field: "alice", "more": 1}, Order)

    assert raised.value.facts == {"field": field}


def request_with(body: bytes, **meta: Any) -> WSGIRequest:
    request = RequestFactory().generic("POST", "/", body, content_type="application/json")
    request.META.update(meta)
    if "CONTENT_TYPE" in meta:
        request._set_content_type_params(request.META)
    return request


def read(body: bytes, limit: int = 100, **meta: Any) -> Any:
    return read_json(request_with(body, **meta), limit)


@pytest.mark.parametrize(
    ("meta", "refusal"),
    [
        ({"CONTENT_LENGTH": ""}, LengthRequired),
        ({"CONTENT_LENGTH": "-1"}, LengthRequired),
        ({"CONTENT_LENGTH": "2, 2"}, LengthRequired),
        ({"CONTENT_LENGTH": "٢"}, LengthRequired),
        ({"CONTENT_LENGTH": "101"}, BodyTooLarge),
        ({"CONTENT_LENGTH": "9" * 5000}, BodyTooLarge),
        ({"CONTENT_TYPE": ""}, UnsupportedMediaType),
        ({"CONTENT_TYPE": "text/plain"}, UnsupportedMediaType),
        ({"CONTENT_TYPE": "application/x-www-form-urlencoded"}, UnsupportedMediaType),
        ({"CONTENT_TYPE": "application/json; charset=latin-1"}, UnsupportedMediaType),
        ({"CONTENT_TYPE": "application/json; charset=rot13"}, UnsupportedMediaType),
        ({"CONTENT_TYPE": "application/jsonx"}, UnsupportedMediaType),
    ],
)
def test_refuses_a_body_by_its_headers(meta: dict[str, str], refusal: type[Refusal]) -> None:
    with pytest.raises(refusal):
        read(b"{}", **meta)


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON", "application/json; charset=UTF-8",
     'application/json;charset="utf-8"', "application/json; profile=x"],
)  # fmt: skip
def test_takes_json_however_it_is_spelled(content_type: str) -> None:
    assert read(b"{}", CONTENT_TYPE=content_type) == {}


def test_takes_a_body_of_exactly_the_limit() -> None:
    assert read(b'"' + b"x" * 98 + b'"') == "x" * 98


def test_an_empty_body_is_not_json() -> None:
    with pytest.raises(InvalidRequest, match="not valid JSON"):
        read(b"", CONTENT_LENGTH="0", CONTENT_TYPE="application/json")


class Unread(BytesIO):
    """A body that must not be read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")


def test_refuses_a_hundred_megabytes_unread() -> None:
    request = request_with(b"", CONTENT_LENGTH=str(100 * 1024 * 1024))
    request._stream = Unread()

    with pytest.raises(BodyTooLarge) as raised:
        read_json(request, 65536)

    assert raised.value.facts == {"limit": 65536}
