"""Counts answers by route, and shows them as a table."""

from __future__ import annotations

import threading
from collections import Counter

from django.urls import Resolver404, resolve
from rich.table import Table

from workitems.driving.sending import Sent


class Tally:
    """How often which route was answered how; safe to share between threads."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, int, str]] = Counter()
        self._lock = threading.Lock()

    def add(self, method: str, path: str, sent: Sent) -> None:
        """Count one answer."""
        with self._lock:
            self._counts[route_of(path), method, sent.status, sent.code] += 1

    @property
    def total(self) -> int:
        """How many answers were counted."""
        return self._counts.total()

    def count(self, status: int, code: str = "") -> int:
        """How many answers had this status and code, whatever the route."""
        return sum(n for (_, _, *kind), n in self._counts.items() if kind == [status, code])

    def table(self) -> Table:
        """One row per route, status and code."""
        table = Table(title=f"{self.total} answers")
        for heading in ("route", "method", "status", "code"):
            table.add_column(heading)
        table.add_column("answers", justify="right")
        shown = ("", "")
        for (route, method, status, code), count in sorted(self._counts.items()):
            new = (route, method) != shown
            shown = (route, method)
            table.add_row(
                route if new else "", method if new else "", str(status), code, str(count),
                style="green" if status < 400 else "yellow" if status < 500 else "red",
            )  # fmt: skip
        return table


def route_of(path: str) -> str:
    """The route that serves a path: /api/v1/work-items/{item}."""
    try:
        route = resolve(path.partition("?")[0]).route
    except Resolver404:
        return "(no route)"
    return "/" + route.replace("<str:", "{").replace("<path:", "{").replace(">", "}")
