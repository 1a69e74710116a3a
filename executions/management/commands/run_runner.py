"""`manage.py run_runner --echo`: a reference runner for watching the whole system at work."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.driving.echo import Echo
from executions.driving.protocol import ClaimLostError, Protocol, RefusedError
from stigmer.core.ids import new_id

WAIT = 20


class Command(BaseCommand):
    """Claims workflow executions over the HTTP API and runs the built-in workflow as each."""

    help = (
        "Runs a small built-in workflow (steps, a wait for a signal, an approval gate) for every "
        "workflow execution that it can claim from a running server; see docs/executions.md."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--echo", action="store_true", required=True, help="the built-in workflow"
        )
        parser.add_argument("--url", default=f"http://127.0.0.1:{settings.PORT}", help="the server")
        parser.add_argument(
            "--token",
            default=os.environ.get("STIGMER_TOKEN", ""),
            help="the token of a service (default: the environment's STIGMER_TOKEN)",
        )
        parser.add_argument(
            "--label", action="append", default=[], metavar="KEY=VALUE",
            help="claim only executions that carry this label",
        )  # fmt: skip
        parser.add_argument("--once", action="store_true", help="end after one execution")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        if not options["token"]:
            raise CommandError("name the token of a service with --token or STIGMER_TOKEN")
        labels = dict(label.partition("=")[::2] for label in options["label"])
        self.stdout.write(f"waits for executions at {options['url']}; Ctrl-C stops it")
        try:
            with Protocol(options["url"], options["token"]) as api:
                while not (self._one(api, labels) and options["once"]):
                    pass
        except RefusedError as refused:
            raise CommandError(str(refused)) from None
        except KeyboardInterrupt:
            self.stdout.write("stopped")

    def _one(self, api: Protocol, labels: dict[str, str]) -> bool:
        """Run one execution, if one comes in time."""
        held = api.claim(new_id("clm"), labels=labels, wait=WAIT)
        if held is None:
            return False
        self.stdout.write(f"{held.id}: claimed, attempt {held.attempt}")
        try:
            ended = Echo(api, held, self.stdout.write).run()
        except ClaimLostError as lost:
            ended = f"left to others ({lost})"
        self.stdout.write(f"{held.id}: {ended}")
        return True
