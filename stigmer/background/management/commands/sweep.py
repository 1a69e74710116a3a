"""Run sweeps by hand, with a progress bar, or show what they would take."""

from argparse import ArgumentParser
from datetime import datetime
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from stigmer.background import sweeps


class Command(BaseCommand):
    """`manage.py sweep [NAME …] [--dry-run] [--older-than DAYS]`."""

    help = "Run sweeps now: all of them, or those that are named."

    def add_arguments(self, parser: ArgumentParser) -> None:
        names = ", ".join(sweep.name for sweep in sweeps.known())
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {names}")
        parser.add_argument("--dry-run", action="store_true", help="show what would be taken")
        parser.add_argument(
            "--older-than", type=_days, metavar="DAYS", help="instead of the configured age"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = [_find(name) for name in options["names"]] or list(sweeps.known())
        now, older = timezone.now(), options["older_than"]
        if options["dry_run"]:
            counts = {s.name: sweeps.preview(s, now=now, older_than=older) for s in chosen}
            self._show("would be taken", counts)
            return
        self._show("taken", {s.name: self._run(s, now, older) for s in chosen})

    def _run(self, sweep: sweeps.Sweep, now: datetime, older_than: int | None) -> dict[str, int]:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=self._console()) as bar:
            tasks: dict[str, Any] = {}

            def progress(name: str, what: str, taken: int, total: int | None) -> None:
                if what not in tasks:
                    tasks[what] = bar.add_task(f"{name}: {what}", total=total)
                bar.update(tasks[what], completed=taken)

            try:
                done = sweeps.run(
                    sweep, now=now, older_than=older_than, rest=0.1, progress=progress
                )
            except sweeps.SweepRunning as refusal:
                raise CommandError(refusal.detail) from refusal
        return dict(done.counts)

    def _console(self) -> Console:
        return Console(file=cast(IO[str], self.stdout), width=100)

    def _show(self, title: str, counts: dict[str, dict[str, int]]) -> None:
        table = Table("sweep", "rows", title)
        for name, found in counts.items():
            for what, number in found.items() or {"": 0}.items():
                table.add_row(name, what, f"{number:,}")
        self._console().print(table)


def _find(name: str) -> sweeps.Sweep:
    found = sweeps.find(name)
    if found is None:
        names = ", ".join(sweep.name for sweep in sweeps.known())
        raise CommandError(f"there is no sweep {name!r}; there are: {names}")
    return found


def _days(raw: str) -> int:
    days = int(raw)
    if days < 0:
        raise ValueError(raw)
    return days
