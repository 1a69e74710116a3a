"""Tests of strict JSON: what is refused, and the place that the refusal names."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stigmer.core.errors import InvalidRequest
from stigmer.http.json_text import MAX_NUMBER, loads

CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\x00")
TEXTS = st.text(CHARACTERS, max_size=20)
NUMBERS = st.integers(-MAX_NUMBER, MAX_NUMBER) | st.floats(
    -1e15, 1e15, allow_nan=False, allow_infinity=False
)
SANE = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=25,
)
SOUND = settings(deadline=None, database=None, derandomize=True, max_examples=300)


def fault_in(raw: bytes) -> tuple[str, str]:
    """The kind and the place of the first fault."""
    with pytest.raises(InvalidRequest) as raised:
        loads(raw)
    return raised.value.fault, raised.value.pointer


@pytest.mark.parametrize(
    ("raw", "fault", "pointer"),
    [
        # Duplicate keys, at any depth; `~` and `/` are escaped as a JSON pointer asks.
        (b'{"a":1,"a":1}', "duplicate_key", "/a"),
        (b'{"a":{"b":[0,{"c":1,"c":2}]}}', "duplicate_key", "/a/b/1/c"),
        (b'{"a~b":{"c/d":1,"c/d":2}}', "duplicate_key", "/a~0b/c~1d"),
        (b'{"a":1,"\\u0061":2}', "duplicate_key", "/a"),
        ('{"é":1,"é":2}'.encode(), "duplicate_key", "/é"),
        (b'{"":1,"":2}', "duplicate_key", "/"),
        # Numbers.
        (b"NaN", "number_out_of_range", ""),
        (b'{"n":NaN}', "number_out_of_range", "/n"),
        (b"[0,Infinity]", "number_out_of_range", "/1"),
        (b"[-Infinity]", "number_out_of_range", "/0"),
        (b'{"n":1e400}', "number_out_of_range", "/n"),
        (b'{"n":-1e400}', "number_out_of_range", "/n"),
        (b'{"n":1e30}', "number_out_of_range", "/n"),
        (b'{"n":1000000000000000000000000000000}', "number_out_of_range", "/n"),
        (b'{"n":9007199254740992}', "number_out_of_range", "/n"),
        (b'{"n":-9007199254740992}', "number_out_of_range", "/n"),
        (b'{"n":9007199254740992.0}', "number_out_of_range", "/n"),
        (b'{"n":18446744073709551616}', "number_out_of_range", "/n"),
        (b"1" * 60_000, "number_out_of_range", ""),
        # Text.
        (b'{"a":"\\u0000"}', "not_utf8", "/a"),
        (b'{"\\u0000":1}', "not_utf8", "/\x00"),
        (b'{"a":["x","\\ud800"]}', "not_utf8", "/a/1"),
        (b'{"a":"\\udc00\\ud800"}', "not_utf8", "/a"),
        (b'{"\\ud800":1}', "not_utf8", "/\\ud800"),
        (b'{"a":{"~\\udfff":1}}', "not_utf8", "/a/~0\\udfff"),
        (b'"\xed\xa0\x80"', "not_utf8", ""),
        (b'"\xff"', "not_utf8", ""),
        (b'"\xc3"', "not_utf8", ""),
        ("{}".encode("utf-16"), "not_utf8", ""),
        # Form.
        (b"", "not_json", ""),
        (b"   ", "not_json", ""),
        (b"\xef\xbb\xbf{}", "not_json", ""),
        (b"{} {}", "not_json", ""),
        (b"{},", "not_json", ""),
        (b'{"a":1', "not_json", ""),
        (b'{"a":', "not_json", ""),
        (b'{"a', "not_json", ""),
        (b'{"a":1,}', "not_json", ""),
        (b"[1,]", "not_json", ""),
        (b"{'a':1}", "not_json", ""),
        (b'"\x00"', "not_json", ""),
        (b'"a\nb"', "not_json", ""),
        (b"01", "not_json", ""),
        (b"+1", "not_json", ""),
        (b".5", "not_json", ""),
        (b"nan", "not_json", ""),
        (b'{"a":1 /* so */}', "not_json", ""),
        # Depth: the body's own container is the first.
        (b"[" * 33 + b"]" * 33, "too_deep", ""),
        (b'{"a":' * 33 + b"1" + b"}" * 33, "too_deep", ""),
        (b"[" * 10_000, "too_deep", ""),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "too_deep", ""),
    ],
)
def test_refuses_and_names_the_place(raw: bytes, fault: str, pointer: str) -> None:
    assert fault_in(raw) == (fault, pointer)


@pytest.mark.parametrize(
    ("raw", "data"),
    [
        (b"[" * 32 + b"]" * 32, None),
        (b'{"a":' * 31 + b"[]" + b"}" * 31, None),
        (b'["' + b"[{" * 100 + b'"]', ["[{" * 100]),
        (b'["\\"' + b"[" * 100 + b'"]', ['"' + "[" * 100]),
        (b'["\\\\",' + b",".join([b"[]"] * 40) + b"]", ["\\", *([[]] * 40)]),
        (b"9007199254740991", MAX_NUMBER),
        (b"-9007199254740991", -MAX_NUMBER),
        (b"9007199254740991.0", float(MAX_NUMBER)),
        (b"1e-400", 0.0),
        (b"-0", 0),
        (b'"\\ud83d\\udeaa"', "🚪"),
        ('"🚪 ﷽ \u202e"'.encode(), "🚪 ﷽ \u202e"),
        (b' {"a": null}\r\n', {"a": None}),
    ],
)
def test_takes_what_is_sound(raw: bytes, data: Any) -> None:
    found = loads(raw)

    assert data is None or found == data


def test_tells_integers_from_other_numbers() -> None:
    assert [type(number) for number in loads(b"[1, 1.0, 1e0]")] == [int, float, float]


@pytest.mark.parametrize("filling", [b'\\"', b'"a', b"\\", b'"', b'a"b\\"'])
def test_a_text_without_end_costs_no_more_than_its_length(filling: bytes) -> None:
    raw = b"[" * 33 + b'"' + filling * 500_000
    began = time.process_time()

    fault_in(raw)

    # Tried again from each quote, this takes minutes.
    assert time.process_time() - began < 5


@SOUND
@given(SANE, st.booleans())
def test_gives_back_what_json_wrote(data: Any, ascii_only: bool) -> None:
    raw = json.dumps(data, ensure_ascii=ascii_only).encode()

    assert loads(raw) == data


@SOUND
@given(st.binary(max_size=200))
def test_never_fails_otherwise_on_any_bytes(raw: bytes) -> None:
    only_refuses(raw)


PIECES = (
    "{", "}", "[", "]", '"', ":", ",", "\\", "\\u0000", "\\ud800", "a", "1", "1e999", "NaN", "-",
    "null", " ", "\ufeff", "é",
)  # fmt: skip


@SOUND
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_never_fails_otherwise_on_near_json(text: str) -> None:
    only_refuses(text.encode())


def only_refuses(raw: bytes) -> None:
    with contextlib.suppress(InvalidRequest):
        loads(raw)
