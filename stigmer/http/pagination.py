"""Keyset cursors: opaque, signed, bound to the filters they were made for."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256
from typing import Any, NoReturn

import msgspec
from django.conf import settings
from django.utils.crypto import salted_hmac

from stigmer.core.errors import InvalidRequest

DEFAULT_LIMIT = 100
MAX_LIMIT = 500
LIMIT_TEXT = "limit must be an integer from 1 to 500"
_SIGNATURE = 16


@cache
def _secret(base: str) -> bytes:
    return salted_hmac("stigmer.http.pagination", "cursor", base, algorithm="sha256").digest()


def _sign(payload: bytes, bound: bytes) -> bytes:
    return hmac.digest(_secret(settings.SECRET_KEY), bound + payload, "sha256")[:_SIGNATURE]


def _bound(filters: Mapping[str, Any]) -> bytes:
    return sha256(msgspec.json.encode(filters, order="deterministic")).digest()


def cursor_for(position: tuple[Any, ...], filters: Mapping[str, Any]) -> str:
    """The cursor behind this position: the sort key and id of the last row shown."""
    payload = msgspec.json.encode(position)
    raw = _sign(payload, _bound(filters)) + payload
    return _spell(raw)


def _spell(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def position_of(cursor: str, filters: Mapping[str, Any], shape: Any) -> Any:
    """The position in a cursor of ours for exactly these filters, as the given tuple type.

    Raises InvalidRequest for any other text.
    """
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        _refuse()
    payload = raw[_SIGNATURE:]
    # Base64 has several spellings of the same bytes; only ours is the cursor.
    if _spell(raw) != cursor:
        _refuse()
    if not hmac.compare_digest(raw[:_SIGNATURE], _sign(payload, _bound(filters))):
        _refuse()
    try:
        return msgspec.json.decode(payload, type=shape)
    except msgspec.DecodeError:
        _refuse()


def _refuse() -> NoReturn:
    raise InvalidRequest(
        "cursor does not belong to this list", pointer="cursor", fault="invalid_cursor"
    )


def limit_from(raw: str | None) -> int:
    """The page size, 1 to 500, default 100. Raises InvalidRequest."""
    if raw is None:
        return DEFAULT_LIMIT
    if not raw.isascii() or not raw.isdigit() or len(raw) > 3 or not 1 <= int(raw) <= MAX_LIMIT:
        raise InvalidRequest(LIMIT_TEXT, pointer="limit", fault="out_of_range")
    return int(raw)


TimeAndId = tuple[datetime, str]
