"""Tests of cursors and page sizes."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stigmer.core.errors import InvalidRequest
from stigmer.http.pagination import DEFAULT_LIMIT, TimeAndId, cursor_for, limit_from, position_of

POSITION = (datetime(2026, 1, 31, 9, 30, 0, 123456, tzinfo=UTC), "wi_01h455vb4pex5vsknk084sn02q")
FILTERS = {"list": "items", "state": "open", "tenant": "acme"}
CURSOR = cursor_for(POSITION, FILTERS)
PAGE_SETTINGS = settings(deadline=None, database=None, derandomize=True, max_examples=200)


def refused(cursor: str, filters: dict[str, str] = FILTERS) -> bool:
    with pytest.raises(InvalidRequest) as raised:
        position_of(cursor, filters, TimeAndId)
    return (raised.value.fault, raised.value.pointer) == ("invalid_cursor", "cursor")


def test_gives_back_the_position() -> None:
    assert position_of(CURSOR, FILTERS, TimeAndId) == POSITION


def test_the_order_of_filters_does_not_matter() -> None:
    backwards = dict(reversed(FILTERS.items()))

    assert position_of(CURSOR, backwards, TimeAndId) == POSITION


def test_needs_no_escape_in_an_address() -> None:
    assert CURSOR.isascii()
    assert CURSOR.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "filters",
    [
        {}, {**FILTERS, "state": "shut"}, {**FILTERS, "more": ""}, {**FILTERS, "list": "events"},
        {"list": "items", "state": "open"},
    ],
)  # fmt: skip
def test_refuses_a_cursor_of_other_filters(filters: dict[str, str]) -> None:
    assert refused(CURSOR, filters)


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "garbage", "=" * 8, f"{CURSOR}=", f"{CURSOR}A", f" {CURSOR}", f"{CURSOR}\n",
        CURSOR[:-1], CURSOR[1:], CURSOR.swapcase(), "ключ", "🚪" * 50, "A" * 1_000_000,
        CURSOR * 2, CURSOR.replace("-", "+").replace("_", "/") + "+", "\x00", "%00",
    ],
)  # fmt: skip
def test_refuses_another_text(cursor: str) -> None:
    assert refused(cursor)


@pytest.mark.parametrize("place", range(len(CURSOR)))
def test_refuses_a_change_of_any_character(place: int) -> None:
    other = "B" if CURSOR[place] == "A" else "A"

    assert refused(CURSOR[:place] + other + CURSOR[place + 1 :])


def test_refuses_another_spelling_of_the_same_bytes() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    long = next(c for n in range(3) if len(c := cursor_for(("x" * n,), {})) % 4)
    last = alphabet.index(long[-1])
    twin = long[:-1] + alphabet[last ^ 1]
    pad = "=" * (-len(long) % 4)
    assert base64.urlsafe_b64decode(long + pad) == base64.urlsafe_b64decode(twin + pad)

    assert refused(twin, {})


def test_refuses_a_position_of_another_shape() -> None:
    assert refused(cursor_for((1, 2, 3), FILTERS))


def test_depends_on_the_secret(settings: object) -> None:
    settings.SECRET_KEY = "another secret"  # type: ignore[attr-defined]

    assert refused(CURSOR)


@PAGE_SETTINGS
@given(st.text(max_size=80))
def test_refuses_anything_made_up(cursor: str) -> None:
    assert refused(cursor)


@pytest.mark.parametrize(("raw", "limit"), [(None, DEFAULT_LIMIT), ("1", 1), ("500", 500)])
def test_takes_a_page_size(raw: str | None, limit: int) -> None:
    assert limit_from(raw) == limit


@pytest.mark.parametrize(
    "raw", ["", "0", "501", "-1", "+1", "1.0", "1e2", " 1", "1 ", "ten", "٣", "1000", "9" * 5000]
)
def test_refuses_another_page_size(raw: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        limit_from(raw)

    assert raised.value.detail == "limit must be an integer from 1 to 500"
    assert raised.value.pointer == "limit"
