"""`manage.py bootstrap [--pack FILE]`: loads a seed pack once."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from organizations.errors import OrganizationNotFound
from resources.operations.bootstrap import Report, load_pack
from resources.specs.packs import Pack, read_pack
from stigmer.core.callers import system_act
from stigmer.core.errors import InvalidRequest, Refusal

EXAMPLE = Path(__file__).resolve().parents[2] / "packs" / "example.yaml"


class Command(BaseCommand):
    help = "Loads a seed pack, once for each name and version."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pack", type=Path, default=EXAMPLE, help="a YAML file")
        parser.add_argument(
            "--first-run",
            action="store_true",
            help="do nothing where the pack's organization is not there",
        )

    def handle(self, *_arguments: Any, **options: Any) -> None:
        pack = self._read(options["pack"])
        try:
            report = load_pack(pack=pack, by=system_act(), now=timezone.now())
        except OrganizationNotFound as refusal:
            if options["first_run"]:
                return
            raise CommandError(f"{pack.name} was not loaded: {refusal.detail}") from None
        except Refusal as refusal:
            raise CommandError(f"{pack.name} was not loaded: {_told(refusal)}") from None
        self._tell(pack, report, quiet=options["first_run"])

    def _read(self, path: Path) -> Pack:
        try:
            return read_pack(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as cause:
            raise CommandError(f"{path} cannot be read: {cause}") from None
        except InvalidRequest as refusal:
            raise CommandError(f"{path} is no pack: {_told(refusal)}") from None

    def _tell(self, pack: Pack, report: Report, *, quiet: bool) -> None:
        if not report.loaded:
            if not quiet:
                self.stdout.write(f"{pack.name} {pack.version} was loaded before")
            return
        for word, done in (
            ("created", report.created),
            ("changed", report.changed),
            ("left alone", report.left_alone),
        ):
            for kind, slug in done:
                self.stdout.write(f"{word:<10}  {kind} {slug}")
        self.stdout.write(f"{pack.name} {pack.version} is loaded into {pack.organization}")


def _told(refusal: Refusal) -> str:
    place = refusal.pointer if isinstance(refusal, InvalidRequest) else ""
    return f"{place}: {refusal.detail}" if place else refusal.detail
