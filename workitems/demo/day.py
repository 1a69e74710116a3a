"""The day itself: the teams meet, then everybody works at once."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

from workitems.demo.book import Book
from workitems.demo.cast import TEAMS
from workitems.demo.errands import Errand, Work

AT_ONCE = 6


def meet(book: Book) -> None:
    """Each owner opens the organization, if it is not there yet, and takes the others in."""
    for team in TEAMS:
        body = {"name": team.name, "slug": team.slug}
        wanted = (201, "already_exists")
        book.need(team.owner, "POST", "/api/v1/organizations", body, wanted=wanted)
        for name, role in team.roles.items():
            path = f"/api/v1/organizations/{team.slug}/members/{name}"
            book.need(team.owner, "PUT", path, {"role": role})


def work(book: Book, errands: list[Errand], dice: random.Random) -> None:
    """Live every errand, several at a time; the first that cannot be lived ends the day."""
    lives = [Work(book, errand, random.Random(dice.random())) for errand in errands]  # noqa: S311
    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            for life in [threads.submit(life.live) for life in lives]:
                life.result()
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
