"""A filtered list as CSV or JSON lines, streamed page by page."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from stigmer.console.base.lists import behind

BATCH = 1000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    def write(self, text: str) -> str:
        return text


def neutral(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = _plain(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value)


def rows_of(
    found: QuerySet[Any], keys: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Every row's columns in the order of the keys, a batch per statement."""
    places = [columns.index(key.lstrip("-")) for key in keys]
    page = found.order_by(*keys)
    while True:
        batch = list(page.values_list(*columns)[:BATCH])
        yield from batch
        if len(batch) < BATCH:
            return
        page = found.order_by(*keys).filter(behind(keys, [batch[-1][place] for place in places]))


def as_csv(columns: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    """Lines of CSV (RFC 4180), the names of the columns first."""
    writer = csv.writer(_Echo())
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow([neutral(value) for value in row])


def as_json_lines(columns: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    """One JSON object per line."""
    for row in rows:
        values = (v if v is None or isinstance(v, (bool, int, str)) else _plain(v) for v in row)
        yield json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False) + "\n"


FORMATS = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "jsonl": ("application/x-ndjson; charset=utf-8", as_json_lines),
}


def export(
    name: str, form: str, found: QuerySet[Any], keys: Sequence[str], columns: Sequence[str]
) -> StreamingHttpResponse:
    """The response that streams these rows as a file."""
    content_type, written = FORMATS[form]
    response = StreamingHttpResponse(
        written(columns, rows_of(found, keys, columns)), content_type=content_type
    )
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response
