"""Metadata as a caller gives it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from stigmer.core import texts
from stigmer.core.errors import InvalidRequest
from stigmer.http.fields import line, text
from stigmer.http.json_text import step

LABEL_KEY_BYTES = 256
VisibilityName = Literal["visibility_private", "visibility_org", "visibility_public"]
Label = Annotated[str, line(256, least=0)]
Note = Annotated[str, text(16 * 1024, least=0)]
Tag = Annotated[str, line(128)]


class Metadata(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What a caller says about a document besides its spec."""

    org: str
    name: Annotated[str, line(256)]
    slug: str | UnsetType = UNSET
    visibility: VisibilityName | UnsetType = UNSET
    labels: Annotated[dict[str, Label], Meta(max_length=64)] | UnsetType = UNSET
    annotations: Annotated[dict[str, Note], Meta(max_length=64)] | UnsetType = UNSET
    tags: Annotated[list[Tag], Meta(max_length=64)] | UnsetType = UNSET


class MetadataPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A merge patch of metadata (RFC 7396): what is absent stays, null removes."""

    org: Any = UNSET
    name: Any = UNSET
    slug: Any = UNSET
    visibility: Any = UNSET
    labels: Any = UNSET
    annotations: Any = UNSET
    tags: Any = UNSET


def check_keys(metadata: Metadata, at: str = "/metadata") -> None:
    """The keys of labels and annotations are lines. Raises InvalidRequest."""
    for field in ("labels", "annotations"):
        for key in getattr(metadata, field) or {}:
            try:
                texts.check_line(key, pointer=f"{field} key", max_bytes=LABEL_KEY_BYTES)
            except InvalidRequest as fault:
                raise InvalidRequest(
                    fault.detail, pointer=f"{at}/{field}{step(key)}", fault=fault.fault
                ) from None
