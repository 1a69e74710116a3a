"""`manage.py create_token NAME`: prints a new token of this principal, and nothing else."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from organizations.operations.tokens import create_token
from stigmer.core.callers import system_act
from stigmer.core.errors import Refusal

MOST_DAYS = 36500


class Command(BaseCommand):
    help = "Prints a new API token of a principal, and nothing else."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the principal")
        parser.add_argument("--name", dest="label", default="command", help="what the token is for")
        parser.add_argument("--days", type=int, help="how long it is valid; without end by default")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        days = options["days"]
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise CommandError(f"--days must be from 1 to {MOST_DAYS}")
        now = timezone.now()
        try:
            _, secret = create_token(
                principal=options["name"],
                name=options["label"],
                expires_at=None if days is None else now + timedelta(days=days),
                by=system_act(),
                now=now,
            )
        except Refusal as refusal:
            raise CommandError(
                f"no token was made for {options['name']!r}: {refusal.detail}"
            ) from None
        self.stdout.write(secret)
