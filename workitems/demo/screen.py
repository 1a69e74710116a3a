"""What is seen while the day goes on, and the tables at its end."""

from __future__ import annotations

import time

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from workitems.demo.book import Book
from workitems.demo.cast import TEAMS
from workitems.states import WorkItemState


class Screen:
    """Renders the book as it is at the moment."""

    def __init__(self, book: Book, errands: int) -> None:
        self.book, self.errands = book, errands
        self.began, self.before = time.monotonic(), book.tally.total

    def __rich__(self) -> RenderableType:
        rate = (self.book.tally.total - self.before) / max(time.monotonic() - self.began, 1)
        told = f"{self.book.finished} of {self.errands} errands, {rate:.0f} requests a second"
        lines = [Text(line, no_wrap=True, overflow="ellipsis") for line in list(self.book.told)]
        head = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=self.errands, completed=self.book.finished, width=40)
        head.add_row(bar, told)
        return Group(head, states(self.book), *lines)


def states(book: Book) -> Table:
    """How many items of each team are in which state."""
    table = Table(title="Work items of this day")
    table.add_column("organization")
    for state in WorkItemState:
        table.add_column(state.value, justify="right")
    for team in TEAMS:
        counts = book.states(team.slug)
        table.add_row(team.slug, *(str(counts[state.value]) for state in WorkItemState))
    return table
