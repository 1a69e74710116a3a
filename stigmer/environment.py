"""Reading the environment strictly: every fault names its variable, all faults are told at once."""

import base64
import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

SCHEMES = ("postgresql://", "postgres://")


class Environment:
    """The variables, and the faults found so far."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.faults: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        return self.variables.get(name, "").strip() or default

    def optional(self, name: str, default: str) -> str:
        """Like `text`, but a variable that is set and empty stays empty."""
        return self.variables.get(name, default).strip()

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        value = self.text(name, default)
        if value not in allowed:
            self.faults.append(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
            return default
        return value

    def switch(self, name: str, default: str) -> bool:
        return self.choice(name, default, ("on", "off")) == "on"

    def number(self, name: str, default: int, low: int, high: int) -> int:
        value = self.text(name, str(default))
        if not (value.isascii() and value.isdigit() and low <= int(value) <= high):
            self.faults.append(f"{name} must be a whole number from {low} to {high}, not {value!r}")
            return default
        return int(value)

    def names(self, name: str) -> list[str]:
        return [part.strip() for part in self.text(name).split(",") if part.strip()]

    def url(self, name: str, schemes: tuple[str, ...]) -> str:
        value = self.text(name)
        if value and not value.startswith(schemes):
            self.faults.append(f"{name} must start with {' or '.join(schemes)}")
            return ""
        return value

    def database(self, name: str) -> dict[str, Any]:
        """The Django connection a URL describes; its query becomes libpq options."""
        url = self.url(name, SCHEMES)
        if not url:
            return {}
        try:
            parts = dict(conninfo_to_dict(url))
        except ProgrammingError as fault:
            self.faults.append(f"{name} cannot be read: {str(fault).strip()}")
            return {}
        if not parts.get("dbname"):
            self.faults.append(f"{name} names no database (postgresql://user@host/database)")
        keys = {"dbname": "NAME", "user": "USER", "password": "PASSWORD"}
        keys |= {"host": "HOST", "port": "PORT"}
        return {key: str(parts.pop(part, "") or "") for part, key in keys.items()} | {
            "OPTIONS": parts
        }

    def refuse(self) -> None:
        """Stop when anything was wrong, naming all of it."""
        if self.faults:
            raise ImproperlyConfigured("stigmer cannot start:\n  - " + "\n  - ".join(self.faults))


def kept_secret(path: Path, make: Callable[[], str]) -> str:
    """The secret in `path`; the first caller makes it, and all racing callers get that one."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    with os.fdopen(handle, "w") as file:
        file.write(make())
        file.flush()
        os.fsync(file.fileno())
    try:
        # A link, not a rename: it fails when another process was first.
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()
    return path.read_text().strip()


def new_secret_key() -> str:
    return secrets.token_urlsafe(64)


def new_seal_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def is_seal_key(text: str) -> bool:
    """Whether the text is 32 bytes in URL-safe base64."""
    try:
        return len(base64.urlsafe_b64decode(text.encode("ascii"))) == 32
    except ValueError:
        return False
