"""`manage.py import_slugs FILE`: records the slugs that another installation's rows name."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from organizations.operations.importing import UnreadableRow, import_slugs
from stigmer.core.callers import system_act


class Command(BaseCommand):
    help = "Records, retired, every organization that JSON lines {kind, id, org} name."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *_arguments: Any, **options: Any) -> None:
        try:
            with options["file"].open("rb") as lines:
                outcome = import_slugs(lines=lines, by=system_act(), now=timezone.now())
        except OSError as cause:
            raise CommandError(f"{options['file']} cannot be read: {cause.strerror}") from None
        except UnreadableRow as cause:
            raise CommandError(str(cause)) from None
        self.stdout.write(f"{outcome.rows} rows read, {outcome.recorded} slugs recorded")
