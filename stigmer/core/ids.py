"""TypeIDs: `<prefix>_<26 characters of base32 UUIDv7>`, time-ordered (TypeID specification 0.3)."""

import re
from functools import lru_cache

from typeid import TypeID

_SUFFIX = "[0-7][0-9a-hjkmnp-tv-z]{25}"


def new_id(prefix: str) -> str:
    """A fresh id with this prefix."""
    return str(TypeID(prefix))


@lru_cache(maxsize=64)
def _form(prefix: str) -> re.Pattern[str]:
    return re.compile(f"{prefix}_{_SUFFIX}")


def is_id(prefix: str, text: str) -> bool:
    """Whether the text is an id with exactly this prefix in canonical form."""
    return _form(prefix).fullmatch(text) is not None
