"""Examples made from JSON schemas, where nobody wrote one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOMENT = "2026-01-31T09:30:00.000000Z"
Schema = Mapping[str, Any]


def example_of(schema: Schema, components: Mapping[str, Schema], name: str = "value") -> Any:
    """A value that fits; `name` is the field's, and stands where any text does.

    Of an object it shows the required members and those without a default.
    """
    if "$ref" in schema:
        return example_of(components[schema["$ref"].rpartition("/")[2]], components, name)
    for given in ("examples", "enum"):
        if given in schema:
            return schema[given][0]
    for given in ("const", "default"):
        if given in schema:
            return schema[given]
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], components, name)
    return _of_type(schema, components, name)


def _of_type(schema: Schema, components: Mapping[str, Schema], name: str) -> Any:
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, components)
    if kind == "array":
        return [example_of(schema.get("items", {}), components, name)]
    if kind == "string":
        return MOMENT if schema.get("format") == "date-time" else _text(schema, name)
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return {"boolean": True, "null": None}.get(str(kind), {})


def _object(schema: Schema, components: Mapping[str, Schema]) -> dict[str, Any]:
    required = schema.get("required", ())
    return {
        name: example_of(inner, components, name)
        for name, inner in schema.get("properties", {}).items()
        if name in required
    }


def _text(schema: Schema, name: str) -> str:
    return name.ljust(schema.get("minLength", 1), "x")[: schema.get("maxLength", 256)]
