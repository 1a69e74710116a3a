"""The fixed cast as rows: its operations run once in a process, later tests get what they wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.db import connection

Made = TypeVar("Made")

TABLES_AND_COLUMNS = """
    SELECT c.table_name, array_agg(quote_ident(c.column_name)::text ORDER BY c.ordinal_position)
    FROM information_schema.columns c
    JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE c.table_schema = 'public' AND c.is_generated = 'NEVER' AND t.table_type = 'BASE TABLE'
    GROUP BY c.table_name ORDER BY c.table_name
"""


@dataclass(frozen=True)
class Snapshot:
    """One statement that writes again what was written between two looks at the database."""

    statement: str
    rows: tuple[str, ...]

    def write(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(self.statement, self.rows)


def recorded(make: Callable[[], Made]) -> tuple[Snapshot, Made]:
    """Run `make` and keep the rows that it added; rows that it changed are not kept."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES_AND_COLUMNS)
        tables: dict[str, list[str]] = dict(cursor.fetchall())
    before = {table: _rows(table) for table in tables}
    made = make()
    added = {table: _rows(table) - before[table] for table in tables}
    inserts, values = [], []
    for table, rows in added.items():
        if rows:
            columns = ", ".join(tables[table])
            inserts.append(
                f"i{len(inserts)} AS (INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE "
                f"SELECT {columns} FROM json_populate_recordset(NULL::{table}, %s::json))"
            )
            values.append(json.dumps([json.loads(row) for row in sorted(rows)]))
    return Snapshot(f"WITH {', '.join(inserts)} SELECT 1", tuple(values)), made


def _rows(table: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT to_json(t)::text FROM {table} t")
        return {row for (row,) in cursor.fetchall()}
