"""Field types of bodies: msgspec types that carry a text rule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, UnsetType

from stigmer.core import texts

__all__ = ["UNSET", "Instant", "Key", "Name", "Opt", "Surface", "UnsetType", "line", "text"]

Value = TypeVar("Value")
Opt = Value | UnsetType


def _ruled(rule: Callable[..., Any], max_bytes: int, least: int, **schema: Any) -> Any:
    described = {"description": f"{least} to {max_bytes} bytes of UTF-8.", **schema}
    return Annotated[str, Meta(extra={"rule": rule}, extra_json_schema=described)]


def line(max_bytes: int, *, least: int = 1) -> Any:
    """A one-line text of `least` to `max_bytes` bytes of UTF-8."""

    def rule(value: str, pointer: str) -> None:
        texts.check_line(value, pointer=pointer, max_bytes=max_bytes, min_bytes=least)

    return _ruled(rule, max_bytes, least, maxLength=max_bytes, minLength=least)


def text(max_bytes: int, *, least: int = 1) -> Any:
    """A text of any number of lines, `least` to `max_bytes` bytes of UTF-8."""

    def rule(value: str, pointer: str) -> None:
        texts.check_text(value, pointer=pointer, max_bytes=max_bytes, min_bytes=least)

    return _ruled(rule, max_bytes, least, maxLength=max_bytes, minLength=least)


def _name(value: str, pointer: str) -> None:
    texts.check_name(value, pointer=pointer)


def _surface(value: str, pointer: str) -> None:
    texts.check_surface(value, pointer=pointer)


Name = _ruled(_name, texts.NAME_BYTES, 1, maxLength=texts.NAME_BYTES, minLength=1)
Key = _ruled(texts.check_key, texts.KEY_BYTES, 1, maxLength=texts.KEY_BYTES)
Surface = Annotated[
    str,
    Meta(extra={"rule": _surface}, extra_json_schema={"pattern": "^[a-z][a-z0-9_-]{0,31}$"}),
]
Instant = Annotated[datetime, Meta(tz=True)]


def stamp(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC with `Z` and microseconds; the database gives UTC."""
    return None if moment is None else moment.isoformat(timespec="microseconds")[:-6] + "Z"
