"""`manage.py demo`: a realistic day through the HTTP API, then every invariant checked."""

import random
import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.live import Live
from rich.progress import Progress

from stigmer.core.errors import Refusal
from workitems import integrity
from workitems.demo import cast, day, judging, screen
from workitems.demo.book import Book
from workitems.demo.errands import plan
from workitems.driving import principals
from workitems.driving.sending import Sender, ServerAwayError
from workitems.driving.terminal import console_for, undisturbed

MOST = 10_000


class Command(BaseCommand):
    help = "Lives a realistic day on the running server and checks every invariant afterwards."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default=f"http://127.0.0.1:{settings.PORT}", help="the server")
        parser.add_argument("--errands", type=int, default=60, help=f"how many, 8 to {MOST}")
        parser.add_argument("--seed", type=int, help="the same day again (by default another one)")
        parser.add_argument(
            "--in-production", action="store_true",
            help="leave the demo's people and organizations in a production database",
        )  # fmt: skip

    def handle(self, *_arguments: Any, **options: Any) -> None:
        if settings.PRODUCTION and not options["in_production"]:
            raise CommandError("this is production, where the demo's data would stay")
        if not 8 <= options["errands"] <= MOST:
            raise CommandError(f"--errands must be from 8 to {MOST}")
        console = console_for(options)
        seed = options["seed"] if options["seed"] is not None else secrets.randbelow(2**31)
        try:
            with undisturbed(), Sender(options["url"]) as sender:
                sender.need_server()
                principals.need(cast.PRINCIPALS, create=True)
                with principals.acting_as(cast.PRINCIPALS, "demo") as sender.tokens:
                    sender.need_tokens()
                    book = _live(sender, console, seed, options["errands"])
        except (ServerAwayError, principals.PrincipalsMissingError) as fault:
            raise CommandError(str(fault)) from None
        except Refusal as refusal:
            raise CommandError(refusal.detail) from None
        console.print(book.tally.table())
        console.print(screen.states(book))
        faults = len(book.faults) + _check(book, console)
        if faults:
            raise CommandError(f"{faults} things are not as they must be (seed {seed})")
        console.print(f"Everything is as it must be (seed {seed}).")


def _live(sender: Sender, console: Console, seed: int, errands: int) -> Book:
    dice = random.Random(seed)  # noqa: S311 a day, not a secret
    book = Book(sender, run=secrets.token_hex(4))
    book.attempt(lambda: day.meet(book))
    planned = plan(errands, dice)
    with Live(screen.Screen(book, errands), console=console, refresh_per_second=8, transient=True):
        day.work(book, planned, dice)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("Reading everything back", total=len(book.pieces))
        judging.judge(book, lambda: progress.advance(task))
    return book


def _check(book: Book, console: Console) -> int:
    """Show every fault and every invariant; answers how many of the latter are broken."""
    for fault in book.faults:
        console.print(f"✗ {fault}", style="red")
    console.print(f"API: {len(book.pieces)} items read back, {len(book.faults)} faults")
    broken = 0
    for invariant, found in integrity.check():
        broken += found is not None
        ids = f": {', '.join(found.ids)}" if found else ""
        console.print(
            f"{'✗' if found else '✓'} {invariant.name}{ids}", style="red" if found else ""
        )
    return broken
