"""A file of requests: one JSON object a line, read strictly before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from stigmer.core.errors import InvalidRequest
from stigmer.http.json_text import loads
from workitems.driving import references

Answer = int | str


class Request(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """One request: who sends what where; `expect` says what the answer shall be."""

    principal: str = msgspec.field(name="as")
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    body: dict[str, Any] | None = None
    key: str | None = None
    name: str | UnsetType = UNSET
    expect: Answer | list[Answer] | UnsetType = UNSET

    def accepts(self, status: int, code: str) -> bool:
        """Whether this answer is as expected; a replay (200) is as good as the 201 before it."""
        if self.expect is UNSET:
            return True
        wanted = self.expect if isinstance(self.expect, list) else [self.expect]
        again = status == 200 and self.key is not None and 201 in wanted
        return again or status in wanted or code in wanted


class Line(NamedTuple):
    """A request and the number of its line."""

    number: int
    request: Request


class MalformedLineError(Exception):
    """A line cannot be sent; the message names it."""


def read(path: Path) -> list[Line]:
    """Every request of the file; blank lines are left out. Raises MalformedLineError, OSError."""
    found: list[Line] = []
    names: set[str] = set()
    for number, raw in enumerate(path.read_bytes().splitlines(), start=1):
        if raw.strip():
            try:
                found.append(Line(number, _request(raw, names)))
            except (ValueError, InvalidRequest) as fault:
                raise MalformedLineError(f"line {number}: {fault}") from None
    return found


def _request(raw: bytes, names: set[str]) -> Request:
    request = msgspec.convert(loads(raw), Request)
    # The token must not travel elsewhere.
    if not request.path.startswith("/api/v1/"):
        raise ValueError(f"path must start with /api/v1/, not {request.path!r}")
    unknown = sorted(references.names_in([request.path, request.body]) - names)
    if unknown:
        raise ValueError(f"no earlier line is named {' or '.join(unknown)}")
    if request.name is not UNSET:
        if not references.is_name(request.name):
            raise ValueError(f"name must match {references.NAME}, not {request.name!r}")
        if request.name in names:
            raise ValueError(f"an earlier line is named {request.name}")
        names.add(request.name)
    return request
