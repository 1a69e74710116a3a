"""Each invariant holds for what the operations write, and is seen broken when it is broken."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.factories import Doors
from workitems import integrity

pytestmark = pytest.mark.django_db

ITEM = "UPDATE workitems_workitem SET"
EVENT = "UPDATE workitems_workitemevent SET"
RUN = "UPDATE workitems_workitemexecution SET"


def loose(table: str, constraint: str) -> str:
    return f"ALTER TABLE workitems_{table} DROP CONSTRAINT {constraint}"


# What breaks it, and what the command then names; {done}, {open}, {old} and {new} are items.
BREAKS: dict[str, tuple[list[str], str]] = {
    "the version counts the events that moved the state": (
        [f"{ITEM} state_version = 9 WHERE id = '{{open}}'"], "{open}",
    ),
    "events count from 1 to last_event_seq without gaps": (
        ["DELETE FROM workitems_workitemevent WHERE work_item = '{open}' AND seq = 2"], "{open}",
    ),
    "the first event and no other is the create": (
        [f"{EVENT} kind = 'created' WHERE work_item = '{{open}}' AND seq = 2"], "{open} 2",
    ),
    "each event starts in the state that the one before left": (
        [f"{EVENT} from_state = 'waiting' WHERE work_item = '{{done}}' AND to_state = 'completed'"],
        "{done}",
    ),
    "the last event that moved the state tells the item's state": (
        [f"{ITEM} state = 'archived' WHERE id = '{{done}}'"], "{done}",
    ),
    "nothing moves a terminal item": (
        [f"{EVENT} from_state = 'completed' WHERE work_item = '{{done}}' AND to_state IS NOT NULL"],
        "{done}",
    ),
    "one open item has an external key": (
        ["DROP INDEX work_item_external_key_open",
         f"{ITEM} external_key = 'same' WHERE id IN ('{{open}}', '{{new}}')"], "{new}",
    ),
    "an item is completed exactly when it is terminal": (
        [loose("workitem", "work_item_completed_at_exactly_when_terminal"),
         f"{ITEM} completed_at = NULL WHERE id = '{{done}}'"], "{done}",
    ),
    "an item has a reason exactly when it waits": (
        [loose("workitem", "work_item_reason_exactly_when_waiting"),
         f"{ITEM} waiting_reason = 'input' WHERE id = '{{open}}'"], "{open}",
    ),
    "an item has a successor exactly when it is superseded": (
        [loose("workitem", "work_item_successor_exactly_when_superseded"),
         f"{ITEM} superseded_by = NULL WHERE id = '{{old}}'"], "{old}",
    ),
    "a successor is of the same organization": (
        [f"{ITEM} organization = 'globex' WHERE id = '{{new}}'"], "{old}",
    ),
    "no event names a successor": (
        [f"{EVENT} detail = '{{{{\"to\": \"{{new}}\"}}}}' WHERE work_item = '{{old}}' AND seq = 2"],
        "{old} 2",
    ),
    "time goes forward": (
        [f"{ITEM} completed_at = created_at - interval '1 day' WHERE id = '{{done}}'"], "{done}",
    ),
    "an open item is of a live organization": (
        ["DELETE FROM organizations_organization WHERE slug = 'acme'"], "{open}",
    ),
    "every item can be found by its title": (
        ["DELETE FROM workitems_workitemtitle WHERE work_item = '{open}'"], "{open}",
    ),
    "one execution of an item is open": (
        ["DROP INDEX work_item_execution_one_open",
         f"{RUN} phase = 'Running', ended_at = NULL WHERE work_item = '{{done}}'"], "{done}",
    ),
    "an execution has ended exactly when its phase is terminal": (
        [loose("workitemexecution", "work_item_execution_ended_exactly_when_terminal"),
         f"{RUN} ended_at = NULL WHERE work_item = '{{done}}' AND attempt = 1"], "{run}",
    ),
    "attempts count from 1 without gaps": (
        [f"{RUN} attempt = 4 WHERE work_item = '{{done}}' AND attempt = 2"], "{done}",
    ),
    "an execution continues an earlier one of its item": (
        [f"{RUN} resumed_from = id WHERE id = '{{run}}'"], "{run}",
    ),
    "every execution and every intent has its event": (
        [f"{EVENT} detail = '{{{{}}}}' WHERE work_item = '{{done}}' AND kind = 'resumed'"],
        "we_",
    ),
    "every receipt points to an item": (
        ["DELETE FROM workitems_workitem WHERE id = '{done}'"], "acme done",
    ),
    "every receipt points to what its request made": (
        ["DELETE FROM workitems_workitemintent WHERE work_item = '{open}'"], "{open} asked",
    ),
    "what hangs on an item has its item": (
        ["DELETE FROM workitems_workitem WHERE id = '{done}'"], "workitems_surfaceref {done}",
    ),
}  # fmt: skip


@pytest.fixture
def items(as_: Doors) -> dict[str, str]:
    """Items that have lived: done ran twice, old is superseded by new, open was asked something."""
    alice = as_("alice")

    def opened(key: str) -> str:
        body = {"tenant": "acme", "title": f"Piece of work: {key}"}
        made: str = alice.post("/work-items", json=body, key=key).json()["work_item"]["id"]
        return made

    def sent(method: str, path: str, key: str | None, **body: Any) -> Any:
        answer = alice.send(method, f"/work-items/{path}", json=body, key=key)
        assert answer.status_code in (200, 201), answer.content
        return answer.json()

    made = {name: opened(name) for name in ("done", "old", "new", "open")}
    done, run = made["done"], {"engine": "argo", "engine_ref": "run-1"}
    first = sent("POST", f"{done}/executions", "run", **run)
    sent("POST", f"{done}/executions", "failed", **run, phase="Failed")
    again = {"engine": "argo", "engine_ref": "run-2"}
    sent("POST", f"{done}/resume", "resume", **again, expected_state_version=1)
    sent("POST", f"{done}/executions", "fine", **again, phase="Succeeded")
    sent("POST", f"{done}/surface-refs", None, surface="slack", external_id="C01/1.2")
    sent("PATCH", done, "end", action="complete", expected_state_version=2)
    superseded = {"action": "supersede", "superseded_by": made["new"]}
    sent("PATCH", made["old"], "gone", **superseded, expected_state_version=1)
    sent("POST", f"{made['open']}/intents", "asked", text="Please look at this")
    return {**made, "run": first["execution"]["id"]}


@pytest.fixture
def unguarded(items: dict[str, str]) -> Iterator[Any]:
    """A cursor that no trigger and no foreign key hinders."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield cursor
        cursor.execute("SET LOCAL session_replication_role = origin")


def checked() -> str:
    """What the command says when something is broken."""
    said = StringIO()
    with pytest.raises(CommandError, match="invariants broken"):
        call_command("check_integrity", stdout=said)
    return said.getvalue()


def test_every_invariant_holds_for_what_the_operations_write(items: dict[str, str]) -> None:
    said = StringIO()

    call_command("check_integrity", stdout=said)

    assert said.getvalue() == f"All {len(integrity.INVARIANTS)} invariants hold.\n"


def test_every_invariant_is_broken_by_a_test() -> None:
    assert sorted(BREAKS) == sorted(rule.name for rule in integrity.INVARIANTS)


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_invariant_is_named_with_its_ids(
    name: str, items: dict[str, str], unguarded: Any
) -> None:
    statements, named = BREAKS[name]
    for statement in statements:
        unguarded.execute(statement.format(**items))

    said = checked()

    _, _, told = said.partition(f"BROKEN  {name}: ")
    assert named.format(**items) in told.partition("BROKEN")[0]


def test_tells_how_many_more_there_are(items: dict[str, str], unguarded: Any) -> None:
    unguarded.execute(
        "INSERT INTO workitems_workitemintent (work_item, actor, surface, text, created_at)"
        " SELECT %s, 'alice', 'api', 'unheard', now() FROM generate_series(1, 30)",
        [items["open"]],
    )

    said = checked()

    assert "every execution and every intent has its event: 30" in said
    assert "        and 10 more" in said
