"""Creating executions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from executions.models import AgentExecution, ExecutionRequest, WorkflowExecution
from resources.operations import instances
from tests import factories
from tests.executions import making

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Any]
PATH = "/workflow-executions"
DOWN = "The execution engine is temporarily unavailable. Please try again shortly."


def body(target: str | None = None, **more: Any) -> dict[str, Any]:
    spec = {"workflow_id": target} if target else {}
    return {"metadata": {"org": "acme", **more.pop("metadata", {})}, "spec": {**spec, **more}}


def nothing_written() -> bool:
    return not (WorkflowExecution.objects.exists() or ExecutionRequest.objects.exists())


def test_answers_the_envelope_of_a_pending_execution(as_: As) -> None:
    of = making.workflow()

    answer = as_("bob").post(
        PATH,
        body(of.id, trigger_message="go", input={"a": 1}, metadata={"labels": {"team": "x"}}),
    )

    assert answer.status_code == 201
    made = answer.json()
    assert list(made) == ["api_version", "kind", "metadata", "spec", "status"]
    assert made["api_version"] == "agentic.stigmer.ai/v1"
    assert made["kind"] == "WorkflowExecution"
    assert made["metadata"]["id"].startswith("wfe_")
    assert made["metadata"]["slug"] == made["metadata"]["id"]
    assert made["metadata"]["name"] == "Deploy"
    assert made["metadata"]["labels"] == {"team": "x"}
    assert made["spec"]["workflow_id"] == of.id
    assert made["spec"]["workflow_instance_id"].startswith("win_")
    assert made["spec"]["input"] == {"a": 1}
    assert made["status"]["phase"] == "EXECUTION_PENDING"
    assert made["status"]["started_at"] is None
    assert as_("vera").get(f"{PATH}/{made['metadata']['id']}").json() == made


def test_runs_an_instance_and_takes_over_its_execution_visibility(as_: As) -> None:
    one = making.instance(making.workflow())
    instances.set_execution_visibility(
        id=one.id, visibility="visibility_private", by=factories.act(), now=factories.now()
    )

    answer = as_("bob").post(PATH, body(None, workflow_instance_id=one.id))

    id = answer.json()["metadata"]["id"]
    assert answer.json()["metadata"]["visibility"] == "visibility_private"
    assert as_("bob").get(f"{PATH}/{id}").status_code == 200
    assert as_("root").get(f"{PATH}/{id}").status_code == 200
    refused = as_("alice").get(f"{PATH}/{id}")
    assert refused.status_code == 404
    assert refused.json()["detail"] == f"workflow_execution not found: {id}"
    assert as_("alice").get(PATH).json()["items"] == []


def test_two_executions_share_the_default_instance(as_: As) -> None:
    of = making.workflow()

    made = [as_("bob").post(PATH, body(of.id)).json() for _ in range(2)]

    assert len({one["spec"]["workflow_instance_id"] for one in made}) == 1


@pytest.mark.parametrize(
    ("who", "org", "status", "code"),
    [
        (None, "acme", 401, "unauthenticated"),
        ("mallory", "acme", 404, "organization_not_found"),
        ("bob", "nowhere", 404, "organization_not_found"),
        ("root", "nowhere", 404, "organization_not_found"),
        ("vera", "acme", 403, "permission_denied"),
        ("surface:telegram", "acme", 403, "surface_route_not_allowed"),
        ("bob", "", 400, "invalid_request"),
    ],
)
def test_judges_the_organization_before_the_rest_of_the_body(
    as_: As, who: str | None, org: str, status: int, code: str
) -> None:
    answer = as_(who).post(PATH, {"metadata": {"org": org}, "spec": {"nonsense": 1}})

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert nothing_written()


@pytest.mark.parametrize(
    ("path", "spec", "detail"),
    [
        (PATH, {}, "either workflow_id or workflow_instance_id must be provided"),
        ("/agent-executions", {}, "either agent_id or agent_instance_id must be provided"),
        (
            PATH,
            {"workflow_id": "a", "workflow_instance_id": "b"},
            "only one of workflow_id and workflow_instance_id may be provided",
        ),
    ],
)
def test_needs_exactly_one_target(
    as_: As, no_engine: None, path: str, spec: dict[str, str], detail: str
) -> None:
    answer = as_("bob").post(path, {"metadata": {"org": "acme"}, "spec": spec})

    assert (answer.status_code, answer.json()["detail"]) == (400, detail)
    assert nothing_written()


def test_refuses_a_status(as_: As) -> None:
    answer = as_("bob").post(PATH, {**body(making.workflow().id), "status": {}})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/status"
    assert nothing_written()


def test_a_disconnected_engine_leaves_nothing_behind(as_: As, no_engine: None) -> None:
    answer = as_("bob").post(PATH, body("wfl_unknown"), key="k")

    assert (answer.status_code, answer.json()["code"]) == (503, "engine_unavailable")
    assert answer.json()["detail"] == DOWN
    assert nothing_written()


def test_a_known_key_is_replayed_without_an_engine(as_: As, settings: Any) -> None:
    of = making.workflow()
    first = as_("bob").post(PATH, body(of.id), key="k")
    settings.STIGMER_ENGINE = "none"

    again = as_("bob").post(PATH, body(of.id), key="k")

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert as_("bob").post(PATH, body(of.id), key="other").status_code == 503


def test_spelling_out_a_default_is_the_same_request(as_: As) -> None:
    of = making.workflow()
    first = as_("bob").post(PATH, body(of.id), key="k")

    for spelled in (
        body(of.id, metadata={"labels": {}}),
        body(of.id, metadata={"name": ""}),
        body(of.id, trigger_message="", workflow_instance_id="", execution_target=""),
    ):
        again = as_("bob").post(PATH, spelled, key="k")
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json()


def test_a_key_belongs_to_one_request(as_: As) -> None:
    of = making.workflow()
    as_("bob").post(PATH, body(of.id), key="k")

    other_body = as_("bob").post(PATH, body(of.id, trigger_message="x"), key="k")
    other_actor = as_("alice").post(PATH, body(of.id), key="k")
    other_kind = as_("bob").post(
        "/agent-executions",
        {"metadata": {"org": "acme"}, "spec": {"agent_id": making.agent().id}},
        key="k",
    )

    for answer in (other_body, other_actor, other_kind):
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")
    assert WorkflowExecution.objects.count() == 1
    assert AgentExecution.objects.count() == 0


def test_what_is_elsewhere_is_not_found(as_: As) -> None:
    foreign = making.workflow(org="globex", by="mallory")
    unknown = "wfl_01jzq3v8d4e8kb5w2m6n7p9r0t"

    for id in (foreign.id, unknown, "nonsense"):
        answer = as_("bob").post(PATH, body(id), key="k")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert answer.json()["detail"] == f"resource not found: workflow/{id}"
    assert nothing_written()


def test_what_the_caller_sees_elsewhere_is_not_found_either(as_: As) -> None:
    foreign = making.workflow(org="globex", by="mallory")

    answer = as_("root").post(PATH, body(foreign.id))

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert nothing_written()


@pytest.mark.django_db(transaction=True)
def test_a_failed_start_is_stored_and_told(as_: As, engine: making.FakeEngine) -> None:
    of = making.workflow()
    engine.fails = making.FAILED

    answer = as_("bob").post(PATH, body(of.id), key="k")

    assert (answer.status_code, answer.json()["code"]) == (502, "engine_start_failed")
    row = making.read(answer.json()["details"]["execution_id"])
    assert (row.phase, row.error) == ("EXECUTION_FAILED", "the engine is on fire")
    assert as_("bob").post(PATH, body(of.id), key="k").json()["status"]["error"] == row.error


@pytest.mark.django_db(transaction=True)
def test_a_push_engine_is_started_after_the_commit(as_: As, engine: making.FakeEngine) -> None:
    of = making.workflow()
    seen: list[int] = []
    engine.during = lambda: seen.append(WorkflowExecution.objects.count())

    answer = as_("bob").post(PATH, body(of.id))

    assert engine.calls == [("start", answer.json()["metadata"]["id"], False)]
    assert seen == [1]


@pytest.mark.django_db(transaction=True)
def test_racing_first_uses_of_a_key_make_one_execution(as_: As) -> None:
    of, bob = making.workflow(), as_("bob")

    answers = factories.race(*[lambda: bob.post(PATH, body(of.id), key="k")] * 12)

    assert sorted(answer.status_code for answer in answers) == [200] * 11 + [201]
    assert len({answer.json()["metadata"]["id"] for answer in answers}) == 1
    assert WorkflowExecution.objects.count() == 1


def test_an_agent_execution_has_its_own_fields(as_: As) -> None:
    of = making.agent()

    made = (
        as_("bob")
        .post(
            "/agent-executions",
            {
                "metadata": {"org": "acme", "name": "Ask"},
                "spec": {"agent_id": of.id, "session_id": "ses_1", "message": "hi"},
            },
        )
        .json()
    )

    assert made["kind"] == "AgentExecution"
    assert made["metadata"]["id"].startswith("aex_")
    assert made["spec"] == {
        "agent_id": of.id,
        "agent_instance_id": None,
        "session_id": "ses_1",
        "message": "hi",
        "input": None,
        "execution_target": None,
    }
    assert as_("bob").get(PATH).json()["items"] == []
