"""Bootstrap: a pack is loaded once, whole or not at all, and ends the same after any crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from resources.management.commands.bootstrap import EXAMPLE
from resources.models import BootstrapState, Resource, ResourceVersion
from resources.operations import bootstrap, states
from resources.queries.states import all_states, get_state
from resources.specs.packs import Pack, read_pack
from stigmer.core.callers import system_act
from stigmer.core.errors import InvalidRequest
from tests import factories

pytestmark = pytest.mark.django_db
PACK = """
name: small
version: "{version}"
organization: acme
resources:
  - kind: Team
    metadata: {{name: Blue team, labels: {{colour: blue}}}}
    spec: {{size: {size}}}
  - kind: Environment
    metadata: {{name: Settings}}
    spec:
      variables:
        TOKEN: {{value: s3cret, secret: true}}
"""


def small(version: str = "1", size: int = 3) -> Pack:
    return read_pack(PACK.format(version=version, size=size))


def load(pack: Pack) -> bootstrap.Report:
    return bootstrap.load_pack(pack=pack, by=system_act(), now=factories.now())


@pytest.fixture
def demo(cast: Any) -> str:
    return factories.make_organization("demo", "alice")


# State --------------------------------------------------------------------------------------------


def test_state_is_set_got_listed_and_forgotten(cast: Any) -> None:
    assert get_state("a") == ""
    states.set_state(key="b", value="1", now=factories.now())
    states.set_state(key="a", value="2", now=factories.now())
    states.set_state(key="b", value="3", now=factories.now())
    assert (get_state("b"), all_states()) == ("3", {"a": "2", "b": "3"})

    states.delete_state(key="a")
    states.delete_state(key="a")
    assert all_states() == {"b": "3"}

    states.clear_states()
    assert all_states() == {}


# Packs --------------------------------------------------------------------------------------------


def test_a_pack_creates_changes_and_leaves_alone(cast: Any) -> None:
    first = load(small("1"))
    second = load(small("1"))
    third = load(small("2"))
    fourth = load(small("3", size=4))

    both = [("Team", "blue-team"), ("Environment", "settings")]
    assert (first.loaded, first.created) == (True, both)
    assert (second.loaded, second.created, second.left_alone) == (False, [], [])
    assert (third.loaded, third.created, third.left_alone) == (True, [], both)
    assert (fourth.changed, fourth.left_alone) == (both[:1], both[1:])
    versions = Resource.objects.order_by("kind").values_list("resource_version", flat=True)
    assert list(versions) == [1, 2]
    assert set(Resource.objects.values_list("created_by", flat=True)) == {"service:stigmer"}


def test_a_pack_that_fails_leaves_nothing_and_is_not_recorded(cast: Any) -> None:
    pack = small()
    pack.resources[1].spec["variables"]["TOKEN"] = {"secret": True}

    with pytest.raises(InvalidRequest) as refused:
        load(pack)

    assert refused.value.pointer == "/resources/1/spec/variables/TOKEN/value"
    assert not Resource.objects.exists()
    assert all_states() == {}
    assert load(small()).loaded


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("name: x", "/version"),
        ("[]", ""),
        ("name: [", ""),
        ("name: a\nname: b", ""),
        (PACK.format(version="1", size=1).replace("Team", "team"), "/resources/0/kind"),
        (PACK.format(version="1", size=1).replace("Team", "WorkflowExecution"),
         "/resources/0/kind"),
        (PACK.format(version="1", size=1).replace("{name: Settings", "{org: x, name: Settings"),
         "/resources/1/metadata/org"),
        (PACK.format(version="1", size="ref:Team/none"), "/resources/0"),
        (PACK.format(version="1", size="ref:Nope/none"), "/resources/0/kind"),
        (PACK.format(version="1", size="1").replace('"1"', "1"), "/version"),
        (PACK.format(version="1", size="{1: x}"), "/resources/0/spec/size"),
        (PACK.format(version="1", size=".inf"), "/resources/0/spec/size"),
        (PACK.format(version="1", size=".nan"), "/resources/0/spec/size"),
        (PACK.format(version="1", size=2**53), "/resources/0/spec/size"),
        (PACK.format(version="1", size="!!binary aGVsbG8="), "/resources/0/spec/size"),
        (PACK.format(version="1", size='"\\0"'), "/resources/0/spec/size"),
    ],
)  # fmt: skip
def test_a_fault_in_a_pack_names_the_place(cast: Any, source: str, place: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        load(read_pack(source))

    assert refused.value.pointer == place
    assert not Resource.objects.exists()


def test_a_date_in_a_pack_is_a_text(cast: Any) -> None:
    load(read_pack(PACK.format(version="1", size="2026-01-31")))

    assert Resource.objects.get(kind="team").spec == {"size": "2026-01-31"}


@pytest.mark.django_db(transaction=True)
def test_two_at_once_load_a_pack_once(cast: Any) -> None:
    for version in range(5):
        pack = small(str(version), size=version)
        reports = factories.race(*[lambda p=pack: load(p).loaded] * 2)
        assert sorted(reports) == [False, True]
    assert set(Resource.objects.values_list("kind", "resource_version")) == {
        ("team", 5), ("environment", 1),
    }  # fmt: skip


# The command --------------------------------------------------------------------------------------


def run(**options: Any) -> str:
    out = StringIO()
    call_command("bootstrap", stdout=out, **options)
    return out.getvalue()


def test_the_shipped_pack_is_a_working_example(demo: str) -> None:
    told = run()

    assert "created     Workflow triage" in told
    assert "created     WorkflowInstance triage-of-support-requests" in told
    assert run() == "example 1 was loaded before\n"
    found = {row.kind: row for row in Resource.objects.all()}
    assert set(found) == {"skill", "agent", "environment", "workflow", "workflow_instance"}
    assert found["workflow_instance"].parent == found["workflow"].pk
    environments = found["workflow_instance"].spec["environment_ids"]
    assert environments == [found["environment"].pk]
    types = {task["type"] for task in found["workflow"].spec["tasks"]}
    assert len(types) >= 5


def test_the_first_run_without_the_organization_does_nothing(cast: Any) -> None:
    assert run(first_run=True) == ""
    with pytest.raises(CommandError, match="there is no organization 'demo'"):
        run()
    assert not BootstrapState.objects.exists()


def test_a_file_that_is_no_pack_is_refused(tmp_path: Path, demo: str) -> None:
    path = tmp_path / "pack.yaml"
    path.write_text("name: x")

    with pytest.raises(CommandError, match="is no pack: /version: version is required"):
        run(pack=path)
    with pytest.raises(CommandError, match="cannot be read"):
        run(pack=tmp_path / "none.yaml")


# Killed at any step -------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from django.db import connection
countdown = int(sys.argv[1])
def count(execute, sql, params, many, context):
    global countdown
    countdown -= 1
    if countdown == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(sql, params, many, context)
with connection.execute_wrapper(count):
    call_command("bootstrap")
"""


def killed_at(step: int) -> int:
    """Run the command in a process of its own that is killed before its nth statement."""
    target = connection.settings_dict
    where = urlencode({"host": target["HOST"] or "127.0.0.1", "port": target["PORT"] or 5432})
    environment = {
        **os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"postgresql://{target['USER']}@/{target['NAME']}?{where}",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(step)],
        env=environment, cwd=EXAMPLE.parents[2], capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode


def state() -> list[Any]:
    documents = Resource.objects.order_by("kind", "slug")
    return [
        *documents.values_list("kind", "slug", "name", "resource_version", "labels", "tags"),
        *BootstrapState.objects.values_list("key"),
        ResourceVersion.objects.count(),
    ]


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.parametrize("stride", [17, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.django_db(transaction=True)
def test_killed_at_any_statement_it_ends_the_same(demo: str, stride: int) -> None:
    run()
    expected = state()

    for step in count(1, stride):
        Resource.objects.all().delete()
        states.clear_states()
        code = killed_at(step)
        if code == 0:
            break
        assert (code, state()) == (-signal.SIGKILL, [0]), step
        run()
        assert state() == expected

    assert step > 20
    assert state() == expected
