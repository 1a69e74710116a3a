"""Random sequences of calls against a small model of the lifecycle; every answer is compared."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from stigmer.core.callers import SYSTEM
from tests import factories
from tests.workitems.world import events_of
from workitems import queries

ENDS = {"complete": "completed", "archive": "archived"}
OPEN = ("active", "waiting")
PHASES = ["Pending", "Running", "Succeeded", "Failed", "Error"]
PLACES = st.integers(0, 2)
KEYS = st.sampled_from([None, None, "k1", "k2"])
LAG = st.sampled_from([0, 0, 0, 0, -1, 1])
PHASE = st.sampled_from(PHASES)
Answer = tuple[int, str | None]


@dataclass
class Item:
    """What the model knows of one item."""

    state: str = "active"
    version: int = 1
    events: list[str] = field(default_factory=lambda: ["created"])
    runs: dict[str, str] = field(default_factory=dict)
    keys: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        return any(PHASES.index(phase) < 2 for phase in self.runs.values())

    def known(self, key: str | None, request: tuple[Any, ...]) -> Answer | None:
        """The replay or the refusal that this key leads to, if it was used."""
        if key is None or key not in self.keys:
            return None
        return (200, None) if self.keys[key] == request else (409, "idempotency_key_reused")

    def keep(self, key: str | None, request: tuple[Any, ...]) -> None:
        if key is not None:
            self.keys[key] = request

    def move(self, state: str, event: str) -> None:
        self.state, self.version = state, self.version + 1
        self.events.append(event)

    def transition(self, key: str | None, action: str, version: int) -> Answer:
        request = ("transition", action, version)
        if found := self.known(key, request):
            return found
        if version != self.version:
            return 409, "state_version_conflict"
        if self.state not in OPEN or (action == "wait" and self.state == "waiting"):
            return 409, "invalid_transition"
        self.move(ENDS.get(action, "waiting"), "state_changed")
        self.keep(key, request)
        return 200, None

    def resume(self, key: str | None, ref: str, version: int) -> Answer:
        request = ("resume", ref, version)
        if found := self.known(key, request):
            return found
        if version != self.version:
            return 409, "state_version_conflict"
        if self.state not in OPEN:
            return 409, "invalid_transition"
        if self.busy:
            return 409, "execution_active"
        if ref in self.runs or (not self.runs and self.state == "active"):
            return 400, "invalid_request"
        self.runs[ref] = "Pending"
        self.move("active", "resumed")
        self.keep(key, request)
        return 201, None

    def attach(self, key: str | None, ref: str, phase: str) -> Answer:
        request = ("attach", ref, phase)
        if found := self.known(key, request):
            return found
        if ref in self.runs:
            return self._report(key, request, ref, phase)
        if self.state not in OPEN:
            return 409, "invalid_transition"
        if PHASES.index(phase) < 2 and self.busy:
            return 409, "execution_active"
        self.runs[ref] = phase
        self.events.append("execution_attached")
        self.keep(key, request)
        return 201, None

    def _report(self, key: str | None, request: tuple[Any, ...], ref: str, phase: str) -> Answer:
        now, new = PHASES.index(self.runs[ref]), PHASES.index(phase)
        if now >= 2 and new >= 2 and now != new:
            return 409, "invalid_transition"
        if now < 2 and new > now:
            self.runs[ref] = phase
        self.keep(key, request)
        return 200, None

    def intend(self, key: str | None, text: str) -> Answer:
        request = ("intent", text)
        if found := self.known(key, request):
            return found
        if self.state not in OPEN:
            return 409, "invalid_transition"
        self.events.append("intent_appended")
        self.keep(key, request)
        return 201, None


class Lifecycle(RuleBasedStateMachine):
    """Three items, one external key, and what anybody may send."""

    api: Any = None
    serial = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, Item] = {}
        self.order: list[str] = []
        self.external_key = f"x-{next(self.serial)}"
        self.holder: str | None = None
        self.touched: str | None = None

    @initialize()
    def open_three(self) -> None:
        self.order = [factories.open_item().id for _ in range(3)]
        self.items = {item: Item() for item in self.order}

    def _send(self, place: int, method: str, path: str, body: Any, key: str | None) -> Any:
        self.touched = self.order[place]
        return self.api.send(method, f"/work-items/{self.touched}{path}", json=body, key=key)

    def _compare(self, response: Any, expected: Answer, place: int) -> None:
        body = response.json()
        assert (response.status_code, body.get("code")) == expected, body
        model = self.items[self.order[place]]
        if response.status_code == 409 and expected[1] != "idempotency_key_reused":
            assert body["details"] == {"state": model.state, "state_version": model.version}

    @rule(place=PLACES, action=st.sampled_from(["wait", "complete", "archive"]), lag=LAG, key=KEYS)
    def transition(self, place: int, action: str, lag: int, key: str | None) -> None:
        model = self.items[self.order[place]]
        version = max(1, model.version + lag)
        body = {"action": action, "expected_state_version": version}
        body |= {"waiting_reason": "input"} if action == "wait" else {}
        response = self._send(place, "PATCH", "", body, key)
        self._compare(response, model.transition(key, action, version), place)

    @rule(place=PLACES, ref=st.sampled_from("abc"), lag=LAG, key=KEYS)
    def resume(self, place: int, ref: str, lag: int, key: str | None) -> None:
        model = self.items[self.order[place]]
        version = max(1, model.version + lag)
        body = {"engine": "argo", "engine_ref": ref, "expected_state_version": version}
        response = self._send(place, "POST", "/resume", body, key)
        self._compare(response, model.resume(key, ref, version), place)

    @rule(place=PLACES, ref=st.sampled_from("abc"), phase=PHASE, key=KEYS)
    def attach(self, place: int, ref: str, phase: str, key: str | None) -> None:
        model = self.items[self.order[place]]
        body = {"engine": "argo", "engine_ref": ref, "phase": phase}
        response = self._send(place, "POST", "/executions", body, key)
        self._compare(response, model.attach(key, ref, phase), place)

    @rule(place=PLACES, text=st.sampled_from(["now", "later"]), key=KEYS)
    def intend(self, place: int, text: str, key: str | None) -> None:
        model = self.items[self.order[place]]
        response = self._send(place, "POST", "/intents", {"text": text}, key)
        self._compare(response, model.intend(key, text), place)

    @rule()
    def create_with_the_external_key(self) -> None:
        body = {"tenant": "acme", "title": "x", "external_key": self.external_key}
        response = self.api.post("/work-items", json=body)
        answer = response.json()["work_item"]
        self.touched = answer["id"]
        held = self.holder is not None and self.items[self.holder].state in OPEN
        assert (response.status_code, answer["external_key"]) == (
            200 if held else 201,
            self.external_key,
        )
        assert (answer["id"] == self.holder) is held
        if not held:
            self.holder = answer["id"]
            self.items[self.holder] = Item()
            # From now on everybody speaks to it, in place of the first.
            self.order[0] = self.holder

    @invariant()
    def the_item_is_as_the_model_says(self) -> None:
        if self.touched is None:
            return
        item, model = self.touched, self.items[self.touched]
        answer = self.api.get(f"/work-items/{item}").json()
        found = answer["work_item"]
        assert (found["state"], answer["state_version"]) == (model.state, model.version)
        assert (found["waiting_reason"] is not None) == (model.state == "waiting")
        assert (found["completed_at"] is not None) == (model.state not in OPEN)
        assert events_of(item) == model.events
        runs = queries.executions(SYSTEM, item)
        assert {run.engine_ref: run.phase for run in runs} == model.runs
        assert [run.attempt for run in runs] == list(range(1, len(runs) + 1))


@pytest.mark.django_db
def test_every_answer_is_the_models(as_: Any) -> None:
    Lifecycle.api = as_("alice")
    run_state_machine_as_test(
        Lifecycle,
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
