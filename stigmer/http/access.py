"""The access log: one record for each request, without its query."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.http import HttpRequest

log = logging.getLogger("stigmer.access")


class AccessFormatter(logging.Formatter):
    """One JSON line, or a readable one; a third of the time of the general formatter's chain."""

    def __init__(self, *, json: bool) -> None:
        super().__init__()
        self.json = json

    def format(self, record: logging.LogRecord) -> str:
        facts: Any = record.args
        if not self.json:
            rest = " ".join(f"{name}={_one_line(value)}" for name, value in facts.items() if value)
            return f"{self.formatTime(record)} {record.getMessage()} {rest}"
        moment = datetime.fromtimestamp(record.created, UTC)
        shown = {
            "event": record.msg,
            **facts,
            "logger": record.name,
            "level": record.levelname.lower(),
            "timestamp": moment,
        }
        return msgspec.json.encode(shown).decode()


def _one_line(value: Any) -> str:
    # A decoded path may hold line breaks, which must not look like another record.
    shown = str(value)
    return shown if shown.isprintable() else ascii(shown)


def record(request: HttpRequest, status: int, seconds: float) -> None:
    """Log what was asked, by whom, how it ended and how long it took."""
    facts = {
        "method": request.method,
        "path": request.path,
        "status": status,
        "ms": round(seconds * 1000, 2),
        "principal": getattr(request, "principal", ""),
        "code": getattr(request, "code", ""),
        "request_id": getattr(request, "request_id", ""),
    }
    if log.isEnabledFor(logging.INFO):
        # Not `log.info`: looking for the calling line costs more than the rest.
        log.handle(log.makeRecord(log.name, logging.INFO, "", 0, "request", (facts,), None))
