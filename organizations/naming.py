"""Slugs and names: which forms are allowed, which words are reserved, what a name becomes."""

import re
import unicodedata

from django.conf import settings

from stigmer.core.errors import InvalidRequest
from stigmer.core.texts import check_name

SLUG_MAX = 63
SLUG_RULE = "^[a-z][a-z0-9-]{0,61}[a-z0-9]$"
_SLUG = re.compile(r"[a-z][a-z0-9-]{0,61}[a-z0-9]")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")

# Words that addresses use now or may use; STIGMER_RESERVED_SLUGS adds an installation's own.
RESERVED = frozenset(
    {
        "about", "account", "accounts", "admin", "api", "apps", "assets", "auth", "billing",
        "callback", "console", "dashboard", "demo-data", "docs", "favicon", "healthz", "help",
        "home", "internal", "login", "logout", "media", "metrics", "new", "null", "oauth",
        "organizations", "organization-slugs", "password", "problems", "public", "readyz", "root",
        "schema", "search", "settings", "signin", "signout", "signup", "static", "status",
        "stigmer", "stream", "support", "swagger", "system", "tokens", "undefined", "users",
        "v1", "webhooks", "well-known", "whoami", "www",
    }
)  # fmt: skip


def is_slug(text: str) -> bool:
    """Whether the text has the form of a slug: 2 to 63 of `a-z0-9-`, a letter first."""
    return _SLUG.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether a principal can have this name; no other text need be looked for."""
    try:
        check_name(text, pointer="")
    except InvalidRequest:
        return False
    return True


def is_reserved(slug: str) -> bool:
    """Whether no organization may ever take this slug."""
    return slug in RESERVED or slug in settings.STIGMER_RESERVED_SLUGS


def slug_from(name: str) -> str:
    """The slug that a name becomes, or "" when no valid one can be derived."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = _NOT_IN_SLUG.sub("-", ascii_only).strip("-")[:SLUG_MAX].strip("-")
    return slug if is_slug(slug) else ""


def check_slug(slug: str, *, pointer: str = "/slug") -> str:
    """A slug of the right form.

    Raises InvalidRequest: pattern.
    """
    if not is_slug(slug):
        raise InvalidRequest(f"slug must match {SLUG_RULE}", pointer=pointer, fault="pattern")
    return slug
