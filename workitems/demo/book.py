"""What the demo did and what it was answered: sent, counted, and held against what must be."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from workitems.driving.sending import Sender, Sent
from workitems.driving.tally import Tally


class UnexpectedAnswerError(Exception):
    """An answer is not what it must be; the book holds it as a fault."""


@dataclass(slots=True)
class Piece:
    """An item as it must be now, from the answers alone."""

    id: str
    team: str
    owner: str
    title: str
    state: str = "active"
    version: int = 1
    events: int = 1
    attempts: int = 0
    successor: str | None = None

    @property
    def path(self) -> str:
        """Where the item is."""
        return f"/api/v1/work-items/{self.id}"


@dataclass(slots=True)
class Book:
    """Everything of one day; safe to share between the threads that live it."""

    sender: Sender
    run: str
    tally: Tally = field(default_factory=Tally)
    pieces: dict[str, Piece] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    told: deque[str] = field(default_factory=lambda: deque(maxlen=8))
    finished: int = 0

    def send(
        self, who: str, method: str, path: str, body: Any = None, key: str | None = None
    ) -> Sent:
        """One request, counted."""
        sent = self.sender.send(who, method, path, body, key)
        self.tally.add(method, path, sent)
        return sent

    def need(
        self,
        who: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        wanted: tuple[int | str, ...] = (200, 201),
    ) -> Any:
        """One request that must be answered so (a status or a code); the JSON of the answer.

        Raises UnexpectedAnswerError.
        """
        sent = self.send(who, method, path, body, key)
        if sent.status not in wanted and sent.code not in wanted:
            self.fault(f"{who}: {method} {path} was answered {sent.status} {sent.code}")
            raise UnexpectedAnswerError
        return sent.answer

    def once(
        self, who: str, method: str, path: str, body: Any, *, key: str, copies: int = 1
    ) -> Any:
        """The same keyed request from several threads at once: one effect, the rest replays."""
        answers = together(
            [lambda: self.need(who, method, path, body, key=key) for _ in range(copies)]
        )
        fresh = [answer for answer in answers if is_effect(answer)]
        if len(fresh) != 1:
            self.fault(f"{who}: {method} {path} with one key had {len(fresh)} effects")
        return (fresh or answers)[0]

    def attempt(self, call: Callable[[], object]) -> None:
        """Do this as far as the answers allow; why it went no further is a fault already."""
        with suppress(UnexpectedAnswerError):
            call()

    def keep(self, piece: Piece) -> Piece:
        """Remember an item that was opened."""
        self.pieces[piece.id] = piece
        self.tell(piece, "opened")
        return piece

    def tell(self, piece: Piece, what: str) -> None:
        """Show that something happened."""
        self.told.append(f"{piece.team:<17} {what:<22} {piece.title}")

    def fault(self, what: str) -> None:
        """Remember something that must not be."""
        self.faults.append(what)

    def states(self, team: str) -> Counter[str]:
        """How many of a team's items are in which state."""
        return Counter(piece.state for piece in list(self.pieces.values()) if piece.team == team)


def is_effect(answer: Any) -> bool:
    """Whether an answer tells of an effect of its own, and not of an earlier request's."""
    return bool(answer.get("created", not answer.get("replayed", False)))


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """What each call returns, all begun at the same moment."""
    if len(calls) == 1:
        return [calls[0]()]
    barrier = threading.Barrier(len(calls))

    def begin(call: Callable[[], Any]) -> Any:
        barrier.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(begin, calls))
