"""One page of a list of this app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpResponse

from stigmer.http.fields import UNSET
from stigmer.http.pagination import cursor_for, limit_from, position_of
from stigmer.http.schemas import Page
from stigmer.http.views import Call, reply

Row = TypeVar("Row", bound=Model)


def page(
    call: Call,
    rows: Callable[[Any], QuerySet[Row]],
    show: Callable[[Row], Any],
    *,
    shape: Any,
    position: Callable[[Row], tuple[Any, ...]],
    **filters: str,
) -> HttpResponse:
    """The page that `limit` and `cursor` name; the cursor is bound to these filters."""
    limit = limit_from(None if call.query.limit is UNSET else call.query.limit)
    cursor = call.query.cursor or None
    after = None if cursor is None else position_of(cursor, filters, shape)
    found = list(rows(after)[: limit + 1])
    more = len(found) > limit
    shown = found[:limit]
    return reply(
        Page(
            items=[show(row) for row in shown],
            next_cursor=cursor_for(position(shown[-1]), filters) if more else None,
        )
    )
