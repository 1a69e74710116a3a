"""Documents by the value of a field, whatever the field."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from resources.documents import Document
from resources.errors import ResourceNotFound
from resources.kinds import INDEXED_FIELDS, KINDS
from resources.models import Resource
from resources.queries.documents import rows, seen
from resources.specs import plain
from stigmer.core.callers import Caller
from stigmer.core.errors import InvalidRequest

_COLUMNS = {
    "id": "id", "name": "name", "slug": "slug", "org": "organization", "visibility": "visibility",
    "resource_version": "resource_version::text", "created_by": "created_by",
    "updated_by": "updated_by",
}  # fmt: skip
_JSON = ("labels", "annotations", "tags")
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")
Value = str | int | bool


def find_by_field(viewer: Caller, kind: str, path: str, value: Value) -> Document:
    """The first document by id whose field at this dot path has this value.

    A camelCase part that is not there falls back to snake_case. Raises ResourceNotFound,
    InvalidRequest for a path that is none.
    """
    found = rows(_matching(viewer, kind, path, value)[:1])
    if not found:
        raise ResourceNotFound(f"resource not found: {kind} where {path}={_text(value)}")
    return found[0]


def find_all_by_field(viewer: Caller, kind: str, path: str, value: Value) -> list[Document]:
    """Every document whose field has this value, by id. Raises InvalidRequest."""
    return rows(_matching(viewer, kind, path, value))


def find_all_by_label(viewer: Caller, kind: str, key: str, value: str) -> list[Document]:
    """Every document that carries this label, by id."""
    return rows(seen(viewer, kind).filter(labels__contains={key: value}).order_by("id"))


def _matching(viewer: Caller, kind: str, path: str, value: Value) -> QuerySet[Resource]:
    sql, params = _condition(kind, path.split("."))
    held = RawSQL(f"{sql} = %s", [*params, _text(value)], output_field=BooleanField())
    return seen(viewer, kind).filter(held).order_by("id")


def _condition(kind: str, parts: list[str]) -> tuple[str, list[Any]]:
    """SQL for the field as text; every part of a caller's is a parameter."""
    root, *steps = parts
    if root not in ("metadata", "spec", "status") or not steps or "" in steps:
        raise InvalidRequest(
            "a path starts with metadata, spec or status", pointer="path", fault="path"
        )
    if root == "metadata":
        return _metadata(steps)
    if root == "spec" and len(steps) == 1 and (field := _indexed(kind, steps[0])):
        return f"(resources_resource.spec ->> '{field}')", []
    return _json(root, steps)


def _indexed(kind: str, part: str) -> str | None:
    """The field whose index answers, if one does.

    Where any object is a spec the camelCase spelling may be a field too, and only looking tells.
    """
    if part in INDEXED_FIELDS:
        return part
    free = KINDS[kind].rules is plain.anything
    return None if free or _snake(part) not in INDEXED_FIELDS else _snake(part)


def _metadata(steps: list[str]) -> tuple[str, list[Any]]:
    column = steps[0] if steps[0] in _COLUMNS else _snake(steps[0])
    if column in _COLUMNS and len(steps) == 1:
        return f"resources_resource.{_COLUMNS[column]}", []
    if column in _JSON and len(steps) > 1:
        # Keys of labels hold dots; they are one part, taken as it is.
        return f"(resources_resource.{column} ->> %s)", [".".join(steps[1:])]
    raise InvalidRequest("there is no such field of metadata", pointer="path", fault="path")


def _json(root: str, steps: list[str]) -> tuple[str, list[Any]]:
    sql = f"resources_resource.{root}"
    params: list[Any] = []
    for part in steps:
        snake = _snake(part)
        if snake == part:
            sql, params = f"({sql} #> ARRAY[%s::text])", [*params, part]
        else:
            sql = f"COALESCE({sql} #> ARRAY[%s::text], {sql} #> ARRAY[%s::text])"
            params = [*params, part, *params, snake]
    return f"({sql} #>> '{{}}')", params


def _snake(part: str) -> str:
    return _CAMEL.sub(r"_\1", part).lower()


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
