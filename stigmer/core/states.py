"""Machine: which move may follow which, declared once for every state."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State", bound=StrEnum)


class Machine(Generic[State]):
    """A lifecycle: for every state the actions that lead out of it and where they lead.

    Raises ValueError when a state has no line or a line names something that is no state.
    """

    def __init__(self, states: type[State], moves: Mapping[State, Mapping[str, State]]) -> None:
        missing = [state.value for state in states if state not in moves]
        if missing:
            raise ValueError(f"no line for: {', '.join(missing)}")
        strangers = [str(state) for state in moves if state not in list(states)]
        strangers += [
            str(target)
            for line in moves.values()
            for target in line.values()
            if target not in list(states)
        ]
        if strangers:
            raise ValueError(f"not states of {states.__name__}: {', '.join(strangers)}")
        self._moves = {states(state): dict(line) for state, line in moves.items()}
        self.states = states
        self.terminal = frozenset(state for state, line in self._moves.items() if not line)
        self.open = frozenset(states) - self.terminal

    def move(self, state: State | str, action: str) -> State | None:
        """Where this action leads from this state, or None when it leads nowhere."""
        return self._moves[self.states(state)].get(action)

    def actions(self, state: State | str) -> tuple[str, ...]:
        """The actions that lead out of this state."""
        return tuple(self._moves[self.states(state)])

    def sources(self, action: str) -> frozenset[State]:
        """The states from which this action leads somewhere."""
        return frozenset(state for state, line in self._moves.items() if action in line)
