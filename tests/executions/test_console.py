"""Console pages of executions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from executions.models import WorkflowExecution
from organizations.models import Principal
from tests.executions import making

pytestmark = pytest.mark.django_db
KIND = "executions_workflowexecution"


@pytest.fixture
def signed_in(cast: Any) -> Callable[..., Client]:
    def sign_in(name: str, *permissions: str) -> Client:
        principal = Principal.objects.get(name=name)
        Principal.objects.filter(name=name).update(is_staff=True)
        for codename in permissions:
            found = Permission.objects.get(content_type__app_label="executions", codename=codename)
            principal.user_permissions.add(found)
        client = Client()
        client.force_login(Principal.objects.get(name=name))
        return client

    return sign_in


def page(client: Client, id: str, kind: str = KIND) -> Any:
    return client.get(reverse(f"admin:{kind}_change", args=[id]))


def act(client: Client, name: str, id: str, version: str) -> Any:
    return client.post(
        reverse(f"admin:{KIND}_act", args=[name]), {"row": id, "version": version, "back": "1"}
    )


def test_the_page_shows_tasks_events_signals_and_the_claim(
    signed_in: Callable[..., Client], as_: Any, django_assert_max_num_queries: Any
) -> None:
    held = making.running()
    id = held.execution.id
    making.report(
        held, "", *making.events(7, kind="task_started"),
        tasks=[making.task("<b>build</b>", "FAILED")],
    )  # fmt: skip
    as_("bob").post(f"/workflow-executions/{id}/signals", {"signal_name": "go"}, key="key-1")

    client = signed_in("vera", "view_workflowexecution")

    with django_assert_max_num_queries(12):
        answer = page(client, id)

    shown = answer.content.decode()
    assert answer.status_code == 200
    for text in ("task started", "key-1", making.RUNNER, "&lt;b&gt;build", "signalName"):
        assert text in shown
    assert "<b>build" not in shown
    assert held.token not in shown
    assert WorkflowExecution.objects.get(id=id).claim_digest not in shown


def test_a_list_is_few_statements_and_hides_the_private(
    signed_in: Callable[..., Client], django_assert_max_num_queries: Any
) -> None:
    rows = [making.pending() for _ in range(5)]
    private = making.private(by="bob")
    client = signed_in("vera", "view_workflowexecution")

    with django_assert_max_num_queries(11):
        shown = client.get(reverse(f"admin:{KIND}_changelist")).content.decode()

    assert all(row.id in shown for row in rows)
    assert private.id not in shown
    assert page(client, private.id).status_code == 404
    assert private.id in signed_in("root").get(reverse(f"admin:{KIND}_changelist")).content.decode()


def test_an_action_goes_through_the_operation(signed_in: Callable[..., Client]) -> None:
    row = making.pending()
    client = signed_in("bob", "view_workflowexecution", "change_workflowexecution")

    act(client, "cancel", row.id, "EXECUTION_PENDING")
    again = client.post(
        reverse(f"admin:{KIND}_act", args=["pause"]),
        {"row": row.id, "version": "EXECUTION_CANCELLED"},
    )

    assert making.read(row.id).phase == "EXECUTION_CANCELLED"
    assert "only IN_PROGRESS can be paused" in again.content.decode()


def test_a_stale_page_changes_nothing(signed_in: Callable[..., Client]) -> None:
    held = making.running()
    client = signed_in("root")

    act(client, "cancel", held.execution.id, "EXECUTION_PENDING")

    assert making.read(held.execution.id) == held.execution


def test_the_action_needs_its_permission(signed_in: Callable[..., Client]) -> None:
    row = making.pending()

    answer = act(signed_in("bob", "view_workflowexecution"), "cancel", row.id, row.phase)

    assert answer.status_code == 403
    assert making.read(row.id) == row


def test_agents_have_a_page(signed_in: Callable[..., Client]) -> None:
    row = making.pending_agent()

    answer = page(signed_in("root"), row.id, "executions_agentexecution")

    assert answer.status_code == 200


def test_an_export_is_a_file(signed_in: Callable[..., Client]) -> None:
    row = making.pending()

    answer = signed_in("root").get(reverse(f"admin:{KIND}_export", args=["csv"]))

    assert row.id in b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
