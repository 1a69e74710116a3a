"""Create: what is stored, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from resources.errors import UnknownKind
from resources.kinds import KINDS, ORGANIZATION_SCOPED, STORED
from resources.models import Resource, ResourceVersion
from resources.operations import documents
from resources.queries import documents as queries
from stigmer.core.errors import AlreadyExists, InvalidRequest
from stigmer.core.ids import is_id
from tests import factories
from tests.resources.conftest import body, make

pytestmark = pytest.mark.django_db


def test_the_first_kinds_are_the_frozen_list_of_the_import() -> None:
    assert ORGANIZATION_SCOPED == (
        "iam_policy", "invitation", "identity_provider", "oauth_app", "platform_client", "team",
        "agent", "session", "skill", "mcp_server", "agent_instance", "agent_share",
        "agent_channel", "channel_app", "workflow", "workflow_instance", "workflow_execution",
        "environment", "artifact", "schedule", "memory", "plugin", "subscription",
    )  # fmt: skip
    assert " ".join(KINDS[kind].prefix for kind in ORGANIZATION_SCOPED) == (
        "iamp inv idp oapp pcl tm agt ses skl mcp ain ash ach chapp wfl win wfe env art sch mem "
        "plg sub"
    )


def test_names_in_documents_capitalise_each_word() -> None:
    assert [KINDS[kind].display for kind in ("workflow_instance", "mcp_server", "oauth_app")] == [
        "WorkflowInstance", "McpServer", "OauthApp",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", STORED)
def test_stores_a_document_of_every_kind(cast: Any, as_: Any, kind: str) -> None:
    spec = None
    if kind == "workflow_instance":
        spec = {"workflow_id": make("workflow", "Parent").id}

    answer = as_("alice").post(f"/resources/{kind}", json=body(kind, "First one", spec=spec))

    made = answer.json()
    assert answer.status_code == 201, made
    assert made["kind"] == KINDS[kind].display
    assert made["api_version"] == KINDS[kind].group
    assert is_id(KINDS[kind].prefix, made["metadata"]["id"])
    assert made["metadata"]["slug"] == "first-one"
    assert made["metadata"]["resource_version"] == 1
    assert made["metadata"]["visibility"] == "visibility_org"
    read = as_("vera").get(f"/resources/{kind}/{made['metadata']['id']}")
    assert read.json() == made
    assert read["ETag"] == answer["ETag"]


@pytest.mark.parametrize("kind", ["workflow_execution", "organization", "nonsense", "Agent"])
def test_refuses_a_kind_that_is_not_stored_here(as_: Any, kind: str) -> None:
    answer = as_("alice").post(f"/resources/{kind}", json=body("team", "x1"))

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_kind")
    assert as_("alice").get(f"/resources/{kind}").json()["code"] == "unknown_kind"
    assert not Resource.objects.exists()


@pytest.mark.parametrize(
    ("metadata", "pointer"),
    [
        ({"name": ""}, "/metadata/name"),
        ({"name": "x" * 257}, "/metadata/name"),
        ({"name": "two\nlines"}, "/metadata/name"),
        ({"name": "!!!"}, "/metadata/name"),
        ({"name": "ok", "slug": "No"}, "/metadata/slug"),
        ({"name": "ok", "slug": "a"}, "/metadata/slug"),
        ({"name": "ok name", "visibility": "open"}, "/metadata/visibility"),
        ({"name": "ok name", "labels": {"a": 1}}, "/metadata/labels/a"),
        ({"name": "ok name", "labels": {"": "x"}}, "/metadata/labels/"),
        ({"name": "ok name", "labels": None}, "/metadata/labels"),
        ({"name": "ok name", "tags": ["a", ""]}, "/metadata/tags/1"),
        ({"name": "ok name", "tags": "a"}, "/metadata/tags"),
        ({"name": "ok name", "id": "agt_1"}, "/metadata/id"),
        ({"name": "ok name", "created_at": "now"}, "/metadata/created_at"),
        ({}, "/metadata/name"),
    ],
)
def test_refuses_metadata_and_names_the_place(as_: Any, metadata: Any, pointer: str) -> None:
    answer = as_("alice").post(
        "/resources/team", json={"metadata": {"org": "acme", **metadata}, "spec": {}}
    )

    assert answer.status_code == 400, answer.json()
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Resource.objects.exists()


@pytest.mark.parametrize("extra", ["status", "kind", "api_version", "id"])
def test_refuses_anything_beside_metadata_and_spec(as_: Any, extra: str) -> None:
    answer = as_("alice").post("/resources/team", json={**body("team", "Blue"), extra: {}})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == f"/{extra}"
    assert not Resource.objects.exists()


def test_refuses_a_body_that_names_the_actor_before_anything_else(as_: Any) -> None:
    answer = as_("mallory").post("/resources/team", json={"created_by": "alice", "metadata": 1})

    assert answer.json()["code"] == "actor_not_accepted"


@pytest.mark.parametrize(
    ("who", "org", "status", "code"),
    [
        (None, "acme", 401, "unauthenticated"),
        ("mallory", "acme", 404, "organization_not_found"),
        ("alice", "nowhere", 404, "organization_not_found"),
        ("root", "nowhere", 404, "organization_not_found"),
        ("vera", "acme", 403, "permission_denied"),
        ("surface:telegram", "acme", 403, "surface_route_not_allowed"),
        ("bob", "acme", 201, None),
        ("root", "acme", 201, None),
    ],
)
def test_members_write_in_their_organization(
    as_: Any, who: str | None, org: str, status: int, code: str | None
) -> None:
    answer = as_(who).post("/resources/team", json=body("team", "Blue", org=org))

    assert (answer.status_code, answer.json().get("code")) == (status, code)
    assert Resource.objects.count() == (status == 201)


def test_judges_the_organization_before_the_other_faults_of_the_body(as_: Any) -> None:
    wrong = {"metadata": {"org": "acme", "nonsense": 1}, "more": 2}

    assert as_("vera").post("/resources/team", json=wrong).status_code == 403
    assert as_("mallory").post("/resources/team", json=wrong).status_code == 404
    assert as_("alice").post("/resources/team", json=wrong).status_code == 400


@pytest.mark.parametrize("sent", [{}, {"metadata": {}}, {"metadata": {"org": ""}}, {"metadata": 1}])
def test_a_missing_organization_is_400(as_: Any, sent: Any) -> None:
    answer = as_("mallory").post("/resources/team", json=sent)

    assert answer.status_code == 400
    assert answer.json()["detail"] == "metadata.org is required"


def test_a_taken_slug_is_a_conflict_in_its_organization_and_kind_alone(as_: Any) -> None:
    alice = as_("alice")
    assert alice.post("/resources/team", json=body("team", "Blue")).status_code == 201

    again = alice.post("/resources/team", json=body("team", "blue!"))

    assert (again.status_code, again.json()["code"]) == (409, "already_exists")
    assert alice.post("/resources/memory", json=body("memory", "Blue")).status_code == 201
    elsewhere = as_("mallory").post("/resources/team", json=body("team", "Blue", org="globex"))
    assert elsewhere.status_code == 201
    assert Resource.objects.count() == 3


def test_a_refused_slug_leaves_the_transaction_usable(stored: Any) -> None:
    stored("team", "Blue")

    with pytest.raises(AlreadyExists):
        stored("team", "Blue")

    assert stored("team", "Red").slug == "red"


def test_a_body_of_more_than_a_mebibyte_is_413(as_: Any) -> None:
    big = body("memory", "Big", spec={"text": "x" * (1024 * 1024)})

    assert as_("alice").post("/resources/memory", json=big).status_code == 413
    big["spec"]["text"] = "x" * (1024 * 1024 - 200)
    assert as_("alice").post("/resources/memory", json=big).status_code == 201


def test_a_long_text_in_an_indexed_field_is_stored(as_: Any) -> None:
    """A B-tree entry holds 2,704 bytes; these indexes must take whatever an object may hold."""
    from random import Random

    noise = "".join(Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=60_000))
    spec = dict.fromkeys(("agent_id", "client_id", "issuer", "url"), noise)
    spec["description"] = " ".join(noise[at : at + 9] for at in range(0, 54_000, 9))

    for kind in ("agent_instance", "oauth_app", "session"):
        answer = as_("alice").post(f"/resources/{kind}", json=body(kind, "Long", spec=spec))
        assert answer.status_code == 201, answer.json()


def test_a_nul_in_a_service_call_is_refused_not_a_database_error(stored: Any) -> None:
    for document in (
        {"metadata": {"org": "acme", "name": "ok name"}, "spec": {"a": ["b", "\x00"]}},
        {"metadata": {"org": "acme", "name": "ok name", "labels": {"a\x00": "b"}}, "spec": {}},
    ):
        with pytest.raises(InvalidRequest):
            documents.create(
                kind="team", document=document, by=factories.act(), now=factories.now()
            )
    assert not Resource.objects.exists()


def test_an_unknown_kind_is_refused_by_the_service_too(cast: Any) -> None:
    with pytest.raises(UnknownKind):
        make("workflow_execution", "x1")


def test_a_versioned_kind_has_a_version_from_the_start(stored: Any) -> None:
    made = stored("skill", "Greeting")
    stored("agent", "Greeter")

    (version,) = ResourceVersion.objects.all()
    assert (version.resource_id, version.kind) == (made.id, "skill")


def test_a_create_takes_few_statements(stored: Any, django_assert_num_queries: Any) -> None:
    by = factories.act()
    with django_assert_num_queries(6):  # hold, insert; two savepoints that open and close
        documents.create(kind="team", document=body("team", "Blue"), by=by, now=factories.now())


def test_a_read_takes_one_statement(stored: Any, django_assert_num_queries: Any) -> None:
    made = stored("team", "Blue")
    viewer = factories.caller("vera")

    with django_assert_num_queries(1):
        assert queries.readable(viewer, "team", made.id) == made


def test_an_empty_slug_or_visibility_means_absent(as_: Any) -> None:
    sent = body("team", "Blue Team", slug="", visibility="")

    made = as_("alice").post("/resources/team", json=sent)
    path = f"/resources/team/{made.json()['metadata']['id']}"
    private = {"metadata": {"visibility": "visibility_private"}}
    as_("alice").patch(path, json=private)
    kept = as_("alice").patch(path, json={"metadata": {"visibility": "", "slug": ""}})

    assert made.status_code == 201
    assert made.json()["metadata"]["slug"] == "blue-team"
    assert made.json()["metadata"]["visibility"] == "visibility_org"
    assert kept.status_code == 200
    assert kept.json()["metadata"]["visibility"] == "visibility_private"


def test_an_apply_over_a_hidden_document_tells_no_more_than_a_create(as_: Any, stored: Any) -> None:
    hidden = stored("team", "Blue", by="bob", visibility="visibility_private")
    sent = body("team", "Blue", spec={"changed": True})

    created = as_("alice").post("/resources/team", json=sent).json()
    applied = as_("alice").post("/resources/team/apply", json=sent).json()

    del created["request_id"], applied["request_id"]
    assert applied == created
    assert applied["code"] == "already_exists"
    assert Resource.objects.get(pk=hidden.id).resource_version == 1


def test_names_the_label_that_is_wrong(as_: Any) -> None:
    sent = body("team", "Blue", labels={"colour": "blue", "a/b": 1})

    answer = as_("alice").post("/resources/team", json=sent)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/metadata/labels/a~1b"
    assert not Resource.objects.exists()
