"""Tests of Machine, and of every declared lifecycle over all pairs of states."""

from enum import StrEnum

import pytest

from stigmer.core.states import Machine


class Door(StrEnum):
    """A lifecycle that nobody uses."""

    OPEN = "open"
    SHUT = "shut"
    GONE = "gone"


MOVES = {
    Door.OPEN: {"shut": Door.SHUT, "remove": Door.GONE},
    Door.SHUT: {"open": Door.OPEN, "remove": Door.GONE},
    Door.GONE: {},
}
MACHINE = Machine(Door, MOVES)


@pytest.mark.parametrize("state", Door)
@pytest.mark.parametrize("target", Door)
def test_leads_exactly_where_a_line_says(state: Door, target: Door) -> None:
    leading = {action for action, to in MOVES[state].items() if to is target}

    found = {a for a in ("open", "shut", "remove") if MACHINE.move(state, a) is target}

    assert found == leading


def test_takes_a_state_as_the_database_spells_it() -> None:
    assert MACHINE.move("open", "shut") is Door.SHUT


def test_leads_nowhere_by_an_unknown_action() -> None:
    assert MACHINE.move(Door.OPEN, "paint") is None


def test_refuses_an_unknown_state() -> None:
    with pytest.raises(ValueError, match="ajar"):
        MACHINE.move("ajar", "shut")


def test_derives_which_states_are_terminal() -> None:
    assert MACHINE.terminal == {Door.GONE}
    assert MACHINE.open == {Door.OPEN, Door.SHUT}


def test_lists_actions_and_sources() -> None:
    assert MACHINE.actions(Door.OPEN) == ("shut", "remove")
    assert MACHINE.actions(Door.GONE) == ()
    assert MACHINE.sources("remove") == {Door.OPEN, Door.SHUT}


@pytest.mark.parametrize("left_out", Door)
def test_refuses_to_be_built_without_a_line_for_every_state(left_out: Door) -> None:
    moves = {state: line for state, line in MOVES.items() if state is not left_out}

    with pytest.raises(ValueError, match=f"no line for: {left_out}"):
        Machine(Door, moves)


def test_refuses_a_target_that_is_no_state() -> None:
    with pytest.raises(ValueError, match="not states of Door: ajar"):
        Machine(Door, MOVES | {Door.SHUT: {"lift": "ajar"}})  # type: ignore[dict-item]


def test_refuses_a_line_of_no_state() -> None:
    with pytest.raises(ValueError, match="not states of Door: ajar"):
        Machine(Door, {**MOVES, "ajar": {}})  # type: ignore[dict-item]


def test_does_not_change_with_the_mapping_it_was_built_from() -> None:
    moves = {state: dict(line) for state, line in MOVES.items()}
    machine = Machine(Door, moves)

    moves[Door.GONE]["open"] = Door.OPEN

    assert machine.move(Door.GONE, "open") is None
