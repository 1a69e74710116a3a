"""The rules of text: bytes, control characters, padding."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stigmer.core.errors import InvalidRequest
from stigmer.core.texts import (
    check_key,
    check_line,
    check_name,
    check_surface,
    check_text,
    clean_request_id,
)

CONTROLS = [chr(c) for c in [*range(0x20), *range(0x7F, 0xA0)]]
TEXT_CONTROLS = [c for c in CONTROLS if c not in "\t\n\r"]
LINE_BREAKS = ["\u2028", "\u2029"]
BLANKS = ["", " ", "   ", "\u3000", "\u00a0 "]
GOOD = [
    "a",
    " padded ",
    "Überprüfung",
    "作业 №7",
    "👩‍👩‍👧",
    "שלום",
    "a\u200bb",
    "non\u00a0breaking",
    "\u202eodd",
]


def line(value, max_bytes=40, **bounds):
    return check_line(value, pointer="/title", max_bytes=max_bytes, **bounds)


def text(value, max_bytes=40, **bounds):
    return check_text(value, pointer="/text", max_bytes=max_bytes, **bounds)


def name(value):
    return check_name(value, pointer="/name")


def fault(check, *args, **kwargs):
    with pytest.raises(InvalidRequest) as refused:
        check(*args, **kwargs)
    return refused.value.fault


@pytest.mark.parametrize("value", GOOD)
def test_a_good_value_comes_back_as_it_came(value):
    assert line(value) == value
    assert text(value) == value
    assert check_key(value) == value


@pytest.mark.parametrize("character", CONTROLS + LINE_BREAKS)
@pytest.mark.parametrize("check", [line, name, check_key])
def test_a_line_has_no_control_character(check, character):
    assert fault(check, f"a{character}b") == "control_character"


@pytest.mark.parametrize("character", TEXT_CONTROLS)
def test_a_text_has_no_other_control_character(character):
    assert fault(text, f"a{character}b") == "control_character"


@pytest.mark.parametrize("value", ["a\tb\nc\r\nd", "a\u2028b\u2029c", "\nled by a newline"])
def test_a_text_has_tabs_and_lines(value):
    assert text(value) == value


@given(st.text(min_size=1, max_size=8))
def test_a_line_is_refused_for_categories_of_control_and_separators_alone(value):
    categories = {unicodedata.category(character) for character in value}
    bad = not categories.isdisjoint({"Cc", "Zl", "Zp"})

    if bad or value.isspace():
        assert fault(line, value) in {"control_character", "blank"}
    else:
        assert line(value) == value


@pytest.mark.parametrize("value", BLANKS)
@pytest.mark.parametrize("check", [line, text, name])
def test_blank_is_refused(check, value):
    assert fault(check, value) == "blank"


@pytest.mark.parametrize("value", ["\n", " \t\r\n"])
def test_a_text_of_empty_lines_is_blank(value):
    assert fault(text, value) == "blank"


@pytest.mark.parametrize("value", BLANKS)
def test_blank_is_allowed_where_empty_is(value):
    assert line(value, min_bytes=0) == value
    assert text(value, min_bytes=0) == value


@pytest.mark.parametrize("check", [line, text])
def test_length_is_bytes_of_utf8(check):
    assert check("é" * 20) == "é" * 20
    assert check("x" * 40) == "x" * 40
    assert fault(check, "x" * 41) == "too_long"
    assert fault(check, "é" * 20 + "x") == "too_long"
    assert fault(check, "👍" * 10 + "x") == "too_long"
    assert fault(check, "ab", min_bytes=3) == "too_short"
    assert check("é", min_bytes=2) == "é"
    assert fault(check, "x" * 41, min_bytes=0) == "too_long"


@pytest.mark.parametrize("surrogate", [chr(0xD800), chr(0xDC80), chr(0xDFFF)])
@pytest.mark.parametrize("check", [line, text, name, check_key])
def test_a_lone_surrogate_is_no_utf8(check, surrogate):
    assert fault(check, f"a{surrogate}") == "not_utf8"


@pytest.mark.parametrize("value", [" alice", "alice ", "\u3000alice", "alice\u00a0", "\u2003a"])
def test_a_padded_name_is_refused(value):
    assert fault(name, value) == "padded"


@pytest.mark.parametrize("value", ["alice", "github:alice", "service:dispatcher", "Zoë K.", "李雷"])
def test_a_name_comes_back_as_it_came(value):
    assert name(value) == value


def test_a_name_has_256_bytes():
    assert name("n" * 256)
    assert fault(name, "n" * 257) == "too_long"


@pytest.mark.parametrize("value", ["a", "api", "telegram", "web-2_x", "a" * 32])
def test_a_surface_is_a_short_word(value):
    assert check_surface(value) == value


@pytest.mark.parametrize(
    "value", ["", "A", "1a", "-a", "a" * 33, "a\n", "a b", "é", "aé", "a\ud800"]
)
def test_any_other_surface_is_refused(value):
    assert fault(check_surface, value) == "pattern"


def test_a_key_has_1_to_512_bytes_and_is_literal():
    assert check_key("k" * 512) == "k" * 512
    assert check_key(" ") == " "
    assert fault(check_key, "") == "blank"
    assert fault(check_key, "k" * 513) == "too_long"
    assert fault(check_key, "é" * 257) == "too_long"


def test_a_refusal_names_the_place_and_the_rule():
    with pytest.raises(InvalidRequest) as refused:
        line("x" * 41)

    assert refused.value.pointer == "/title"
    assert refused.value.detail == "title must be at most 40 bytes"


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (None, ""),
        ("", ""),
        (b"", ""),
        ("req-1", "req-1"),
        (b"req-1", "req-1"),
        ("a\x00b\r\nc\x85d\u2028e\ud800f", "abcdef"),
        (b"a\xff\xfeb\xc3", "ab"),
        ("é".encode(), "é"),
        ("x" * 300, "x" * 256),
        ("x" + "é" * 200, "x" + "é" * 127),
        ("👍" * 100, "👍" * 64),
        ("x" * 255 + "👍", "x" * 255),
    ],
)
def test_a_request_id_is_made_storable(raw, clean):
    assert clean_request_id(raw) == clean


@given(st.binary(max_size=600) | st.text(st.characters(), max_size=400))
def test_a_request_id_never_fails(raw):
    clean = clean_request_id(raw)

    assert len(clean.encode()) <= 256
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in clean)
