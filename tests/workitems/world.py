"""Everything that work items have in the database, and what a refusal looks like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

TABLES = (
    "workitem", "workitemtitle", "workitemevent", "workitemintent", "workitemexecution",
    "surfaceref", "createrequest", "itemrequest",
)  # fmt: skip


def world() -> dict[str, list[str]]:
    """Every row of every table as text."""
    found = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"SELECT t::text FROM workitems_{table} t ORDER BY 1")
            found[table] = [row[0] for row in cursor.fetchall()]
    return found


@contextmanager
def nothing_written() -> Iterator[None]:
    """What happens inside leaves no trace in any table."""
    before = world()
    yield
    assert world() == before


def rows(sql: str, *params: Any) -> list[tuple[Any, ...]]:
    """What this query answers."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        return list(cursor.fetchall())


def events_of(item: str) -> list[str]:
    """The kinds of an item's events in order; `seq` counts from 1 without gaps."""
    found = rows(
        "SELECT seq, kind FROM workitems_workitemevent WHERE work_item = %s ORDER BY seq", item
    )
    assert [seq for seq, _ in found] == list(range(1, len(found) + 1))
    return [kind for _, kind in found]


def refused(response: Any, status: int, code: str, detail: str | None = None) -> dict[str, Any]:
    """The problem that this response carries."""
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["code"]) == (status, code), body
    assert response["Content-Type"] == "application/problem+json"
    assert detail is None or body["detail"] == detail
    return body


def invalid(response: Any, pointer: str, detail: str | None = None) -> None:
    """The response is 400 `invalid_request` and names this place."""
    body = refused(response, 400, "invalid_request", detail)
    assert body["errors"][0]["pointer"] == pointer, body


def conflict(response: Any, code: str, state: str, version: int) -> None:
    """The response is a 409 about one item and says how it is now."""
    body = refused(response, 409, code)
    assert body["details"] == {"state": state, "state_version": version}
