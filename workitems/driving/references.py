"""`{{name.work_item.id}}`: values of earlier answers in later paths and bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

NAME = "[a-z][a-z0-9_-]*"
_REFERENCE = re.compile(r"\{\{(" + NAME + r")((?:\.[a-z0-9_]+)+)\}\}")


class UnresolvedError(Exception):
    """An earlier answer has no such value."""


def is_name(text: str) -> bool:
    """Whether a line may have this name."""
    return re.fullmatch(NAME, text) is not None


def names_in(value: Any) -> set[str]:
    """The names that the texts in a JSON value refer to."""
    return {found[1] for text in _texts(value) for found in _REFERENCE.finditer(text)}


def resolve(value: Any, answers: Mapping[str, Any]) -> Any:
    """The JSON value with every reference replaced; a text that is one reference keeps the type.

    Raises UnresolvedError.
    """
    if isinstance(value, dict):
        return {key: resolve(item, answers) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, answers) for item in value]
    if not isinstance(value, str):
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole:
        return _look_up(whole, answers)
    return _REFERENCE.sub(lambda found: str(_look_up(found, answers)), value)


def _look_up(found: re.Match[str], answers: Mapping[str, Any]) -> Any:
    value = answers.get(found[1])
    for step in found[2][1:].split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        raise UnresolvedError(f"{found[0]} has no value: the answer to {found[1]} lacks it")
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
