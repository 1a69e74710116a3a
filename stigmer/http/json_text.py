"""Strict JSON: bytes to plain data, or the first fault with its place (RFC 8259, RFC 6901)."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from stigmer.core.errors import InvalidRequest

MAX_DEPTH = 32
MAX_NUMBER = 2**53 - 1
# Possessive: a text that never ends must not be tried again from each of its quotes.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


class _Fault(Exception):
    """Something is wrong somewhere; the slow reading finds out where."""


@dataclass(frozen=True, slots=True)
class _Marked:
    """Stands in the data where a number is not allowed."""

    detail: str


class _Repeated(dict[str, Any]):
    """Stands in the data where an object has this key twice."""

    key = ""


def loads(raw: bytes) -> Any:
    """JSON as plain data: no duplicate key, no NaN, no NUL, no lone surrogate, at most 32 deep.

    Raises InvalidRequest.
    """
    _check_depth(raw)
    try:
        text = raw.decode("utf-8")
        try:
            data = _quick(text)
        except _Fault:
            _refuse_first(_slow(text))
    except UnicodeDecodeError:
        raise InvalidRequest("the body is not valid UTF-8", fault="not_utf8") from None
    except ValueError as cause:
        raise InvalidRequest(f"the body is not valid JSON: {cause}", fault="not_json") from None
    # Only an escape can bring a NUL or a surrogate past the decoder.
    if b"\\u" in raw:
        check_characters(data)
    return data


def check_characters(data: Any, pointer: str = "") -> None:
    """Refuse NUL and lone surrogates in any key or text, naming the place.

    Raises InvalidRequest.
    """
    if isinstance(data, str):
        if _NOT_TEXT.search(data):
            detail = "a text has a NUL or a lone surrogate"
            raise InvalidRequest(detail, pointer=pointer, fault="not_utf8")
    elif isinstance(data, dict):
        for key, value in data.items():
            check_characters(key, pointer + step(key))
            check_characters(value, pointer + step(key))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            check_characters(value, f"{pointer}/{place}")


def step(key: str) -> str:
    """One step of a JSON pointer; a lone surrogate, which UTF-8 cannot carry, as its escape."""
    shown = key.encode("utf-8", "backslashreplace").decode()
    return "/" + shown.replace("~", "~0").replace("/", "~1")


def _check_depth(raw: bytes) -> None:
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _STRING.sub(b"", raw).translate(None, _NO_BRACKET):
        depth += 1 if bracket in b"{[" else -1
        if depth > MAX_DEPTH:
            raise InvalidRequest(f"more than {MAX_DEPTH} nested containers", fault="too_deep")


def _number_fault(digits: str) -> str | None:
    if digits.lstrip("-").isdigit():
        fine = len(digits) <= 17 and -MAX_NUMBER <= int(digits) <= MAX_NUMBER
        return None if fine else "an integer is beyond ±(2^53−1)"
    number = float(digits)
    if math.isnan(number) or digits.endswith("Infinity"):
        return f"{digits} is not a JSON number"
    return None if abs(number) <= MAX_NUMBER else "a number is beyond ±(2^53−1)"


def _fail(_found: Any) -> NoReturn:
    raise _Fault


def _quick_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Fault
    return found


def _quick_integer(digits: str) -> int:
    if len(digits) > 17 or not -MAX_NUMBER <= (number := int(digits)) <= MAX_NUMBER:
        raise _Fault
    return number


def _quick_float(digits: str) -> float:
    if not -MAX_NUMBER <= (number := float(digits)) <= MAX_NUMBER:
        raise _Fault
    return number


def _slow_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            repeated = _Repeated()
            repeated.key = key
            return repeated
        found[key] = value
    return found


def _slow_number(digits: str) -> Any:
    fault = _number_fault(digits)
    return 0 if fault is None else _Marked(fault)


_quick = json.JSONDecoder(
    object_pairs_hook=_quick_object,
    parse_constant=_fail,
    parse_int=_quick_integer,
    parse_float=_quick_float,
).decode
_slow = json.JSONDecoder(
    object_pairs_hook=_slow_object,
    parse_constant=_slow_number,
    parse_int=_slow_number,
    parse_float=_slow_number,
).decode


def _refuse_first(data: Any) -> NoReturn:
    refusal = _first(data, "")
    assert refusal is not None
    raise refusal


def _first(data: Any, pointer: str) -> InvalidRequest | None:
    if isinstance(data, _Marked):
        return InvalidRequest(data.detail, pointer=pointer, fault="number_out_of_range")
    if isinstance(data, _Repeated):
        place = step(data.key)
        detail = f"the key {place[1:]!r} appears twice"
        return InvalidRequest(detail, pointer=pointer + place, fault="duplicate_key")
    inner: list[tuple[str, Any]] = []
    if isinstance(data, dict):
        inner = [(step(key), value) for key, value in data.items()]
    elif isinstance(data, list):
        inner = [(f"/{place}", value) for place, value in enumerate(data)]
    found = (_first(value, pointer + place) for place, value in inner)
    return next((refusal for refusal in found if refusal), None)
