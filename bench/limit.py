"""The limit: bare psycopg sending the statements that the product sends, nothing around them."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.adapt import Loader
from psycopg.types.json import Jsonb

from stigmer.core.ids import new_id


class _Recorder:
    """Keeps the statements that one call of the product sends, without its savepoints."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.sent.append((sql, params))
        return execute(sql, params, many, context)


def record(call: Callable[[], Any]) -> list[tuple[str, Any]]:
    """The statements, with their parameters, that this call sends."""
    from django.db import connection

    recorder = _Recorder()
    with connection.execute_wrapper(recorder):
        call()
    return recorder.sent


class Text(Loader):
    """Leaves a value as the text that PostgreSQL sends."""

    def load(self, data: Any) -> str:
        return bytes(data).decode()


Fresh = Callable[[Any], Any]


def replay(conninfo: str, statements: list[tuple[str, Any]], fresh: Fresh, write: bool) -> Any:
    """A client that sends these statements in one transaction, with fresh values each time."""

    def make(_: int) -> Callable[[], None]:
        connection = psycopg.connect(conninfo, autocommit=not write)
        connection.prepare_threshold = 5
        connection.adapters.register_loader("timestamptz", Text)

        def call() -> None:
            values = fresh(None)
            for sql, params in statements:
                cursor = connection.execute(sql, values(params))
                if cursor.description:
                    cursor.fetchall()
            if write:
                connection.commit()

        return call

    return make


def renaming(sample: dict[str, Callable[[], Any]]) -> Fresh:
    """Replaces each sample value wherever it stands by a new one for every call."""

    def fresh(_: Any) -> Callable[[Any], Any]:
        made = {old: new() for old, new in sample.items()}

        def swap(value: Any) -> Any:
            if isinstance(value, datetime):
                return datetime.now(UTC)
            if isinstance(value, (list, dict, Jsonb)):
                return value
            return made.get(value, value)

        def values(params: Any) -> Any:
            if isinstance(params, dict):
                return {name: swap(value) for name, value in params.items()}
            return [swap(value) for value in params or ()]

        return values

    return fresh


def unique() -> str:
    """A text that nobody used."""
    return uuid.uuid4().hex


def item_id() -> str:
    """A fresh work item id."""
    return new_id("wi")


def one_of(values: list[str]) -> Callable[[], str]:
    """Any of these."""
    return lambda: random.choice(values)
