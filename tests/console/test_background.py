"""Background pages: heartbeats, sweeps, periodic tasks."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from stigmer.background import schedule
from stigmer.background.models import SweepRun
from stigmer.background.operations import record_heartbeat
from stigmer.console.ages import age
from tests import factories

pytestmark = pytest.mark.django_db
TASKS = "/console/django_celery_beat/periodictask/"
SWEEP = "/console/background/sweeprun/run/organizations.purge_deleted/"


def content(client: Client, path: str) -> str:
    return str(client.get(path).content.decode())


def test_the_dashboard_tells_a_late_worker_from_a_live_one(root: Client) -> None:
    late = factories.now() - timedelta(hours=2, minutes=3)
    record_heartbeat(sent_at=late, now=late)
    record_heartbeat(sent_at=None, now=factories.now())

    page = content(root, "/console/")

    assert "since the last sign of the beat: late" in page
    assert "2 h 3 min" in page
    assert "since the last sign of the worker</span>" in page


def test_the_dashboard_says_when_nothing_ever_ran(root: Client) -> None:
    assert "never" in content(root, "/console/")


def test_resets_a_task_to_its_declaration(root: Client) -> None:
    schedule.seed(now=factories.now())
    slow, _ = IntervalSchedule.objects.get_or_create(every=9, period="hours")
    PeriodicTask.objects.filter(name="heartbeat").update(interval=slow, enabled=False)
    task = PeriodicTask.objects.get(name="heartbeat")

    answer = root.post(
        TASKS, {"action": "reset_to_declared", "_selected_action": task.pk}, follow=True
    )

    task.refresh_from_db()
    assert "heartbeat: back to its declaration" in answer.content.decode()
    assert (task.enabled, str(task.interval)) == (True, "every 15 seconds")


def test_a_task_of_ones_own_has_nothing_to_reset_to(root: Client) -> None:
    hourly, _ = IntervalSchedule.objects.get_or_create(every=1, period="hours")
    task = PeriodicTask.objects.create(name="mine", task="x.y", interval=hourly, enabled=False)

    answer = root.post(
        TASKS, {"action": "reset_to_declared", "_selected_action": task.pk}, follow=True
    )

    task.refresh_from_db()
    assert "mine: no declaration in the code" in answer.content.decode()
    assert not task.enabled


def test_the_reset_needs_the_permission(signed_in: Callable[..., Client]) -> None:
    schedule.seed(now=factories.now())
    PeriodicTask.objects.filter(name="heartbeat").update(enabled=False)
    task = PeriodicTask.objects.get(name="heartbeat")
    staff = signed_in("vera", "django_celery_beat.view_periodictask")

    staff.post(TASKS, {"action": "reset_to_declared", "_selected_action": task.pk})

    task.refresh_from_db()
    assert not task.enabled


def test_a_form_switches_a_task_off_and_keeps_its_name(root: Client) -> None:
    schedule.seed(now=factories.now())
    task = PeriodicTask.objects.get(name="heartbeat")

    answer = root.post(
        f"{TASKS}{task.pk}/change/",
        {"interval": task.interval_id, "expire_seconds": "30", "name": "other", "task": "other"},
    )

    task.refresh_from_db()
    assert answer.status_code == 302
    assert (task.enabled, task.name, task.task) == (False, "heartbeat", "stigmer.heartbeat")


def test_no_task_is_added_or_deleted(root: Client) -> None:
    schedule.seed(now=factories.now())
    task = PeriodicTask.objects.get(name="heartbeat")

    assert root.get(f"{TASKS}add/").status_code == 403
    assert root.post(f"{TASKS}{task.pk}/delete/", {"post": "yes"}).status_code == 403
    assert PeriodicTask.objects.filter(pk=task.pk).exists()


def test_the_dashboard_shows_the_last_run_of_every_sweep(
    root: Client, django_assert_max_num_queries: Any
) -> None:
    now = factories.now()
    for ago, error in ((timedelta(days=1), ""), (timedelta(hours=5), "boom")):
        SweepRun.objects.create(
            name="workitems.sweep_retention",
            started_at=now - ago,
            ended_at=now - ago,
            cutoff=now,
            error=error,
        )

    with django_assert_max_num_queries(9):
        page = content(root, "/console/")

    shown = page[page.index("<caption>Sweeps") :]
    assert "workitems.sweep_retention" in shown
    assert "5 h" in shown
    assert "failed" in shown
    assert "1 d" not in shown
    assert "never" in shown[: shown.index("workitems.sweep_retention")]


def test_shows_what_came_of_a_sweep(root: Client) -> None:
    now = factories.now()
    run = SweepRun.objects.create(
        name="organizations.purge_deleted",
        started_at=now,
        ended_at=now + timedelta(seconds=61),
        cutoff=now,
        counts={"items": 7},
        error="<b>boom</b>",
    )

    page = content(root, "/console/background/sweeprun/")
    detail = content(root, f"/console/background/sweeprun/{run.pk}/change/")

    assert "1 min 1 s" in page
    assert "items 7" in page
    assert "&lt;b&gt;boom&lt;/b&gt;" in detail


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks that were nudged."""
    names: list[str] = []
    monkeypatch.setattr("stigmer.console.admin.nudge", lambda name, **_: names.append(name))
    return names


def test_asks_the_worker_for_a_sweep(root: Client, asked: list[str]) -> None:
    answer = root.post(SWEEP, follow=True)

    assert "the worker was asked" in answer.content.decode()
    assert asked == ["organizations.purge_deleted"]


def test_an_unknown_sweep_is_no_page(root: Client, asked: list[str]) -> None:
    assert root.post("/console/background/sweeprun/run/x/").status_code == 404
    assert asked == []


def test_running_a_sweep_needs_its_permission(
    signed_in: Callable[..., Client], asked: list[Any]
) -> None:
    staff = signed_in("vera", "background.view_sweeprun")

    assert staff.post(SWEEP).status_code == 403
    assert "Run organizations.purge_deleted" not in content(staff, "/console/background/sweeprun/")
    assert asked == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (0.9, "0 s"), (59, "59 s"), (3601, "1 h 1 s"), (93784, "1 d 2 h")],
)
def test_an_age_has_two_units_at_most(seconds: float, text: str) -> None:
    assert age(timedelta(seconds=seconds)) == text
