"""JSON Merge Patch (RFC 7396) over a document."""

from __future__ import annotations

from typing import Any

# What a removed member of metadata becomes; name, org and slug cannot be removed.
_EMPTY: dict[str, Any] = {
    "visibility": "visibility_org", "labels": {}, "annotations": {}, "tags": [],
}  # fmt: skip


def merged(target: Any, patch: Any) -> Any:
    """The target with the patch merged in: RFC 7396, section 2."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def patched(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """A whole document with the metadata and spec of a patch merged in."""
    result: dict[str, Any] = merged(document, patch)
    metadata = patch.get("metadata", {})
    for name, empty in _EMPTY.items():
        if name in metadata and metadata[name] is None:
            result["metadata"][name] = empty
    return result
