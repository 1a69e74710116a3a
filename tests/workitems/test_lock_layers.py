"""The row lock and the version's condition: each suffices, and one of them is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests import factories
from tests.workitems.racing import moves, prepared, rounds, statuses
from tests.workitems.world import rows
from workitems.operations import writing
from workitems.queries import items as item_queries

pytestmark = pytest.mark.django_db(transaction=True)
RACERS = 16
RUN = {"engine": "temporal"}


def _effects(as_: Any, count: int = 12) -> set[tuple[int, int]]:
    """How far (version, events) a race of one version each moved the items."""
    items = [factories.open_item() for _ in range(count)]
    for answers in rounds(count, *moves(as_, items, RACERS)):
        assert set(statuses(answers)) <= {200, 409}
    return set(rows("SELECT state_version, last_event_seq FROM workitems_workitem"))


def _without_lock(monkeypatch: Any) -> None:
    unlocked = item_queries._LOCK_ONE.replace("FOR NO KEY UPDATE OF item", "")
    assert unlocked != item_queries._LOCK_ONE
    monkeypatch.setattr(item_queries, "_LOCK_ONE", unlocked)


def _without_version(monkeypatch: Any) -> None:
    # The parameter stays, so that the statement has the same ones.
    unchecked = writing._MOVE.replace(
        "state_version = %(state_version)s", "%(state_version)s::int IS NOT NULL"
    )
    assert unchecked != writing._MOVE
    monkeypatch.setattr(writing, "_MOVE", unchecked)


def test_the_version_guards_without_the_lock(as_: Any, cast: Any, monkeypatch: Any) -> None:
    _without_lock(monkeypatch)

    assert _effects(as_) == {(2, 2)}


def test_the_lock_guards_without_the_version(as_: Any, cast: Any, monkeypatch: Any) -> None:
    _without_version(monkeypatch)

    assert _effects(as_) == {(2, 2)}


def test_without_both_layers_one_version_is_moved_twice(
    as_: Any, cast: Any, monkeypatch: Any
) -> None:
    _without_lock(monkeypatch)
    _without_version(monkeypatch)

    assert max(_effects(as_, 40)) > (2, 2)


@pytest.mark.parametrize("layer", [_without_lock, _without_version])
def test_a_resume_meets_its_version_with_one_layer(
    as_: Any, cast: Any, monkeypatch: Any, layer: Any
) -> None:
    layer(monkeypatch)
    items = [factories.waiting_item() for _ in range(12)]
    apis = prepared(as_, *["bob"] * RACERS)

    def resume(place: int) -> Callable[[int], Any]:
        body = RUN | {"engine_ref": f"run-{place}", "expected_state_version": 2}
        return lambda number: apis[place].post(f"/work-items/{items[number].id}/resume", json=body)

    for answers in rounds(12, *map(resume, range(RACERS))):
        assert statuses(answers) == [201] + [409] * (RACERS - 1)
    assert rows("SELECT count(*) FROM workitems_workitemexecution") == [(12,)]
