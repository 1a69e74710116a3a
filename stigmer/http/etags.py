"""Entity tags: a digest of everything in the answer (RFC 9110, sections 8.8 and 13)."""

from hashlib import blake2b

from django.http import HttpRequest
from django.utils.http import parse_etags


def etag_of(content: bytes) -> str:
    """The strong tag of these bytes, with its quotes."""
    return f'"{blake2b(content, digest_size=16).hexdigest()}"'


def wanted(request: HttpRequest) -> list[str] | None:
    """The tags of `If-Match`, or None without that header."""
    raw = request.META.get("HTTP_IF_MATCH")
    return None if raw is None else parse_etags(raw)


def holds(tags: list[str] | None, content: bytes) -> bool:
    """Whether `If-Match` allows a change of what these bytes show; true without the header."""
    return tags is None or "*" in tags or etag_of(content) in tags


def unchanged(request: HttpRequest, tag: str) -> bool:
    """Whether `If-None-Match` says that the caller has this answer already (weak comparison)."""
    raw = request.META.get("HTTP_IF_NONE_MATCH")
    if raw is None:
        return False
    tags = [known.removeprefix("W/") for known in parse_etags(raw)]
    return "*" in tags or tag in tags
