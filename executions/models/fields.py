"""Fields and expressions that the tables of executions need."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Func, Value
from django.db.models.functions import Cast


class JsonText(models.JSONField):
    """JSONB that is read as the text PostgreSQL gives: nobody parses it only to write it again."""

    def get_db_converters(self, connection: Any) -> list[Any]:
        return []


class JsonPath(Func):
    """A path over a JSONB column, as the second argument of a `jsonb_path_…` function."""

    template = "%(function)s(%(expressions)s::jsonpath)"

    def __init__(self, column: str, path: str, **extra: Any) -> None:
        super().__init__(F(column), Value(path), **extra)


def path_exists(column: str, path: str) -> JsonPath:
    """Whether the path finds anything."""
    return JsonPath(column, path, function="jsonb_path_exists", output_field=models.BooleanField())


def path_all(column: str, path: str) -> JsonPath:
    """Everything that the path finds, as an array."""
    return JsonPath(
        column, path, function="jsonb_path_query_array", output_field=models.JSONField()
    )


class Microseconds(Func):
    """A span of time as microseconds, never negative."""

    template = "GREATEST(0, EXTRACT(EPOCH FROM (%(expressions)s)) * 1000000)"
    arg_joiner = " - "
    output_field = models.DecimalField()


def microseconds_between(start: str, end: str) -> Cast:
    """The time from one column to another in microseconds; null while either is null."""
    span = Microseconds(F(end), F(start))
    return Cast(
        models.Case(
            models.When(**{f"{start}__isnull": False, f"{end}__isnull": False}, then=span),
            default=None,
            output_field=models.DecimalField(),
        ),
        models.BigIntegerField(),
    )
