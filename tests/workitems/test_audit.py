"""Each effect and each refusal is one record: ids, and nothing that anybody wrote."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import TestCase
from structlog.testing import capture_logs

from tests import factories

pytestmark = pytest.mark.django_db
WORDS = ("Private words", "chat-77", "user-77", "door-77", "param-77")
RUN = {"engine": "argo", "engine_ref": "r", "phase": "Running"}
CHAT = {"surface": "cli", "external_id": "chat-77", "actor_external_id": "user-77"}


def _records(send: Any, status: int) -> list[dict[str, Any]]:
    """What the domain and the refusals say of a request; nothing of what it carried."""
    with capture_logs() as records, TestCase.captureOnCommitCallbacks(execute=True):
        response = send()
    assert response.status_code == status, response.content
    assert not any(word in str(record) for record in records for word in WORDS)
    return [dict(r) for r in records if r["event"] in ("work_item", "refused", "denied")]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    """The access log, which keeps its records to itself."""
    access = logging.getLogger("stigmer.access")
    caplog.set_level(logging.INFO, access.name)
    access.addHandler(caplog.handler)
    yield caplog
    access.removeHandler(caplog.handler)


def test_each_effect_is_one_record(as_: Any, cast: Any) -> None:
    bob = as_("bob")
    new = {"tenant": "acme", "title": "Private words", "external_key": "door-77"}
    said = {"text": "Private words", "params": {"param-77": "param-77"}}
    made = _records(lambda: bob.post("/work-items", json=new), 201)
    item = made[0]["work_item"]
    path = f"/work-items/{item}"
    resume = {"engine": "argo", "engine_ref": "r2", "expected_state_version": 2}
    sent = [
        ("deduped", lambda: bob.post("/work-items", json=new), 200),
        ("intent_appended", lambda: bob.post(f"{path}/intents", json=said), 201),
        ("surface_linked", lambda: bob.post(f"{path}/surface-refs", json=CHAT), 201),
        ("surface_seen", lambda: bob.post(f"{path}/surface-refs", json=CHAT), 200),
        ("execution_attached", lambda: bob.post(f"{path}/executions", json=RUN), 201),
        (
            "execution_reported",
            lambda: bob.post(f"{path}/executions", json=RUN | {"phase": "Failed"}),
            200,
        ),
        (
            "state_changed",
            lambda: bob.patch(
                path,
                json={"action": "wait", "waiting_reason": "input", "expected_state_version": 1},
            ),
            200,
        ),
        ("resumed", lambda: bob.post(f"{path}/resume", json=resume), 201),
    ]
    assert [one["event_kind"] for one in made] == ["created"]
    for kind, send, status in sent:
        records = _records(send, status)
        assert [one["event_kind"] for one in records] == [kind]
        assert (records[0]["work_item"], records[0]["actor"]) == (item, "bob")


def test_a_replay_and_a_report_of_nothing_new_leave_none(as_: Any, cast: Any) -> None:
    bob, item = as_("bob"), factories.running_item()
    path = f"/work-items/{item.id}"
    bob.post(f"{path}/intents", json={"text": "Private words"}, key="k")

    again = _records(
        lambda: bob.post(f"{path}/intents", json={"text": "Private words"}, key="k"), 200
    )
    same = _records(
        lambda: bob.post(f"{path}/executions", json={"engine": "temporal", "engine_ref": "run-1"}),
        200,
    )

    assert again == same == []


@pytest.mark.parametrize(
    ("who", "path", "body", "status", "code"),
    [
        ("bob", "/intents", {"text": "Private words"}, 409, "invalid_transition"),
        ("bob", "/intents", {"text": "ghp_" + "aB3" * 12}, 400, "secret_in_text"),
        ("bob", "/executions", RUN, 409, "invalid_transition"),
        ("mallory", "/surface-refs", CHAT, 404, "work_item_not_found"),
        ("vera", "/surface-refs", CHAT, 403, "permission_denied"),
    ],
)
def test_each_refusal_is_one_record(
    as_: Any, cast: Any, told: Any, who: str, path: str, body: Any, status: int, code: str
) -> None:
    item, api = factories.ended_item(), as_(who)

    records = _records(lambda: api.post(f"/work-items/{item.id}{path}", json=body), status)

    facts = [record.args for record in told.records if record.name == "stigmer.access"]
    shown = [(one["principal"], one["path"], one["code"]) for one in facts]
    assert shown == [(who, f"/api/v1/work-items/{item.id}{path}", code)]
    assert not any(word in str(facts) + str(records) for word in (*WORDS, "aB3aB3"))
    assert [one["event"] for one in records if one["event"] == "work_item"] == []
