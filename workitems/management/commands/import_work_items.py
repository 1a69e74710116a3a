"""`manage.py import_work_items FILE`: sends a file of requests through the HTTP API."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from stigmer.core.errors import Refusal
from workitems.driving import lines, principals
from workitems.driving.importing import Import, Surprise
from workitems.driving.sending import Sender, ServerAwayError
from workitems.driving.terminal import console_for, undisturbed


class Command(BaseCommand):
    help = "Sends a file of requests (JSON lines) through the HTTP API of a running server."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one request a line; see docs/tour.md")
        parser.add_argument("--url", default=f"http://127.0.0.1:{settings.PORT}", help="the server")
        parser.add_argument(
            "--create-principals", action="store_true",
            help="create who does not exist; service: and surface: before a name tell the kind",
        )  # fmt: skip

    def handle(self, *_arguments: Any, **options: Any) -> None:
        console = console_for(options)
        try:
            found = lines.read(options["file"])
            with undisturbed(), Sender(options["url"]) as sender:
                sender.need_server()
                run = _import(found, sender, console, create=options["create_principals"])
        except (lines.MalformedLineError, OSError) as fault:
            raise CommandError(f"{options['file']}: {fault}; nothing was sent") from None
        except (ServerAwayError, principals.PrincipalsMissingError) as fault:
            raise CommandError(str(fault)) from None
        except Refusal as refusal:
            raise CommandError(refusal.detail) from None
        console.print(run.tally.table())
        if run.surprises:
            console.print(_surprises(run.surprises))
            raise CommandError(
                f"{len(run.surprises)} of {len(found)} lines were not answered as they expect"
            )


def _import(found: list[lines.Line], sender: Sender, console: Console, *, create: bool) -> Import:
    names = {line.request.principal for line in found}
    made = principals.need(names, create=create)
    if made:
        console.print(f"Created {len(made)} principals: {', '.join(made)}")
    run = Import(sender)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with principals.acting_as(names, "import_work_items") as sender.tokens:
        sender.need_tokens()
        with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
            task = progress.add_task("Sending", total=len(found))
            try:
                run.run(found, lambda: progress.advance(task))
            except ServerAwayError:
                console.print(run.tally.table())
                raise
    return run


def _surprises(surprises: list[Surprise]) -> Table:
    table = Table(title="Not as expected", title_style="bold red")
    for heading in ("line", "request", "expected", "got"):
        table.add_column(heading, overflow="fold")
    for surprise in surprises:
        table.add_row(*map(str, surprise))
    return table
