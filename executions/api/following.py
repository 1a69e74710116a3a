"""What streams of executions read: the state as it changes, the log from a cursor on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from executions import queries
from executions.api.schemas import shown
from executions.errors import ExecutionNotFound
from executions.kinds import WORKFLOW, Kind
from executions.states import PHASES
from stigmer.http.streams import Batch, frame

PAGE = 200


def topic_of(execution: str) -> str:
    """What wakes the readers of an execution."""
    return f"execution:{execution}"


class State:
    """The whole envelope whenever it changed; a terminal phase is the last."""

    __slots__ = ("begun", "execution", "kind", "last")

    def __init__(self, kind: Kind, execution: str) -> None:
        self.kind, self.execution = kind, execution
        self.last = b""
        self.begun = False

    def read(self) -> Batch:
        """The state if it is another than the last one that was read.

        Raises ExecutionNotFound at first; one that is deleted later ends the stream.
        """
        row = queries.find(self.kind, self.execution)
        if row is None:
            return self._missing()
        self.begun = True
        shape = msgspec.json.encode(shown.execution_of(row))
        frames = [] if shape == self.last else [frame(shape)]
        self.last = shape
        return Batch(frames, ended=row.phase in PHASES.terminal)

    def _missing(self) -> Batch:
        if not self.begun:
            raise ExecutionNotFound.of(self.kind.noun, self.execution)
        return Batch([], ended=True)


class Log:
    """Events behind a cursor, in order; after the end of the execution once more, then no more."""

    __slots__ = ("after", "begun", "execution", "types")

    def __init__(self, execution: str, after: int, types: Sequence[str]) -> None:
        self.execution, self.after, self.types = execution, after, tuple(types)
        self.begun = False

    def read(self) -> Batch:
        """The events since the last read.

        The phase is looked at before the events: what is written together with the last phase is
        there by then. Raises ExecutionNotFound at first.
        """
        row = queries.find(WORKFLOW, self.execution)
        if row is None and not self.begun:
            raise ExecutionNotFound.of(WORKFLOW.noun, self.execution)
        self.begun = True
        found = queries.events(self.execution, after=self.after, limit=PAGE, types=self.types)
        if found.events:
            self.after = found.events[-1].sequence_number
        ended = row is None or row.phase in PHASES.terminal
        return Batch(
            [
                frame(msgspec.json.encode(shown.event_of(event)), event.sequence_number)
                for event in found.events
            ],
            ended=ended and not found.has_more,
            more=found.has_more,
        )
