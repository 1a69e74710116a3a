"""`manage.py create_principal NAME --kind KIND`: makes sure that this principal exists."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from organizations.operations.principals import ensure_principal
from organizations.states import PrincipalKind
from stigmer.core.callers import system_act
from stigmer.core.errors import Refusal


class Command(BaseCommand):
    help = "Makes sure that a principal exists; running it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="1 to 256 bytes, for example alice or service:dispatcher")
        parser.add_argument("--kind", required=True, choices=[kind.value for kind in PrincipalKind])
        parser.add_argument("--admin", action="store_true", help="a platform admin")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )

    def handle(self, *_arguments: Any, **options: Any) -> None:
        password = None
        if options["password_stdin"]:
            password = sys.stdin.readline().rstrip("\r\n")
            if not password:
                raise CommandError("--password-stdin: there is no password on standard input")
        try:
            outcome = ensure_principal(
                name=options["name"],
                kind=options["kind"],
                admin=options["admin"],
                password=password,
                by=system_act(),
                now=timezone.now(),
            )
        except Refusal as refusal:
            raise CommandError(f"{options['name']!r} was not created: {refusal.detail}") from None
        self.stdout.write(f"{options['name']} {outcome}")
