"""What a text may be: bytes, control characters, padding. Refused as it is, never repaired."""

from __future__ import annotations

import re
from typing import NoReturn

from stigmer.core.errors import InvalidRequest

# C0, DEL and C1 are the control characters. The line and paragraph separators are none, but they
# break a line as a newline does, and a one-line field has one line.
_NOT_IN_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_IN_A_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NOT_IN_A_REQUEST_ID = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SURFACE = re.compile(r"[a-z][a-z0-9_-]{0,31}")

NAME_BYTES = 256
KEY_BYTES = 512
REQUEST_ID_BYTES = 256


def check_line(value: str, *, pointer: str, max_bytes: int, min_bytes: int = 1) -> str:
    """A one-line text, as it came: no control character and no line break.

    Lengths are bytes of UTF-8. With `min_bytes=0` an empty or blank text is allowed.
    Raises InvalidRequest: not_utf8, blank, too_short, too_long, control_character.
    """
    _check_length(value, pointer, max_bytes, min_bytes)
    if min_bytes and value.isspace():
        _refuse("must not be blank", pointer, "blank")
    # Printable text has none of them, and that is one quick look.
    if not value.isprintable() and _NOT_IN_A_LINE.search(value):
        _refuse("must be one line without control characters", pointer, "control_character")
    return value


def check_text(value: str, *, pointer: str, max_bytes: int, min_bytes: int = 1) -> str:
    """A text of any number of lines, as it came: tab, line feed and carriage return are fine.

    Lengths are bytes of UTF-8. With `min_bytes=0` an empty or blank text is allowed.
    Raises InvalidRequest: not_utf8, blank, too_short, too_long, control_character.
    """
    _check_length(value, pointer, max_bytes, min_bytes)
    if min_bytes and value.isspace():
        _refuse("must not be blank", pointer, "blank")
    if not value.isprintable() and _NOT_IN_A_TEXT.search(value):
        _refuse("has a control character other than tab and newlines", pointer, "control_character")
    return value


def check_name(value: str, *, pointer: str, max_bytes: int = NAME_BYTES, min_bytes: int = 1) -> str:
    """The name of a principal or an organization: a line without white space at its ends.

    Raises InvalidRequest: as `check_line`, and padded.
    """
    check_line(value, pointer=pointer, max_bytes=max_bytes, min_bytes=min_bytes)
    if value != value.strip():
        _refuse("must not start or end with white space", pointer, "padded")
    return value


def check_surface(value: str, *, pointer: str = "/surface") -> str:
    """The name of a surface: `^[a-z][a-z0-9_-]{0,31}$`.

    Raises InvalidRequest: pattern.
    """
    if not _SURFACE.fullmatch(value):
        _refuse("must match ^[a-z][a-z0-9_-]{0,31}$", pointer, "pattern")
    return value


def check_key(value: str, pointer: str = "/idempotency_key") -> str:
    """An idempotency key, taken literally: 1 to 512 bytes, no control character, no line break.

    Raises InvalidRequest: not_utf8, blank, too_long, control_character.
    """
    _check_length(value, pointer, KEY_BYTES, 1)
    if not value.isprintable() and _NOT_IN_A_LINE.search(value):
        _refuse("must be one line without control characters", pointer, "control_character")
    return value


def clean_request_id(raw: str | bytes | None) -> str:
    """An inbound request id made storable: at most 256 bytes of UTF-8, "" for none; never fails.

    Control characters, line separators, lone surrogates and bytes that are not UTF-8 are dropped;
    no character is cut in half. A WSGI header is latin-1 text: pass `header.encode("latin-1")`.
    """
    if raw is None:
        return ""
    text = raw.decode("utf-8", "ignore") if isinstance(raw, bytes) else raw
    if not text.isprintable():
        text = _NOT_IN_A_REQUEST_ID.sub("", text)
    if len(text) * 4 <= REQUEST_ID_BYTES:
        return text
    return text.encode()[:REQUEST_ID_BYTES].decode("utf-8", "ignore")


def _check_length(value: str, pointer: str, max_bytes: int, min_bytes: int) -> None:
    if not value:
        if min_bytes:
            _refuse("must not be empty", pointer, "blank")
        return
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError:
        _refuse("is not valid UTF-8", pointer, "not_utf8")
    if size > max_bytes:
        _refuse(f"must be at most {max_bytes} bytes", pointer, "too_long")
    if size < min_bytes:
        _refuse(f"must be at least {min_bytes} bytes", pointer, "too_short")


def _refuse(rule: str, pointer: str, fault: str) -> NoReturn:
    # Detail names the field: `/title` reads "title must not be empty".
    field = pointer.removeprefix("/") or "the value"
    raise InvalidRequest(f"{field} {rule}", pointer=pointer, fault=fault)
