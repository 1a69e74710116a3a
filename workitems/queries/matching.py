"""Items whose title contains a text, newest updated first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from stigmer.core import grams
from workitems.queries.items import FROM_SEEN, SEEN, WITH_SUCCESSOR
from workitems.queries.rows import ItemRow

NEWEST = 2_000  # how many of the newest items a search reads before it asks the index
FEW = 5_000  # as many hits as the index gives are sorted at once
NEWER = 20_000  # how many more items it reads when there are more hits than that
_ORDER = "ORDER BY item.updated_at DESC, item.id DESC"
Edge = tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class Search:
    """A condition on items with its parameters, and the text that their titles contain."""

    where: str
    params: Sequence[Any]
    needle: str
    tenant: str | None

    @property
    def in_title(self) -> tuple[str, list[str]]:
        """Over `title`, as the index answers it; in one tenant it counts no other's."""
        having, values = grams.clause("title.folded", self.needle)
        if self.tenant is None:
            return having, values
        return f"title.organization = %s AND {having}", [self.tenant, *values]

    def behind(self, edge: Edge) -> Search:
        """The same among the items that follow this one in the list."""
        further = f"{self.where} AND (item.updated_at, item.id) < (%s, %s)"
        return replace(self, where=further, params=[*self.params, *edge])


def first(search: Search, limit: int) -> list[ItemRow]:
    """The first `limit` items that match, found in at most four steps.

    A common needle is among the newest items; a rare one has few entries in the index. Which it is
    no statistic tells: PostgreSQL takes grams for independent of each other. So each step is tried
    in turn, and the last, whose cost grows with the hits, only where the hits are many and old.
    """
    found = _walked(search, limit, NEWEST)
    if len(found) == limit:
        return found
    edge, few = _by_index(search, limit - len(found))
    if edge is None:
        return found
    if few is not None:
        return found + few
    further = search.behind(edge)
    more = _walked(further, limit - len(found), NEWER)
    if len(found) + len(more) == limit:
        return found + more
    return found + _all_by_index(further, limit - len(found))


def newest_first(source: str, params: Sequence[Any], limit: int) -> list[ItemRow]:
    """Items of this FROM and WHERE."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {SEEN} FROM {source} {_ORDER} LIMIT %s", [*params, limit])
        return [ItemRow._make(row) for row in cursor.fetchall()]


def _walked(search: Search, limit: int, most: int) -> list[ItemRow]:
    """The hits among the newest `most` items; nothing is read behind the last one asked for."""
    like, pattern = grams.like_clause("title.folded", search.needle)
    source = f"""(
            SELECT item.* FROM workitems_workitem item WHERE {search.where} {_ORDER} LIMIT {most}
        ) item {WITH_SUCCESSOR}
        JOIN workitems_workitemtitle title ON title.work_item = item.id
        WHERE {like}"""
    return newest_first(source, [*search.params, *pattern], limit)


def _by_index(search: Search, limit: int) -> tuple[Edge | None, list[ItemRow] | None]:
    """Where the newest items end (None: there are no more) and the hits behind that.

    The hits are None when the index gives more of them than are few.
    """
    having, values = search.in_title
    sql = f"""
        WITH edge AS MATERIALIZED (
            SELECT item.updated_at, item.id FROM workitems_workitem item WHERE {search.where}
            {_ORDER} OFFSET {NEWEST - 1} LIMIT 1
        ), hit AS MATERIALIZED (
            SELECT title.work_item FROM workitems_workitemtitle title
            WHERE {having} LIMIT {FEW + 1}
        )
        SELECT edge.updated_at, edge.id, (SELECT count(*) FROM hit) > {FEW}, {SEEN}
        FROM edge LEFT JOIN LATERAL (
            SELECT item.* FROM workitems_workitem item
            WHERE {search.where} AND (SELECT count(*) FROM hit) <= {FEW}
                AND item.id = ANY (ARRAY(SELECT work_item FROM hit))
                AND (item.updated_at, item.id) < (edge.updated_at, edge.id)
            {_ORDER} LIMIT %s
        ) item ON true {WITH_SUCCESSOR} {_ORDER}
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, [*search.params, *values, *search.params, limit])
        rows = cursor.fetchall()
    if not rows:
        return None, None
    updated_at, id, many = rows[0][:3]
    hits = [ItemRow._make(row[3:]) for row in rows if row[3] is not None]
    return (updated_at, id), None if many else hits


def _all_by_index(search: Search, limit: int) -> list[ItemRow]:
    having, values = search.in_title
    titles = f"SELECT work_item FROM workitems_workitemtitle title WHERE {having}"
    source = f"{FROM_SEEN} WHERE {search.where} AND item.id IN ({titles})"
    return newest_first(source, [*search.params, *values], limit)
