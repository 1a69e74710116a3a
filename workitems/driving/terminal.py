"""What a person at a terminal sees of a command."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console


def console_for(options: Mapping[str, Any]) -> Console:
    """A rich console on a command's output; a file or a pipe gets plain text."""
    out = options.get("stdout") or sys.stdout
    width = None if getattr(out, "isatty", lambda: False)() else 120
    return Console(file=out, width=width, highlight=False, no_color=bool(options.get("no_color")))


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep log records below WARNING out of a live display; elsewhere than a terminal they stay."""
    handlers = logging.getLogger().handlers if sys.stderr.isatty() else []
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(max(handler.level, logging.WARNING))
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=True):
            handler.setLevel(level)
