"""Retention: what is old goes in batches, what is open stays, a killed run is finished later."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from stigmer.background import sweeps
from stigmer.background.models import SweepRun
from tests import factories
from tests.factories import act, ended_item, found_item, open_item, run_of, waiting_item
from workitems import operations
from workitems.models import (
    CreateRequest,
    ItemRequest,
    SurfaceRef,
    WorkItem,
    WorkItemEvent,
    WorkItemExecution,
    WorkItemIntent,
    WorkItemTitle,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cast")]
LONG_AGO = timedelta(days=400)
A_QUARTER_AGO = timedelta(days=100)
TABLES = (
    WorkItem, WorkItemTitle, WorkItemEvent, WorkItemIntent, WorkItemExecution, SurfaceRef,
    CreateRequest, ItemRequest,
)  # fmt: skip


def ago(age: timedelta) -> datetime:
    return timezone.now() - age


def intent_on(item: str, age: timedelta, params: dict[str, Any] | None = None) -> int:
    return operations.append_intent(
        item=item, text="Call Mrs. Ström", params=params, by=act(), now=ago(age), facts={}
    ).intent.id


def link_on(item: str, age: timedelta) -> None:
    operations.link_surface(
        item=item, surface="telegram", external_id=f"chat-{age.days}", actor_external_id="",
        by=act(), now=ago(age),
    )  # fmt: skip


def run_retention(**more: Any) -> dict[str, int]:
    sweep = sweeps.find("workitems.sweep_retention")
    assert sweep is not None
    return dict(sweeps.run(sweep, now=timezone.now(), rest=0, **more).counts)


def test_redacts_old_intents_and_keeps_young_ones(as_: Callable[[str], Any]) -> None:
    item = open_item()
    old = intent_on(item.id, A_QUARTER_AGO, {"to": "ström"})
    young = intent_on(item.id, timedelta(days=80), {"to": "ström"})

    counts = run_retention()

    assert counts["intents"] == 1
    shown = as_("alice").get(f"/work-items/{item.id}/intents/{old}").json()["intent"]
    assert (shown["text"], shown["text_redacted"], shown["params"]) == ("", True, None)
    kept = as_("alice").get(f"/work-items/{item.id}/intents/{young}").json()["intent"]
    assert (kept["text_redacted"], kept["params"]) == (False, {"to": "ström"})


def test_forgets_surface_references_that_were_not_seen_for_long() -> None:
    item = open_item()
    link_on(item.id, A_QUARTER_AGO)
    link_on(item.id, timedelta(days=80))

    counts = run_retention()

    assert counts["surface references"] == 1
    assert list(SurfaceRef.objects.values_list("external_id", flat=True)) == ["chat-80"]


def test_deletes_items_that_ended_long_ago_with_all_their_rows() -> None:
    item = ended_item(at=ago(LONG_AGO), key="k", external_key="jira:1")
    old = open_item("Old but open", at=ago(LONG_AGO), key="k2")
    WorkItem.objects.filter(pk=item.id).update(completed_at=ago(LONG_AGO))
    link_on(item.id, timedelta(days=1))

    counts = run_retention()

    assert counts["work items"] == 1
    for table in TABLES:
        owner = "pk" if table is WorkItem else "work_item"
        assert not table.objects.filter(**{owner: item.id}).exists(), table
    assert found_item(old.id) == old


def test_open_items_stay_as_they_are_however_old() -> None:
    active = open_item(at=ago(LONG_AGO))
    waiting = waiting_item("Waits", at=ago(LONG_AGO))
    run_of(active)
    before = [found_item(item.id) for item in (active, waiting)]

    run_retention()

    assert [found_item(item.id) for item in (active, waiting)] == before
    assert WorkItemExecution.objects.filter(work_item=active.id).exists()


def test_an_item_outlives_its_successor_and_then_names_none(as_: Callable[[str], Any]) -> None:
    successor = ended_item("The better one")
    item = factories.moved_item(open_item(), "supersede", superseded_by=successor.id)
    WorkItem.objects.filter(pk=successor.id).update(completed_at=ago(LONG_AGO))

    run_retention()

    shown = as_("alice").get(f"/work-items/{item.id}").json()["work_item"]
    assert (shown["state"], shown["superseded_by"]) == ("superseded", None)


@pytest.mark.django_db(transaction=True)
def test_skips_what_is_locked_and_takes_it_the_next_time() -> None:
    item = open_item()
    intent_on(item.id, A_QUARTER_AGO)
    intent_on(item.id, A_QUARTER_AGO)
    first = WorkItemIntent.objects.order_by("id")[:1]

    with transaction.atomic():
        assert WorkItemIntent.objects.filter(pk__in=first).locked()[0].text is not None
        [counts] = factories.race(run_retention)

    assert counts["intents"] == 1
    assert run_retention()["intents"] == 1


def test_a_second_run_finds_nothing() -> None:
    item = open_item()
    intent_on(item.id, A_QUARTER_AGO)
    run_retention()

    assert set(run_retention().values()) == {0}


def test_history_is_not_deleted_without_a_purge() -> None:
    item = ended_item(at=ago(LONG_AGO))

    with pytest.raises(IntegrityError, match="only retention deletes"), transaction.atomic():
        WorkItem.objects.filter(pk=item.id).delete()
    with pytest.raises(IntegrityError, match="append only"), transaction.atomic():
        WorkItemEvent.objects.filter(work_item=item.id).delete()

    assert WorkItemEvent.objects.filter(work_item=item.id).count() == item.last_event_seq


@pytest.mark.django_db(transaction=True)
def test_the_purge_setting_ends_with_its_transaction() -> None:
    item = ended_item(at=ago(LONG_AGO))
    run_retention()

    with pytest.raises(IntegrityError, match="only retention deletes"):
        WorkItem.objects.filter(pk=item.id).delete()


# The purge of deleted organizations ---------------------------------------------------------------


def test_a_deleted_organization_is_invisible_at_once_and_gone_after_the_purge(
    as_: Callable[[str], Any],
) -> None:
    item = ended_item(tenant="acme")
    assert as_("alice").delete("/organizations/acme").status_code == 204

    for name in ("alice", "root"):
        assert as_(name).get(f"/work-items/{item.id}").status_code == 404, name
    assert as_("root").get("/work-items?state=completed").json()["items"] == []
    assert WorkItem.objects.filter(pk=item.id).exists()

    sweeps.run_named(sweeps.PURGE, now=timezone.now())

    assert not WorkItem.objects.filter(organization="acme").exists()
    assert not WorkItemEvent.objects.filter(work_item=item.id).exists()
    assert SweepRun.objects.get(name=sweeps.PURGE).counts["work items"] == 1


def test_the_purge_leaves_live_organizations_alone() -> None:
    item = ended_item(tenant="acme")

    sweeps.run_named(sweeps.PURGE, now=timezone.now())

    assert found_item(item.id) == item


# Killed at any point ------------------------------------------------------------------------------


def _sweep_in_a_process() -> None:
    # The parent's session is the parent's; psycopg does not end it from another process.
    connection.connection = None
    sweeps.BATCH = 1
    sweep = sweeps.find("workitems.sweep_retention")
    assert sweep is not None
    # Long rests: there is still something to kill the twentieth time, however fast the machine.
    sweeps.run(sweep, now=timezone.now(), rest=8)


def _start() -> multiprocessing.process.BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=_sweep_in_a_process)
    process.start()
    return process


@pytest.mark.faults
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.django_db(transaction=True)
def test_killed_twenty_times_it_ends_as_one_clean_run() -> None:
    kept = [open_item(f"Kept {n}", at=ago(LONG_AGO)) for n in range(5)]
    for number in range(150):
        item = ended_item(f"Old {number}", at=ago(LONG_AGO), external_key=f"old:{number}")
        WorkItem.objects.filter(pk=item.id).update(completed_at=ago(LONG_AGO))
        intent_on(kept[number % 5].id, A_QUARTER_AGO)
    random.seed(7)

    for _ in range(20):
        process, runs = _start(), SweepRun.objects.count()
        while SweepRun.objects.count() == runs and process.is_alive():
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.08))
        process.kill()
        process.join()
        _no_half_items()

    assert SweepRun.objects.filter(ended_at=None).count() == 1, "the kills came too late"
    last = _start()
    last.join(60)
    assert last.exitcode == 0
    assert SweepRun.objects.filter(error="interrupted").count() >= 10
    assert WorkItem.objects.count() == len(kept)
    assert not WorkItemIntent.objects.exclude(text=None).exists()
    assert [found_item(item.id).state for item in kept] == ["active"] * 5
    assert SweepRun.objects.order_by("-id")[0].error == ""


def _no_half_items() -> None:
    """No row hangs on an item that is gone, and no item lost a part of its history."""
    for table in TABLES[1:]:
        assert not table.objects.exclude(work_item__in=WorkItem.objects.values("pk")).exists()
    for item in WorkItem.objects.all():
        assert WorkItemEvent.objects.filter(work_item=item.pk).count() == item.last_event_seq
