"""`manage.py create_organization SLUG --owner NAME`: opens an organization."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from organizations.operations.organizations import create_organization
from stigmer.core.callers import system_act
from stigmer.core.errors import Refusal


class Command(BaseCommand):
    help = "Opens an organization with its first owner."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="2 to 63 of a-z, 0-9 and -, a letter first")
        parser.add_argument("--owner", required=True, help="a human or a service")
        parser.add_argument("--name", help="the slug by default")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        slug = options["slug"]
        try:
            create_organization(
                name=options["name"] or slug,
                slug=slug,
                owner=options["owner"],
                by=system_act(),
                now=timezone.now(),
            )
        except Refusal as refusal:
            raise CommandError(f"{slug!r} was not created: {refusal.detail}") from None
        self.stdout.write(f"{slug} created, owned by {options['owner']}")
