"""Tests of query parameters."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from django.test import RequestFactory
from msgspec import UNSET, UnsetType

from stigmer.core.errors import InvalidRequest
from stigmer.http.fields import line
from stigmer.http.queries import MAX_PARAMETERS, read_query
from stigmer.http.schemas import Query


class Search(Query):
    """One parameter of each kind."""

    q: Annotated[str, line(8)] | UnsetType = UNSET
    state: Literal["open", "shut"] | UnsetType = "open"
    deep: bool | UnsetType = UNSET
    tag: list[str] | UnsetType = UNSET


def read(query: str, schema: type[Query] | None = Search, **meta: Any) -> Any:
    request = RequestFactory().get("/")
    request.META.update(QUERY_STRING=query, **meta)
    return read_query(request, schema)


def test_reads_typed_values() -> None:
    found = read("q=a%20b&state=shut&deep=true&tag=x&tag=y")

    assert found == Search(q="a b", state="shut", deep=True, tag=["x", "y"])


def test_an_empty_choice_counts_as_absent() -> None:
    assert read("state=") == Search()
    assert read("state=&q=a") == Search(q="a")
    with pytest.raises(InvalidRequest, match="given twice"):
        read("state=&state=shut")


def test_reads_no_query_as_the_defaults() -> None:
    assert read("") == Search()
    assert read("", None) is None


def test_reads_every_script() -> None:
    assert read("q=%D0%B4%D0%B0").q == "да"
    assert read("q=%F0%9F%9A%AA").q == "🚪"


@pytest.mark.parametrize(
    ("query", "fault", "pointer"),
    [
        ("x=1", "unknown_field", "x"),
        ("x", "unknown_field", "x"),
        ("q=a&Q=b", "unknown_field", "Q"),
        ("q[]=a", "unknown_field", "q[]"),
        ("x%00=1", "unknown_field", "x\\x00"),
        ("q=a&q=a", "repeated", "q"),
        ("state=ajar", "wrong_type", "state"),
        ("deep=perhaps", "wrong_type", "deep"),
        ("q=", "blank", "q"),
        ("q=123456789", "too_long", "q"),
        ("q=%F0%9F%9A%AA%F0%9F%9A%AA%F0%9F%9A%AA", "too_long", "q"),
        ("q=a%0Ab", "control_character", "q"),
        ("q=a%00b", "not_utf8", "q"),
        ("q=%ff", "not_utf8", ""),
        ("q=%ed%a0%80", "not_utf8", ""),
        ("q=\xff", "not_ascii", ""),
        ("&".join(["tag=x"] * (MAX_PARAMETERS + 1)), "too_many", ""),
    ],
)
def test_refuses_and_names_the_parameter(query: str, fault: str, pointer: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        read(query)

    assert (raised.value.fault, raised.value.pointer) == (fault, pointer)


def test_knows_no_parameter_where_a_route_has_none() -> None:
    with pytest.raises(InvalidRequest, match="'format' is not a query parameter"):
        read("format=json", None)


def test_a_charset_of_the_body_does_not_reach_the_query() -> None:
    assert read("q=a", CONTENT_TYPE="application/json; charset=rot13").q == "a"
