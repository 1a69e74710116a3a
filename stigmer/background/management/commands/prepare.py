"""`manage.py prepare`: what must be done before the processes start."""

from datetime import UTC, datetime
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, connection

from stigmer.background import schedule


class Command(BaseCommand):
    help = "Migrates, seeds the schedule and, with --first-run, sets up an empty installation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--first-run", action="store_true")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        try:
            connection.ensure_connection()
        except OperationalError as cause:
            raise CommandError(f"The database does not answer: {cause}") from cause
        call_command("migrate", interactive=False, verbosity=0)
        schedule.seed(now=datetime.now(UTC))
        if options["first_run"]:
            call_command("first_run")
            call_command("bootstrap", first_run=True)
