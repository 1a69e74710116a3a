"""Sends the requests of a file in order and keeps what was not as expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec import UNSET

from workitems.driving import references
from workitems.driving.lines import Line
from workitems.driving.sending import Sender, Sent
from workitems.driving.tally import Tally


class Surprise(NamedTuple):
    """A line whose answer is not what it expects."""

    line: int
    request: str
    expected: str
    got: str


class Import:
    """One run over the lines of a file."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender
        self.tally = Tally()
        self.surprises: list[Surprise] = []
        self._answers: dict[str, Any] = {}

    def run(self, lines: Iterable[Line], done: Callable[[], object]) -> None:
        """Send each line, one after the other. Raises ServerAwayError."""
        for line in lines:
            self._send(line)
            done()

    def _send(self, line: Line) -> None:
        request = line.request
        try:
            path = references.resolve(request.path, self._answers)
            body = references.resolve(request.body, self._answers)
        except references.UnresolvedError as cause:
            self._keep(line, f"not sent: {cause}")
            return
        sent = self.sender.send(request.principal, request.method, path, body, request.key)
        self.tally.add(request.method, path, sent)
        if request.name is not UNSET:
            self._answers[request.name] = sent.answer
        if not request.accepts(sent.status, sent.code):
            self._keep(line, _told(sent))

    def _keep(self, line: Line, got: str) -> None:
        request = line.request
        expected = request.expect if isinstance(request.expect, list) else [request.expect]
        shown = "an answer" if request.expect is UNSET else " or ".join(map(str, expected))
        what = f"{request.principal}: {request.method} {request.path}"
        self.surprises.append(Surprise(line.number, what, shown, got))


def _told(sent: Sent) -> str:
    return " ".join(part for part in (str(sent.status), sent.code, sent.detail) if part)
