"""One spelling for each JSON value (RFC 8785), and the digest of a request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import rfc8785

# An RFC 8785 number is an IEEE 754 double: beyond this, two integers would be one.
LARGEST = 2**53 - 1

# Equal to rfc8785 on plain data only: it writes floats in Python's way and orders keys by code
# point where the RFC orders them by UTF-16 unit (RFC 8785, 3.2.3).
_encode_plain = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode


def canonical(value: Any) -> bytes:
    """The canonical JSON of None, bool, int, float, str, list, tuple and dict, as UTF-8.

    Raises ValueError for what has no canonical form: an integer beyond ±(2^53-1), NaN, Infinity,
    a lone surrogate, a key that is no string, any other type.
    """
    if _is_plain(value):
        try:
            return _encode_plain(value).encode()
        except UnicodeEncodeError:
            pass
    return rfc8785.dumps(value)


def request_hash(operation: str, target: str, body: Mapping[str, Any]) -> str:
    """SHA-256, in hex, over the canonical JSON of an operation, its target and its body.

    The order of the body's keys does not matter. The body is the validated one, its defaults
    filled in, without the idempotency key. Raises ValueError as `canonical` does.
    """
    request = {"body": dict(body), "operation": operation, "target": target}
    return hashlib.sha256(canonical(request)).hexdigest()


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is dict:
        return all(type(key) is str and key.isascii() for key in value) and all(
            map(_is_plain, value.values())
        )
    if kind is list or kind is tuple:
        return all(map(_is_plain, value))
    return kind is int and -LARGEST <= value <= LARGEST
