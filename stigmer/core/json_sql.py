"""Answers that PostgreSQL writes as JSON: no value of a long list becomes a Python object first."""

from __future__ import annotations

from collections.abc import Mapping


def moment(sql: str) -> str:
    """A timestamp as `stamp` shows it: RFC 3339 in UTC with microseconds; null stays null."""
    return f"""to_char({sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


def members(expressions: Mapping[str, str]) -> str:
    """A SELECT list: each name with the SQL of its value, in this order."""
    return ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())


def json_object(expressions: Mapping[str, str]) -> str:
    """One JSON object of these members, as an expression over the row it stands beside."""
    return f"(SELECT row_to_json(shown) FROM (SELECT {members(expressions)}) shown)"
