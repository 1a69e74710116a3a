"""Substring search by grams that needs no extension and no collation.

`stigmer_grams5(text)` (SQL, immutable) holds the substring of up to five characters that starts at
every character; a GIN index on it answers "contains" for needles of any length, in every script.
Five, because three characters of a rare word are those of many common ones.
"""

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

LENGTH = 5
FUNCTION = "stigmer_grams5"


class Grams(models.Func):
    """The grams of a folded text column."""

    function = FUNCTION
    output_field = SearchVectorField()


class _GramQuery(models.Field[Any, Any]):
    def db_type(self, connection: Any) -> str:
        return "tsquery"


class _Matches(models.Func):
    template = "%(expressions)s"
    arg_joiner = " @@ "
    output_field = models.BooleanField()


def fold(text: str) -> str:
    """The form in which texts are compared without regard to case (Unicode default folding)."""
    return text.casefold()


def _query(needle: str) -> str:
    last = max(1, len(needle) - LENGTH + 1)
    grams = sorted({needle[start : start + LENGTH] for start in range(last)})
    quoted = ("'" + gram.replace("\\", "\\\\").replace("'", "''") + "'" for gram in grams)
    return " & ".join(f"{gram}:*" if len(needle) < LENGTH else gram for gram in quoted)


def contains(column: str, needle: str) -> Q:
    """The rows whose folded column contains the needle, whatever its case."""
    folded = fold(needle)
    expression: Combinable = F(column)
    grams = _Matches(Grams(expression), Cast(Value(_query(folded)), _GramQuery()))
    return Q(grams) & Q(**{f"{column}__contains": folded})


def like_clause(column: str, needle: str) -> tuple[str, list[str]]:
    """`contains` without the index, as SQL over this column expression with its parameters."""
    folded = fold(needle)
    literal = folded.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{column} LIKE %s", [f"%{literal}%"]


def clause(column: str, needle: str) -> tuple[str, list[str]]:
    """`contains` by the index, as SQL over this column expression with its parameters."""
    like, pattern = like_clause(column, needle)
    sql = f"({FUNCTION}({column}) @@ %s::tsquery AND {like})"
    return sql, [_query(fold(needle)), *pattern]
