"""The courses that a piece of work can take, each driven as people, services and chats do it."""

from __future__ import annotations

import random
from functools import partial
from typing import Any, NamedTuple

from workitems.demo.book import Book, Piece, is_effect, together
from workitems.demo.cast import ANSWERS, INTAKE, QUESTIONS, RUNNER, TEAMS, Team
from workitems.driving.sending import Sent


class Errand(NamedTuple):
    """One thing to do: for whom, who asked in which chat, and how it goes."""

    team: Team
    title: str
    number: int
    who: str
    surface: str
    course: str


# How often each course is taken in a hundred.
COURSES = {
    "plain": 22, "asked": 24, "failed": 10, "superseded": 10, "archived": 9, "raced": 9,
    "open": 9, "waiting": 7,
}  # fmt: skip


def plan(many: int, dice: random.Random) -> list[Errand]:
    """A day's errands: every course at least once, then by their frequency."""
    courses = [*COURSES, *dice.choices(list(COURSES), list(COURSES.values()), k=many)][:many]
    dice.shuffle(courses)
    errands = []
    for number, course in enumerate(courses):
        team = TEAMS[number % len(TEAMS)]
        title = team.errands[number // len(TEAMS) % len(team.errands)]
        who = dice.choice((team.owner, *team.members))
        errands.append(Errand(team, title, number, who, dice.choice(("telegram", "slack")), course))
    return errands


class Work:
    """Drives one errand; its book knows what must be true of the item after each answer."""

    def __init__(self, book: Book, errand: Errand, dice: random.Random) -> None:
        self.book, self.errand, self.dice = book, errand, dice
        self.key = f"demo:{book.run}:{errand.number}"
        self.steps = 0

    def live(self) -> None:
        """From the chat message to the end that the errand takes."""
        self.book.attempt(self._live)
        self.book.finished += 1

    def _live(self) -> None:
        piece = self.opened(self.errand.title)
        getattr(self, self.errand.course)(piece)
        self.look_in(piece)

    # Courses

    def plain(self, piece: Piece) -> None:
        """It runs and is done."""
        self.asked_for(piece)
        self.ran(piece, "Succeeded")
        self.moved(piece, RUNNER, "complete")

    def asked(self, piece: Piece) -> None:
        """It needs an answer on its way; then it is resumed and done."""
        self.ran(piece, "Succeeded")
        self.moved(piece, RUNNER, "wait", waiting_reason=self.dice.choice(("input", "approval")))
        self.asked_for(piece, self.dice.choice(ANSWERS))
        self.resumed(piece, "Succeeded")
        self.moved(piece, self.errand.who, "complete")

    def failed(self, piece: Piece) -> None:
        """Its first run fails, the second succeeds."""
        self.ran(piece, self.dice.choice(("Failed", "Error")))
        self.resumed(piece, "Succeeded")
        self.moved(piece, RUNNER, "complete")

    def superseded(self, piece: Piece) -> None:
        """A better request takes its place."""
        better = self.opened(f"{piece.title} (2)", better=True)
        self.moved(piece, self.errand.who, "supersede", superseded_by=better.id)
        piece.successor = better.id

    def archived(self, piece: Piece) -> None:
        """It is put away, and nothing moves it afterwards."""
        self.moved(piece, self.errand.who, "archive")
        late = {"action": "complete", "expected_state_version": piece.version}
        self.book.need(self.errand.who, "PATCH", piece.path, late, wanted=("invalid_transition",))

    def raced(self, piece: Piece) -> None:
        """Two finish it at the same moment: one of them did, the other is told."""
        body = {"action": "complete", "expected_state_version": piece.version}

        def complete(who: str) -> Sent:
            return self.book.send(who, "PATCH", piece.path, body, f"{self.key}:{who}")

        sent = together([partial(complete, who) for who in (self.errand.who, RUNNER)])
        codes = sorted(answer.code for answer in sent)
        if codes != ["", "state_version_conflict"]:
            self.book.fault(f"{piece.id}: of two that complete at once the answers are {codes}")
        self.note(piece, "completed", "completed in a race")

    def open(self, piece: Piece) -> None:
        """It still runs when the day ends."""
        self.asked_for(piece)
        self.ran(piece, "Running")
        second = {"engine": "argo", "engine_ref": f"{self.key}:second"}
        path = f"{piece.path}/executions"
        self.book.need(RUNNER, "POST", path, second, wanted=("execution_active",))

    def waiting(self, piece: Piece) -> None:
        """It waits for somebody when the day ends."""
        self.moved(piece, RUNNER, "wait", waiting_reason="input")
        self.asked_for(piece, self.dice.choice(QUESTIONS))

    # Steps

    def opened(self, title: str, *, better: bool = False) -> Piece:
        """Open it from two chats at once, each of which repeats itself: one item."""
        key = f"{self.key}:better" if better else self.key
        body = {"tenant": self.errand.team.slug, "title": title, "external_key": key}

        def send(who: str, surface: str) -> Any:
            told = {**body, "origin_surface": surface}
            of_chat = f"{key}:{who}:{surface}"
            return self.book.need(who, "POST", "/api/v1/work-items", told, key=of_chat)

        chats = ((self.errand.who, self.errand.surface), (INTAKE, "slack"))
        sent = together(
            [partial(send, *chat) for chat in chats for _ in range(self.dice.randint(1, 3))]
        )
        ids = {answer["work_item"]["id"] for answer in sent}
        effects = sum(map(is_effect, sent))
        if len(ids) != 1 or effects != 1:
            self.book.fault(f"{title}: opened {len(ids)} items with {effects} effects")
        item = sent[0]["work_item"]
        return self.book.keep(Piece(item["id"], item["tenant"], item["owner_principal"], title))

    def asked_for(self, piece: Piece, text: str = "") -> None:
        """Say more about it in the chat, which links the conversation."""
        chat = {"surface": self.errand.surface, "external_id": f"{self.key}/thread"}
        linked = self.book.send(self.errand.who, "POST", f"{piece.path}/surface-refs", chat)
        intent = {"text": text or f"{piece.title}\n\n{self.dice.choice(QUESTIONS)}"}
        self.once(piece, self.errand.who, "POST", "/intents", intent)
        piece.events += 1 + (linked.status == 201)
        self.book.tell(piece, "asked for")

    def ran(self, piece: Piece, phase: str) -> None:
        """Attach a run and report how it goes."""
        piece.attempts += 1
        run = {"engine": "argo", "engine_ref": f"{self.key}:{piece.attempts}"}
        self.once(piece, RUNNER, "POST", "/executions", run)
        piece.events += 1
        self.report(piece, run, phase)

    def resumed(self, piece: Piece, phase: str) -> None:
        """Start the next run, which continues the latest."""
        piece.attempts += 1
        run = {"engine": "argo", "engine_ref": f"{self.key}:{piece.attempts}"}
        body = {**run, "expected_state_version": piece.version}
        self.once(piece, RUNNER, "POST", "/resume", body)
        self.note(piece, "active", "resumed")
        self.report(piece, run, phase)

    def report(self, piece: Piece, run: dict[str, str], phase: str) -> None:
        """Tell the phases of a run, the last one twice."""
        for reported in ("Running", phase, phase):
            body = {**run, "phase": reported}
            self.book.need(RUNNER, "POST", f"{piece.path}/executions", body, wanted=(200,))
        self.book.tell(piece, phase.lower())

    def moved(self, piece: Piece, who: str, action: str, **more: str) -> None:
        """Move the item; whoever comes late with the old version is told."""
        body = {"action": action, "expected_state_version": piece.version, **more}
        self.once(piece, who, "PATCH", "", body)
        ends = {"complete": "completed", "supersede": "superseded", "archive": "archived"}
        self.note(piece, ends.get(action, "waiting"), action)
        self.book.need(who, "PATCH", piece.path, body, wanted=("state_version_conflict",))

    def note(self, piece: Piece, state: str, what: str) -> None:
        """The state moved."""
        piece.state, piece.version, piece.events = state, piece.version + 1, piece.events + 1
        self.book.tell(piece, what)

    def once(self, piece: Piece, who: str, method: str, route: str, body: dict[str, Any]) -> None:
        """A keyed request, now and then repeated by the network."""
        self.steps += 1
        key = f"{self.key}:{self.steps}"
        copies = self.dice.choice((1, 1, 2, 3))
        self.book.once(who, method, piece.path + route, body, key=key, copies=copies)

    def look_in(self, piece: Piece) -> None:
        """A viewer reads and may not write; somebody of another team sees nothing."""
        viewer, stranger = self.errand.team.viewer, self.stranger()
        self.book.need(viewer, "GET", piece.path, wanted=(200,))
        change = {"action": "archive", "expected_state_version": piece.version}
        self.book.need(viewer, "PATCH", piece.path, change, wanted=("permission_denied",))
        self.book.need(stranger, "GET", piece.path, wanted=("work_item_not_found",))

    def stranger(self) -> str:
        """Somebody who is no member of this team."""
        return next(team.owner for team in TEAMS if team is not self.errand.team)
