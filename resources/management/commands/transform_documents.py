"""`manage.py transform_documents KIND FUNCTION`: rewrites every document of a kind."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.module_loading import import_string

from resources.documents import Document, as_json
from resources.kinds import stored
from resources.operations.documents import replace_if_unchanged
from resources.queries import documents as reading
from stigmer.core.callers import SYSTEM, system_act
from stigmer.core.errors import Refusal

Transform = Callable[[dict[str, Any]], dict[str, Any] | None]


class Command(BaseCommand):
    help = "Gives every document of a kind to a function and stores what it answers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", help="snake_case")
        parser.add_argument(
            "function",
            help="dotted path: takes a document (a dict), answers it changed, or None to leave it",
        )
        parser.add_argument("--batch", type=int, default=500)
        parser.add_argument("--dry-run", action="store_true", help="write nothing, only count")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        try:
            kind, transform = stored(options["kind"]).name, import_string(options["function"])
        except (Refusal, ImportError) as cause:
            raise CommandError(str(cause)) from None
        seen = changed = 0
        after = ""
        while found := reading.scan(SYSTEM, kind, after, options["batch"]):
            for document in found:
                changed += self._transformed(document, transform, options["dry_run"])
            seen, after = seen + len(found), found[-1].id
        self.stdout.write(f"{seen} documents, {changed} changed")

    def _transformed(self, document: Document, transform: Transform, dry: bool) -> bool:
        """Whether the document changed; one that somebody wrote meanwhile is read again."""
        current: Document | None = document
        while current is not None:
            result = transform(as_json(current))
            if result is None or result == as_json(current):
                return False
            if dry or self._swapped(current, result):
                return True
            current = reading.find(document.kind, document.id)
        return False

    def _swapped(self, document: Document, result: dict[str, Any]) -> bool:
        try:
            return replace_if_unchanged(
                kind=document.kind,
                id=document.id,
                expected_version=document.resource_version,
                document=result,
                by=system_act(),
                now=timezone.now(),
            )
        except Refusal as refusal:
            raise CommandError(f"{document.id}: {refusal.detail}") from None
