"""Field types of bodies: msgspec types that carry a text rule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from stigmer.core import texts
from stigmer.core.errors import InvalidRequest

__all__ = ["UNSET", "Instant", "Key", "Name", "Surface", "UnsetType", "line", "stamp", "text"]


# An empty text for an optional field means that it is absent, unless its type carries this.
EMPTY_IS_A_VALUE = Meta(extra={"empty_is_a_value": True})


def _ruled(rule: Callable[..., Any], max_bytes: int, least: int) -> Meta:
    described = {
        "description": f"{least} to {max_bytes} bytes of UTF-8.",
        "minLength": least,
        "maxLength": max_bytes,
    }
    return Meta(extra={"rule": rule}, extra_json_schema=described)


def line(max_bytes: int, *, least: int = 1) -> Meta:
    """For `Annotated[str, line(256)]`: a one-line text of `least` to `max_bytes` bytes of UTF-8."""

    def rule(value: str, pointer: str) -> None:
        texts.check_line(value, pointer=pointer, max_bytes=max_bytes, min_bytes=least)

    return _ruled(rule, max_bytes, least)


def text(max_bytes: int, *, least: int = 1) -> Meta:
    """For `Annotated[str, text(8192)]`: any number of lines, `least` to `max_bytes` bytes."""

    def rule(value: str, pointer: str) -> None:
        texts.check_text(value, pointer=pointer, max_bytes=max_bytes, min_bytes=least)

    return _ruled(rule, max_bytes, least)


def _name(value: str, pointer: str) -> None:
    texts.check_name(value, pointer=pointer)


def _surface(value: str, pointer: str) -> None:
    texts.check_surface(value, pointer=pointer)


def _instant(value: datetime, pointer: str) -> None:
    # An offset can lead out of the years that exist in UTC.
    try:
        value.astimezone(UTC)
    except OverflowError:
        detail = f"{pointer.removeprefix('/')} is not within the years 1 to 9999 in UTC"
        raise InvalidRequest(detail, pointer=pointer, fault="out_of_range") from None


Name = Annotated[str, _ruled(_name, texts.NAME_BYTES, 1)]
Key = Annotated[str, _ruled(texts.check_key, texts.KEY_BYTES, 1)]
Surface = Annotated[
    str,
    Meta(extra={"rule": _surface}, extra_json_schema={"pattern": "^[a-z][a-z0-9_-]{0,31}$"}),
]
Instant = Annotated[datetime, Meta(tz=True, extra={"rule": _instant})]


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z` and microseconds; the database gives UTC."""
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"


def stamp_or_none(moment: datetime | None) -> str | None:
    """As `stamp`; null stays null."""
    return None if moment is None else stamp(moment)
