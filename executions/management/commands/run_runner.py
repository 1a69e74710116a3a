"""`manage.py run_runner --echo`: a runner that executes the reference workflow."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from executions.echo.protocol import Protocol
from executions.echo.running import Runner
from organizations.operations import members, principals, tokens
from organizations.queries import principal
from stigmer.core.callers import system_act
from stigmer.core.errors import Refusal

SERVICE = "service:echo-runner"


class Command(BaseCommand):
    help = "Claims executions and runs the built-in reference workflow, to watch the system work."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--echo", action="store_true", help="run the reference workflow")
        parser.add_argument("--url", default=f"http://127.0.0.1:{settings.PORT}", help="the server")
        parser.add_argument(
            "--org", action="append", default=[],
            help="an organization to run for, may be repeated (demo); not with a token of your own",
        )  # fmt: skip
        parser.add_argument("--label", action="append", default=[], help="key=value to ask for")
        parser.add_argument("--pace", type=float, default=1.0, help="seconds a step takes")
        parser.add_argument("--most", type=int, help="stop after so many executions")

    def handle(self, *_arguments: Any, **options: Any) -> None:
        if not options["echo"]:
            raise CommandError("only --echo is built in: say it")
        token = os.environ.get("STIGMER_RUNNER_TOKEN") or _token(options["org"] or ["demo"])
        labels = dict(_label(raw) for raw in options["label"])
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=options["url"], headers=headers) as client:
            runner = Runner(Protocol(client), say=self._say, pace=options["pace"], labels=labels)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: runner.stopping.set())
            self._say(f"{SERVICE} asks {options['url']} for executions; Ctrl+C ends it")
            runner.run(most=options["most"])

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _label(raw: str) -> tuple[str, str]:
    key, equals, value = raw.partition("=")
    if not key or not equals:
        raise CommandError("--label must be key=value")
    return key, value


def _token(organizations: list[str]) -> str:
    """A token of one day for the runner's own service, a member of these organizations."""
    now = timezone.now()
    try:
        if principal(SERVICE) is None:
            principals.create_principal(name=SERVICE, kind="service", by=system_act(), now=now)
        for slug in organizations:
            members.put_member(
                organization=slug, principal=SERVICE, role="member", by=system_act(), now=now
            )
        _, secret = tokens.create_token(
            principal=SERVICE, name="run_runner", expires_at=now + timedelta(days=1),
            by=system_act(), now=now,
        )  # fmt: skip
    except Refusal as refusal:
        raise CommandError(refusal.detail) from None
    return secret
