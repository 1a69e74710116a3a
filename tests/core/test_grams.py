"""Tests of substring search by trigrams."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stigmer.core.grams import clause, fold

pytestmark = pytest.mark.django_db
TITLES = [
    "Fix the door", "Straße räumen", "Почини дверь", "ドアを直して", "100% of it_s \\ here",
    "quote ' and \" here", "🚪🔧", "a:b & c | !d", "x", "the doo oor thing",
]  # fmt: skip
STORABLE = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"))


def found(needle: str, titles: list[str]) -> list[str]:
    """Which of these titles the needle is found in, by SQL alone."""
    condition, parameters = clause("folded", needle)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT title FROM unnest(%s::text[], %s::text[]) AS known(title, folded) "
            f"WHERE {condition}",
            [titles, [fold(title) for title in titles], *parameters],
        )
        return [title for (title,) in cursor.fetchall()]


@pytest.mark.parametrize(
    ("needle", "title"),
    [
        ("THE DOOR", "Fix the door"), ("x t", "Fix the door"), ("STRASSE", "Straße räumen"),
        ("ДВЕРЬ", "Почини дверь"), ("を", "ドアを直して"), ("0% o", "100% of it_s \\ here"),
        ("t_s", "100% of it_s \\ here"), ("\\", "100% of it_s \\ here"), ("🔧", "🚪🔧"),
        ("' and", "quote ' and \" here"), ("& c |", "a:b & c | !d"), ("!d", "a:b & c | !d"),
        (":b", "a:b & c | !d"),
    ],
)  # fmt: skip
def test_finds_a_part_whatever_its_case_and_script(needle: str, title: str) -> None:
    assert found(needle, TITLES) == [title]


@pytest.mark.parametrize("needle", ["%oor", "d_or", "doorx", "rood", "fix  the"])
def test_does_not_find_what_is_not_there(needle: str) -> None:
    assert found(needle, TITLES) == []


def test_finds_the_whole_part_and_not_its_grams_alone() -> None:
    assert found("door", ["the doo oor thing"]) == []


@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example("'\\", "\\'")
@example("a" * 300, "aaa")
@given(STORABLE, STORABLE.filter(bool))
def test_agrees_with_python(text: str, needle: str) -> None:
    titles = [text, f"{text}{needle}{text}", needle]

    assert found(needle, titles) == [title for title in titles if fold(needle) in fold(title)]
