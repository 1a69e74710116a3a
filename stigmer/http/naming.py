"""Names in the OpenAPI document, derived from addresses so that they stay."""

from __future__ import annotations

import re

PREFIX = "/api/v1/"
_VERBS = {"get": "get", "post": "create", "put": "put", "patch": "update", "delete": "delete"}


def parameters_in(path: str) -> list[str]:
    """The path's parameters, in order."""
    return re.findall(r"\{(\w+)\}", path)


def tag_of(path: str) -> str:
    """The first word of the address."""
    return path.removeprefix(PREFIX).partition("/")[0]


def operation_id(path: str, method: str) -> str:
    """`list_work_items`, `create_work_item_intent`, `resume_work_item`."""
    words = path.removeprefix(PREFIX).replace("-", "_").split("/")
    if words[-1] == "{kind}":
        words.pop()  # A kind names a list, not one of its rows.
    static = [word for word in words if not word.startswith("{")]
    *parents, last = static
    before = [_singular(word) for word in parents]
    if words[-1].startswith("{"):
        return "_".join([_VERBS[method], *before, _singular(last)])
    if _singular(last) == last:
        acting = method == "post"
        return "_".join([last, *before] if acting else [_VERBS[method], *before, last])
    if method == "get":
        return "_".join(["list", *before, last])
    return "_".join([_VERBS[method], *before, _singular(last)])


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) else word
