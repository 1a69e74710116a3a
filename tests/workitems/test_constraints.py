"""What PostgreSQL itself refuses, whoever writes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from tests import factories
from tests.workitems.world import nothing_written, rows
from workitems import operations

pytestmark = pytest.mark.django_db
LONG = "repeat('é', 129)"


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def refused(sql: str, constraint: str) -> None:
    """PostgreSQL refuses this by this constraint, and nothing is written."""
    with nothing_written():
        with pytest.raises(IntegrityError) as caught, transaction.atomic():
            run(sql)
        cause: Any = caught.value.__cause__
        assert cause.diag.constraint_name == constraint


@pytest.fixture
def item(cast: Any) -> Any:
    """An active item with one of everything on it."""
    made = factories.open_item(external_key="door-1", key="k")
    operations.append_intent(
        item=made.id, text="Soon", params={"a": 1}, by=factories.act(key="k"),
        now=factories.now(), facts={},
    )  # fmt: skip
    operations.link_surface(
        item=made.id, surface="telegram", external_id="c", actor_external_id="u",
        by=factories.act(), now=factories.now(),
    )  # fmt: skip
    factories.run_of(made, "run-0", "Failed")
    factories.run_of(made, "run-1", "Running")
    return made


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("state = 'resumed'", "work_item_completed_at_exactly_when_terminal"),
        ("waiting_reason = 'input'", "work_item_reason_exactly_when_waiting"),
        ("state = 'waiting'", "work_item_reason_exactly_when_waiting"),
        ("state = 'waiting', waiting_reason = 'lunch'", "work_item_reason_exactly_when_waiting"),
        ("superseded_by = 'wi_x'", "work_item_successor_exactly_when_superseded"),
        (
            "state = 'superseded', completed_at = now()",
            "work_item_successor_exactly_when_superseded",
        ),
        (
            "state = 'superseded', completed_at = now(), superseded_by = id",
            "work_item_never_supersedes_itself",
        ),
        ("state = 'completed'", "work_item_completed_at_exactly_when_terminal"),
        ("completed_at = now()", "work_item_completed_at_exactly_when_terminal"),
        ("state_version = 0", "work_item_version_positive"),
        ("last_event_seq = -1", "work_item_version_positive"),
        ("id = 'wi_other'", "work_item_origin_is_kept"),
        ("organization = 'globex'", "work_item_origin_is_kept"),
        ("owner = 'bob'", "work_item_origin_is_kept"),
        ("visibility = 'private'", "work_item_origin_is_kept"),
        ("origin_surface = 'cli'", "work_item_origin_is_kept"),
        ("title = 'Other'", "work_item_origin_is_kept"),
        ("external_key = ''", "work_item_origin_is_kept"),
        ("created_by = 'bob'", "work_item_origin_is_kept"),
        ("created_at = now() - interval '1 day'", "work_item_origin_is_kept"),
    ],
)
def test_an_items_row_keeps_its_rules(item: Any, change: str, constraint: str) -> None:
    refused(f"UPDATE workitems_workitem SET {change}", constraint)


@pytest.mark.parametrize(
    ("column", "value", "constraint"),
    [
        ("title", "''", "work_item_title_bytes"),
        ("title", LONG, "work_item_title_bytes"),
        ("external_key", "repeat('é', 257)", "work_item_external_key_bytes"),
        ("visibility", "'secret'", "work_item_visibility_known"),
        ("origin_surface", "'Chat'", "work_item_origin_surface_form"),
        ("state", "'open'", "work_item_completed_at_exactly_when_terminal"),
        ("external_key", "'door-1'", "work_item_external_key_open"),
    ],
)
def test_a_new_item_is_checked(item: Any, column: str, value: str, constraint: str) -> None:
    kept = {
        "organization": "'acme'", "owner": "'alice'", "visibility": "'tenant'",
        "origin_surface": "'api'", "title": "'x'", "external_key": "''", "state": "'active'",
        "waiting_reason": "''", "state_version": "1", "created_by": "'alice'",
        "created_at": "now()", "updated_at": "now()", "last_event_seq": "0", "id": "'wi_new'",
    } | {column: value}  # fmt: skip

    refused(
        f"INSERT INTO workitems_workitem ({', '.join(kept)}) VALUES ({', '.join(kept.values())})",
        constraint,
    )


@pytest.mark.parametrize("action", ["complete", "supersede", "archive"])
@pytest.mark.parametrize("state", ["active", "completed", "archived"])
def test_a_terminal_state_is_final(cast: Any, action: str, state: str) -> None:
    ended = factories.ended_item(action=action)
    if ended.state == state:
        return
    done = "NULL" if state == "active" else "now()"

    refused(
        f"UPDATE workitems_workitem SET state = '{state}', completed_at = {done}, "
        f"superseded_by = NULL WHERE id = '{ended.id}'",
        "work_item_terminal_is_final",
    )


def test_an_item_is_never_deleted_save_by_a_purge(item: Any) -> None:
    refused("DELETE FROM workitems_workitem", "work_item_is_never_deleted")

    run("SET LOCAL stigmer.purge = 'on'")
    run("DELETE FROM workitems_workitem")

    for table in ("event", "intent", "execution", "title"):
        assert rows(f"SELECT count(*) FROM workitems_workitem{table}") == [(0,)]
    for table in ("surfaceref", "createrequest", "itemrequest"):
        assert rows(f"SELECT count(*) FROM workitems_{table}") == [(0,)]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE workitems_workitemevent SET actor = 'bob'",
        "UPDATE workitems_workitemevent SET seq = seq + 100",
        "DELETE FROM workitems_workitemevent",
    ],
)
def test_events_are_append_only(item: Any, sql: str) -> None:
    refused(sql, "work_item_event_is_history")


@pytest.mark.parametrize(
    ("column", "value", "constraint"),
    [
        ("seq", "0", "work_item_event_seq_positive"),
        ("seq", "1", "workitems_workitemevent_pkey"),
        ("kind", "'renamed'", "work_item_event_kind_known"),
        ("from_state", "'resumed'", "work_item_event_from_state_known"),
        ("to_state", "'resumed'", "work_item_event_to_state_known"),
        ("surface", "'Chat'", "work_item_event_surface_form"),
        ("request_id", LONG, "work_item_event_request_id_bytes"),
        ("detail", "'[]'", "work_item_event_detail_object"),
    ],
)
def test_an_event_is_checked(item: Any, column: str, value: str, constraint: str) -> None:
    kept = {
        "work_item": f"'{item.id}'", "seq": "99", "kind": "'resumed'", "actor": "'alice'",
        "surface": "'api'", "request_id": "''", "detail": "'{}'", "created_at": "now()",
    } | {column: value}  # fmt: skip

    refused(
        f"INSERT INTO workitems_workitemevent ({', '.join(kept)}) "
        f"VALUES ({', '.join(kept.values())})",
        constraint,
    )


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("text = ''", "work_item_intent_text_bytes"),
        ("text = repeat('é', 4097)", "work_item_intent_text_bytes"),
        ("surface = 'x y'", "work_item_intent_surface_form"),
        ("params = '[]'", "work_item_intent_params_object"),
        ("params = 'null'", "work_item_intent_params_object"),
        ("text = NULL", "work_item_intent_redacted_whole"),
    ],
)
def test_an_intent_keeps_its_rules(item: Any, change: str, constraint: str) -> None:
    refused(f"UPDATE workitems_workitemintent SET {change}", constraint)


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("engine = 'cron'", "work_item_execution_engine_known"),
        ("phase = 'Lost'", "work_item_execution_phase_known"),
        ("engine_ref = ''", "work_item_execution_ref_bytes"),
        (f"engine_ref = {LONG}", "work_item_execution_ref_bytes"),
        ("engine_ref = 'run-0'", "work_item_execution_once"),
        ("attempt = 0", "work_item_execution_attempt_positive"),
        ("attempt = 1", "work_item_execution_attempt"),
        ("ended_at = now()", "work_item_execution_ended_exactly_when_terminal"),
        ("phase = 'Failed'", "work_item_execution_ended_exactly_when_terminal"),
    ],
)
def test_an_execution_keeps_its_rules(item: Any, change: str, constraint: str) -> None:
    refused(f"UPDATE workitems_workitemexecution SET {change} WHERE attempt = 2", constraint)


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_the_end_of_an_execution_is_final(item: Any, phase: str) -> None:
    ended = "NULL" if phase == "Running" else "now()"

    refused(
        f"UPDATE workitems_workitemexecution SET phase = '{phase}', ended_at = {ended} "
        "WHERE attempt = 1",
        "work_item_execution_end_is_final",
    )


def test_one_execution_is_open_at_a_time(item: Any) -> None:
    refused(
        f"""INSERT INTO workitems_workitemexecution
        (id, work_item, engine, engine_ref, attempt, phase, started_at)
        VALUES ('we_x', '{item.id}', 'argo', 'r', 3, 'Pending', now())""",
        "work_item_execution_one_open",
    )


@pytest.mark.parametrize(
    ("sql", "constraint"),
    [
        ("surfaceref SET external_id = ''", "surface_ref_external_id_bytes"),
        (f"surfaceref SET external_id = {LONG}", "surface_ref_external_id_bytes"),
        (f"surfaceref SET actor_external_id = {LONG}", "surface_ref_actor_bytes"),
        ("surfaceref SET surface = 'X'", "surface_ref_surface_form"),
        ("createrequest SET idempotency_key = ''", "create_request_key_bytes"),
        ("createrequest SET idempotency_key = repeat('x', 513)", "create_request_key_bytes"),
        ("itemrequest SET idempotency_key = ''", "item_request_key_bytes"),
        ("itemrequest SET idempotency_key = repeat('x', 513)", "item_request_key_bytes"),
    ],
)
def test_references_and_keys_keep_their_rules(item: Any, sql: str, constraint: str) -> None:
    refused(f"UPDATE workitems_{sql}", constraint)


def test_every_foreign_key_that_cascades_leads_an_index() -> None:
    unserved = rows(
        """SELECT c.conrelid::regclass::text, c.conname FROM pg_constraint c
        WHERE c.contype = 'f' AND c.confdeltype = 'c'
          AND c.conrelid::regclass::text LIKE 'workitems_%'
          AND NOT EXISTS (
            SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indpred IS NULL
              AND i.indkey[0] = c.conkey[1])"""
    )
    cascading = rows(
        """SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND confdeltype = 'c'
        AND conrelid::regclass::text LIKE 'workitems_%'"""
    )

    assert (unserved, cascading) == ([], [(7,)])
