"""`manage.py check_integrity`: every invariant over the whole database."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workitems import integrity


class Command(BaseCommand):
    help = "Checks every invariant over the whole database; reads only. Exits 1 if one is broken."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        broken = [found for _, found in integrity.check() if found is not None]
        for rule in broken:
            self.stdout.write(f"BROKEN  {rule.name}: {rule.many}")
            for id in rule.ids:
                self.stdout.write(f"        {id}")
            if rule.many > len(rule.ids):
                self.stdout.write(f"        and {rule.many - len(rule.ids)} more")
        if broken:
            raise CommandError(f"{len(broken)} of {len(integrity.INVARIANTS)} invariants broken")
        self.stdout.write(f"All {len(integrity.INVARIANTS)} invariants hold.")
