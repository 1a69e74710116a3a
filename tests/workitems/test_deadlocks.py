"""Twenty callers do whatever they like with five items: everything is answered, nothing hangs."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any

import pytest
from django.db import connection

from tests import factories
from tests.workitems.world import events_of, rows

pytestmark = pytest.mark.django_db(transaction=True)
CALLERS = 20
ALLOWED = {200, 201, 400, 409}
ENGINE = {"engine": "argo"}


class Crowd:
    """What the callers act on; an ended item is replaced, so that the work goes on."""

    def __init__(self) -> None:
        self.items = [factories.open_item(external_key=f"x{n}").id for n in range(5)]

    def act(self, api: Any, chance: random.Random) -> Any:
        """Send one random mutation; answers the response."""
        place = chance.randrange(5)
        item = self.items[place]
        path = f"/work-items/{item}"
        key = chance.choice([None, "k1", "k2"])
        version = api.get(path).json()["state_version"]
        ref = f"r{chance.randrange(4)}"
        phase = chance.choice(["Running", "Failed"])
        wait = {"action": "wait", "waiting_reason": "input", "expected_state_version": version}
        run = ENGINE | {"engine_ref": ref}
        ways = [
            lambda: api.patch(path, json=wait, key=key),
            lambda: api.post(f"{path}/resume", json=run | {"expected_state_version": version}),
            lambda: api.post(f"{path}/executions", json=run | {"phase": phase}, key=key),
            lambda: api.post(f"{path}/intents", json={"text": "x"}, key=key),
            lambda: api.post(f"{path}/surface-refs", json={"surface": "s", "external_id": ref}),
            lambda: self._end(api, chance, place, version),
            lambda: self._create(api, place),
        ]
        return chance.choice(ways)()

    def _create(self, api: Any, place: int) -> Any:
        body = {"tenant": "acme", "title": "x", "external_key": f"x{place}"}
        response = api.post("/work-items", json=body)
        if response.status_code == 201:
            self.items[place] = response.json()["work_item"]["id"]
        return response

    def _end(self, api: Any, chance: random.Random, place: int, version: int) -> Any:
        body: dict[str, Any] = {"expected_state_version": version}
        action = chance.choice(["complete", "archive", "supersede"])
        if action == "supersede":
            body["superseded_by"] = self.items[chance.randrange(5)]
        return api.patch(f"/work-items/{self.items[place]}", json=body | {"action": action})


def _deadlocks() -> int:
    found = rows("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    return int(found[0][0])


@pytest.mark.parametrize("seconds", [8, pytest.param(60, marks=pytest.mark.long)])
def test_random_mutations_end_in_time(as_: Any, cast: Any, seconds: int) -> None:
    crowd, before = Crowd(), _deadlocks()
    apis = [as_(("alice", "bob")[n % 2]) for n in range(CALLERS)]
    until = time.monotonic() + seconds

    def work(place: int) -> Any:
        def run() -> Counter[int]:
            chance = random.Random(place)
            found: Counter[int] = Counter()
            while time.monotonic() < until:
                found[crowd.act(apis[place], chance).status_code] += 1
            return found

        return run

    results = factories.race(*map(work, range(CALLERS)))

    assert [one for one in results if isinstance(one, Exception)] == []
    total = sum(results, Counter())
    assert set(total) <= ALLOWED, total
    assert total[200] + total[201] > CALLERS
    connection.close()
    assert _deadlocks() == before
    _is_whole()


def _is_whole() -> None:
    """Each item has one event for each effect, and each version its event."""
    found = rows("SELECT id, state_version, last_event_seq FROM workitems_workitem")
    for item, version, last in found:
        kinds = events_of(item)
        assert len(kinds) == last
        assert version == 1 + sum(kind in ("state_changed", "resumed") for kind in kinds)
    assert rows(
        """SELECT work_item FROM workitems_workitemexecution
        WHERE phase IN ('Pending', 'Running') GROUP BY 1 HAVING count(*) > 1"""
    ) == []  # fmt: skip
