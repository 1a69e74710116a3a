"""kill -9 around the delivery of a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from executions import operations
from executions.errors import Aborted
from executions.models import SignalClaim, WorkflowInboxEntry
from stigmer.core.errors import AlreadyExists
from tests import factories
from tests.executions import making

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.faults]


def killed(where: str, execution: str, delivered: Path) -> None:
    """A process of its own sends the signal and is killed on the way."""
    parts = connection.settings_dict
    host = parts["HOST"]
    at = f"{host}:{parts['PORT']}" if not host.startswith("/") else ""
    address = f"postgresql://{parts['USER']}@{at}/{parts['NAME']}"
    if not at:
        address += f"?host={host}"
    done = subprocess.run(
        [sys.executable, "-m", "tests.executions.dying", where, execution, str(delivered)],
        env={
            **os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings",
            "PGPASSWORD": parts["PASSWORD"] or "",
            "STIGMER_ENGINE": "runner" if where == "pull" else "temporal",
        },
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def send(execution: str, minutes: int = 0) -> None:
    operations.send_signal(
        execution=execution, signal="go", payload=None, by=factories.act("bob", key="k"),
        now=factories.now() + timedelta(minutes=minutes),
    )  # fmt: skip


def test_death_between_claim_and_delivery_heals_after_the_hold(
    cast: Any, engine: making.FakeEngine, tmp_path: Path
) -> None:
    row = making.pending()
    engine.calls.clear()

    killed("before", row.id, tmp_path / "delivered")

    assert not (tmp_path / "delivered").exists()
    with pytest.raises(Aborted):
        send(row.id)
    assert engine.calls == []
    send(row.id, minutes=6)
    assert [call[0] for call in engine.calls] == ["signal_with_start"]


def test_death_between_delivery_and_mark_never_delivers_twice_within_the_hold(
    cast: Any, engine: making.FakeEngine, tmp_path: Path
) -> None:
    row = making.pending()
    engine.calls.clear()

    killed("after", row.id, tmp_path / "delivered")

    assert (tmp_path / "delivered").read_text() == "delivered\n"
    for minutes in (0, 2, 4):
        with pytest.raises(Aborted):
            send(row.id, minutes)
    assert engine.calls == []
    assert SignalClaim.objects.get().status == "CLAIMED"


def test_death_on_the_runner_engine_leaves_nothing_and_the_retry_delivers_once(
    cast: Any, tmp_path: Path
) -> None:
    row = making.pending()

    killed("pull", row.id, tmp_path / "delivered")

    assert not SignalClaim.objects.exists()
    assert not WorkflowInboxEntry.objects.exists()
    send(row.id)
    with pytest.raises(AlreadyExists):
        send(row.id)
    assert WorkflowInboxEntry.objects.count() == 1
