"""The table of the specification, over every state and every action."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import conflict, nothing_written, rows
from workitems.states import LIFECYCLE, PHASES, TRANSITIONS, EventKind, WorkItemState

TABLE = {
    "active": {
        "wait": "waiting", "resume": "active", "request_approval": "waiting",
        "complete": "completed", "supersede": "superseded", "archive": "archived",
    },
    "waiting": {
        "resume": "active", "request_approval": "waiting",
        "complete": "completed", "supersede": "superseded", "archive": "archived",
    },
    "completed": {}, "superseded": {}, "archived": {},
}  # fmt: skip
ACTIONS = ("wait", "resume", "request_approval", "complete", "supersede", "archive")
MAKE = {
    "active": factories.open_item,
    "waiting": factories.waiting_item,
    "completed": factories.ended_item,
    "superseded": lambda: factories.ended_item(action="supersede"),
    "archived": lambda: factories.ended_item(action="archive"),
}


@pytest.mark.parametrize("state", list(WorkItemState))
@pytest.mark.parametrize("action", ACTIONS)
def test_the_machine_is_the_table(state: WorkItemState, action: str) -> None:
    assert LIFECYCLE.move(state, action) == TABLE[state].get(action)


@pytest.mark.parametrize("before", list(WorkItemState))
@pytest.mark.parametrize("after", list(WorkItemState))
def test_every_pair_of_states_is_joined_as_the_table_says(
    before: WorkItemState, after: WorkItemState
) -> None:
    joined = {action for action in LIFECYCLE.actions(before)
              if LIFECYCLE.move(before, action) == after}  # fmt: skip

    assert joined == {action for action, to in TABLE[before].items() if to == after}


def test_nothing_leaves_a_terminal_state() -> None:
    assert LIFECYCLE.terminal == {"completed", "superseded", "archived"}
    assert PHASES.terminal == {"Succeeded", "Failed", "Error"}
    assert set(TRANSITIONS) == set(ACTIONS) - {"resume", "request_approval"}
    assert "resumed" in {kind.value for kind in EventKind}
    assert "resumed" not in {state.value for state in WorkItemState}


@pytest.mark.django_db
@pytest.mark.parametrize("state", TABLE)
@pytest.mark.parametrize("action", [one for one in ACTIONS if one != "request_approval"])
def test_the_api_moves_as_the_table_says(as_: Any, cast: Any, state: str, action: str) -> None:
    item = MAKE[state]()
    factories.run_of(item, "run-1", "Failed") if state in ("active", "waiting") else None
    send = _sender(as_("alice"), item, action)
    target = TABLE[state].get(action)

    if target is None:
        with nothing_written():
            response = send()
        conflict(response, "invalid_transition", state, item.state_version)
        return
    response = send()

    assert response.status_code in (200, 201)
    after = response.json()["work_item"]
    assert (after["state"], after["state_version"]) == (target, item.state_version + 1)
    assert rows(
        "SELECT from_state, to_state FROM workitems_workitemevent "
        "WHERE work_item = %s ORDER BY seq DESC LIMIT 1",
        item.id,
    ) == [(state, target)]


def _sender(api: Any, item: Any, action: str) -> Any:
    version = {"expected_state_version": item.state_version}
    if action == "resume":
        body = version | {"engine": "temporal", "engine_ref": "run-2"}
        return lambda: api.post(f"/work-items/{item.id}/resume", json=body)
    more = {}
    if action == "wait":
        more = {"waiting_reason": "input"}
    if action == "supersede":
        more = {"superseded_by": factories.open_item("Better").id}
    return lambda: api.patch(f"/work-items/{item.id}", json=version | {"action": action} | more)
