"""Every step of a search by title, with thresholds that few items reach."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from organizations.queries import caller_by_name
from tests import factories
from workitems.queries import lists, matching
from workitems.queries.lists import Filters

pytestmark = pytest.mark.django_db
STEPS = ("_walked", "_by_index", "_all_by_index")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NEWEST": 4, "FEW": 3, "NEWER": 5}.items():
        monkeypatch.setattr(matching, name, value)


def made(*titles: str, owner: str = "alice", **more: Any) -> None:
    """Items of these titles, the last one oldest; every second has its neighbour's time."""
    now = factories.now()
    for place, title in enumerate(titles):
        at = now - timedelta(seconds=place // 2)
        factories.open_item(title, owner=owner, at=at, **more)


def found(q: str | None, limit: int, position: Any = None, **filters: Any) -> list[Any]:
    viewer = caller_by_name("alice")
    assert viewer is not None
    return lists.page(viewer, Filters(q=q, **filters), position, limit)


def steps(q: str, limit: int, **filters: Any) -> list[str]:
    """Which steps a search took."""
    taken: list[str] = []

    def noted(name: str) -> Any:
        real = getattr(matching, name)
        return lambda *arguments: (taken.append(name), real(*arguments))[1]

    with patch.multiple(matching, **{name: noted(name) for name in STEPS}):
        found(q, limit, **filters)
    return taken


def test_one_step_when_the_newest_suffice(cast: Any) -> None:
    made(*["door"] * 6)

    assert steps("door", 3, tenant="acme") == ["_walked"]


def test_the_index_is_not_read_for_a_list_that_is_short(cast: Any) -> None:
    made("door", "x", "door")

    # An error in the first title that anybody reads by this condition.
    failing = ("1 / (length(title.folded) - length(title.folded)) > %s", [0])
    with patch.object(matching.Search, "in_title", failing):
        assert len(found("door", 3, tenant="acme")) == 2


def test_two_steps_for_few_hits(cast: Any) -> None:
    made("door", *["x"] * 9, "door", "door")

    assert steps("door", 3, tenant="acme") == ["_walked", "_by_index"]
    assert [row.title for row in found("door", 9, tenant="acme")] == ["door"] * 3


def test_hits_of_other_tenants_are_not_counted(cast: Any) -> None:
    made("door", *["x"] * 9, "door")
    made(*["door"] * 9, owner="mallory", tenant="globex")

    assert steps("door", 3, tenant="acme") == ["_walked", "_by_index"]


def test_three_steps_for_many_hits_that_are_near(cast: Any) -> None:
    made(*["x"] * 5, *["door"] * 9)

    assert steps("door", 3) == ["_walked", "_by_index", "_walked"]


def test_four_steps_for_many_hits_that_are_far(cast: Any) -> None:
    made(*["x"] * 20, *["door"] * 9)

    assert steps("door", 3) == ["_walked", "_by_index", "_walked", "_all_by_index"]
    assert len(found("door", 9)) == 9


def test_many_hits_are_not_fetched_to_be_thrown_away(cast: Any) -> None:
    made(*["x"] * 5, *["door"] * 9)
    made_of = matching.ItemRow._make

    with patch.object(matching.ItemRow, "_make", side_effect=made_of) as make:
        assert len(found("door", 3)) == 3

    assert make.call_count == 3


@pytest.mark.parametrize("seed", range(6))
def test_every_page_is_what_reading_all_titles_gives(cast: Any, seed: int) -> None:
    chance = random.Random(seed)
    words = ["door", "outdoors", "do", "oor", "Tür", "дверь"]
    made(*[" ".join(chance.choices(words, k=2)) for _ in range(18)])
    made(*[chance.choice(words) for _ in range(9)], owner="mallory", tenant="globex")
    everything = found(None, 99, tenant="acme")

    for q in ("door", "d", "r d", "ДВЕРЬ", "tür", "missing"):
        hits = [row for row in everything if q.casefold() in row.title.casefold()]
        for limit in (1, 2, 5, 99):
            for start in (None, everything[0], everything[7]):
                position = start and (start.updated_at, start.id)
                behind = [row for row in hits if start is None or _follows(row, start)]
                assert found(q, limit, position, tenant="acme") == behind[:limit], (q, limit)
                assert found(q, limit, position) == behind[:limit], (q, limit)


def _follows(row: Any, other: Any) -> bool:
    return bool((row.updated_at, row.id) < (other.updated_at, other.id))
