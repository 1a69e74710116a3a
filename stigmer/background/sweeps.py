"""The frame of every sweep: small batches, one run at a time, each run on record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from zlib import crc32

import structlog
from django.conf import settings
from django.db import connection
from django.utils import timezone

from stigmer.background.models import SweepRun
from stigmer.core.errors import Conflict

log = structlog.get_logger("stigmer.sweeps")

BATCH = 1000
_LOCK_CLASS = 0x5EE9
_LONGEST_REST = 1.0


class SweepRunning(Conflict):
    """This sweep is running already.

    One run at a time; the one that runs does all that is due.
    """

    code = "sweep_running"


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of row that a sweep takes.

    `batch(cutoff, size)` takes at most `size` rows in one short transaction of its own, skips what
    is locked, and answers how many it took; `count(cutoff)` answers how many there are to take.
    `days` names the setting with the age in days; without one, everything that is due is taken.
    """

    what: str
    batch: Callable[[datetime, int], int]
    count: Callable[[datetime], int]
    days: str | None = None

    def cutoff(self, now: datetime, older_than: int | None) -> datetime:
        """What is older than this is taken."""
        if self.days is None:
            return now
        days = older_than if older_than is not None else int(getattr(settings, self.days))
        return now - timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A named sequence of steps."""

    name: str
    about: str
    steps: Callable[[], tuple[Step, ...]]


_SWEEPS: dict[str, Sweep] = {}

# (sweep name, what, taken so far, to take in all or None)
Progress = Callable[[str, str, int, int | None], None]


def register(sweep: Sweep) -> None:
    """Make a sweep known to the worker, the command and the console; apps call it when ready."""
    _SWEEPS[sweep.name] = sweep


PURGE = "organizations.purge_deleted"
_PURGES: dict[str, Step] = {}


def purges(step: Step) -> None:
    """Let the purge take what deleted organizations left in an app; apps call it when ready."""
    _PURGES[step.what] = step


register(
    Sweep(
        PURGE,
        "Deletes what deleted organizations left.",
        lambda: tuple(_PURGES.values()),
    )
)


def known() -> tuple[Sweep, ...]:
    """Every sweep, by name."""
    return tuple(_SWEEPS[name] for name in sorted(_SWEEPS))


def find(name: str) -> Sweep | None:
    """The sweep of this name, or None."""
    return _SWEEPS.get(name)


def preview(sweep: Sweep, *, now: datetime, older_than: int | None = None) -> dict[str, int]:
    """How many rows of each kind a run would take now."""
    return {step.what: step.count(step.cutoff(now, older_than)) for step in sweep.steps()}


def run(
    sweep: Sweep,
    *,
    now: datetime,
    older_than: int | None = None,
    rest: float = 1.0,
    progress: Progress | None = None,
) -> SweepRun:
    """Take everything that is due, batch by batch, and record the run.

    Between batches it rests `rest` times as long as the batch took (at most one second), so that
    requests keep the machine. Killed anywhere, it leaves whole batches; the next run goes on.
    Raises SweepRunning while another run holds the sweep.
    """
    steps = sweep.steps()
    cutoffs = {step.what: step.cutoff(now, older_than) for step in steps}
    with _alone(sweep.name):
        _close_interrupted(sweep.name, now)
        record = SweepRun.objects.create(
            name=sweep.name,
            started_at=now,
            cutoff=min(cutoffs.values(), default=now),
            counts={step.what: 0 for step in steps},
        )
        try:
            for step in steps:
                _take(record, step, cutoffs[step.what], rest, progress)
        except BaseException as cause:
            _finish(record, error=f"{type(cause).__name__}: {cause}"[:1000])
            raise
        _finish(record)
    log.info("sweep", name=sweep.name, **record.counts)
    return record


def run_named(name: str, *, now: datetime) -> None:
    """What a worker does: run the sweep, or leave it to the run that has it."""
    sweep = _SWEEPS[name]
    try:
        run(sweep, now=now)
    except SweepRunning:
        log.info("sweep_running", name=name)


def _take(
    record: SweepRun, step: Step, cutoff: datetime, rest: float, progress: Progress | None
) -> None:
    total = step.count(cutoff) if progress else None
    while True:
        began = time.monotonic()
        taken = step.batch(cutoff, BATCH)
        if not taken:
            return
        record.counts[step.what] += taken
        record.save(update_fields=["counts"])
        if progress:
            progress(record.name, step.what, record.counts[step.what], total)
        time.sleep(min(_LONGEST_REST, rest * (time.monotonic() - began)))


def _finish(record: SweepRun, error: str = "") -> None:
    record.ended_at = _clock()
    record.error = error
    record.save(update_fields=["ended_at", "error", "counts"])


def _clock() -> datetime:
    """The end of a run is when it ended, not when its door opened."""
    return timezone.now()


def _close_interrupted(name: str, now: datetime) -> None:
    """Whoever holds the lock is alone, so a run without an end was killed."""
    SweepRun.objects.filter(name=name, ended_at=None).update(ended_at=now, error="interrupted")


@contextmanager
def _alone(name: str) -> Iterator[None]:
    key = crc32(name.encode()) - 2**31
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [_LOCK_CLASS, key])
        if not cursor.fetchone()[0]:
            raise SweepRunning(f"{name} is running already", sweep=name)
    try:
        yield
    finally:
        # A dead connection has given the lock back already.
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [_LOCK_CLASS, key])
