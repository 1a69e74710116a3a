"""`manage.py first_run`: an empty installation gets its first admin and an organization."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from organizations.operations.first_run import first_run
from stigmer.core.callers import system_act


class Command(BaseCommand):
    help = "Sets up an empty installation and prints the first admin's secrets, once."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        made = first_run(by=system_act(), now=timezone.now())
        if made is None:
            return
        self.stdout.write(
            f"\nThe first admin was created. These secrets are shown only now:\n\n"
            f"  user       {made.name}\n"
            f"  password   {made.password}\n"
            f"  token      {made.token}\n\n"
            f"The organization {made.organization} is there to try things out.\n"
        )
