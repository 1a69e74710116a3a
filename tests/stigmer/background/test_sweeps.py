"""The frame of sweeps: batches, one run at a time, the record, interruption."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from stigmer.background import sweeps
from stigmer.background.models import SweepRun

pytestmark = pytest.mark.django_db


class Pile:
    """Rows to take that need no table."""

    def __init__(self, rows: int, fail_after: int | None = None) -> None:
        self.rows, self.fail_after = rows, fail_after
        self.cutoffs: list[datetime] = []

    def batch(self, cutoff: datetime, size: int) -> int:
        self.cutoffs.append(cutoff)
        if self.fail_after is not None and len(self.cutoffs) > self.fail_after:
            raise RuntimeError("the disk is full")
        taken = min(size, self.rows)
        self.rows -= taken
        return taken

    def sweep(self, days: str | None = None) -> sweeps.Sweep:
        step = sweeps.Step("rows", self.batch, lambda cutoff: self.rows, days)
        return sweeps.Sweep("test.pile", "A pile.", lambda: (step,))


def test_takes_everything_in_batches_and_records_the_run() -> None:
    pile = Pile(2500)

    record = sweeps.run(pile.sweep(), now=timezone.now(), rest=0)

    assert pile.rows == 0
    assert len(pile.cutoffs) == 4  # three batches and the empty look that ends it
    kept = SweepRun.objects.get()
    assert (kept.name, kept.counts, kept.error) == ("test.pile", {"rows": 2500}, "")
    assert record.ended_at is not None


def test_the_cutoff_is_the_configured_age(settings: object) -> None:
    settings.WORKITEM_RETENTION_DAYS = 10  # type: ignore[attr-defined]
    pile, now = Pile(1), timezone.now()

    sweeps.run(pile.sweep("WORKITEM_RETENTION_DAYS"), now=now, rest=0)
    sweeps.run(pile.sweep("WORKITEM_RETENTION_DAYS"), now=now, older_than=3, rest=0)

    assert {now - cutoff for cutoff in pile.cutoffs} == {timedelta(days=10), timedelta(days=3)}


def test_a_failure_is_on_record_and_frees_the_sweep() -> None:
    with pytest.raises(RuntimeError):
        sweeps.run(Pile(5000, fail_after=2).sweep(), now=timezone.now(), rest=0)

    kept = SweepRun.objects.get()
    assert kept.error == "RuntimeError: the disk is full"
    assert kept.counts == {"rows": 2000}
    assert kept.ended_at is not None
    sweeps.run(Pile(1).sweep(), now=timezone.now(), rest=0)


def test_the_next_run_closes_one_that_was_killed() -> None:
    SweepRun.objects.create(name="test.pile", started_at=timezone.now(), cutoff=timezone.now())

    sweeps.run(Pile(0).sweep(), now=timezone.now(), rest=0)

    assert set(SweepRun.objects.values_list("error", flat=True)) == {"interrupted", ""}


@pytest.mark.django_db(transaction=True)
def test_a_second_run_is_refused_while_one_runs() -> None:
    started, may_end = threading.Event(), threading.Event()

    def slow(cutoff: datetime, size: int) -> int:
        started.set()
        may_end.wait(10)
        return 0

    def first() -> None:
        step = sweeps.Step("rows", slow, lambda cutoff: 0)
        sweeps.run(sweeps.Sweep("test.pile", "", lambda: (step,)), now=timezone.now(), rest=0)
        connection.close()

    thread = threading.Thread(target=first)
    thread.start()
    started.wait(10)
    pile = Pile(1)

    with pytest.raises(sweeps.SweepRunning):
        sweeps.run(pile.sweep(), now=timezone.now(), rest=0)

    may_end.set()
    thread.join()
    assert pile.rows == 1
    assert SweepRun.objects.count() == 1


def test_the_command_names_the_sweeps_it_knows_when_it_does_not_know_one() -> None:
    with pytest.raises(CommandError, match=r"organizations\.purge_deleted"):
        call_command("sweep", "nonsense")


def test_the_command_runs_every_sweep_and_shows_a_table() -> None:
    out = StringIO()

    call_command("sweep", stdout=out)

    assert "workitems.sweep_retention" in out.getvalue()
    assert SweepRun.objects.filter(name="organizations.purge_deleted", error="").exists()


def test_a_dry_run_takes_nothing() -> None:
    call_command("sweep", "--dry-run", stdout=StringIO())

    assert not SweepRun.objects.exists()
