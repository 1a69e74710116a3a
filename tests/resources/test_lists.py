"""Lists, scans and look-ups: all matches and only matches, in a known order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from resources.errors import ResourceNotFound
from resources.models import Resource
from resources.operations import documents
from resources.queries import documents as queries
from resources.queries import fields
from stigmer.core.callers import SYSTEM
from stigmer.core.errors import InvalidRequest
from tests import factories
from tests.resources.conftest import body, make, make_instance

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def at(moment: datetime, name: str, kind: str = "team", **more: Any) -> Any:
    return documents.create(
        kind=kind, document=body(kind, name, **more), by=factories.act(), now=moment
    )


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.json()
    return [item["metadata"]["name"] for item in answer.json()["items"]]


# Lists --------------------------------------------------------------------------------------------


def test_lists_newest_first_in_the_callers_organizations(as_: Any) -> None:
    at(NOON, "Old")
    at(NOON.replace(hour=13), "New")
    make("team", "Theirs", by="mallory", org="globex", visibility="visibility_public")

    assert names(as_("vera").get("/resources/team")) == ["New", "Old"]
    assert names(as_("mallory").get("/resources/team")) == ["Theirs"]
    assert names(as_("root").get("/resources/team"))[1:] == ["New", "Old"]


def test_a_foreign_or_unknown_organization_is_an_empty_page(as_: Any, stored: Any) -> None:
    stored("team", "Blue", visibility="visibility_public")

    for who, org in (("mallory", "acme"), ("alice", "globex"), ("alice", "nowhere")):
        assert names(as_(who).get(f"/resources/team?org={org}")) == []
    assert as_("root").get("/resources/team?org=nowhere").status_code == 404
    assert names(as_("root").get("/resources/team?org=globex")) == []


def test_private_documents_are_for_whoever_made_them(as_: Any, stored: Any) -> None:
    private = stored("team", "Mine", by="bob", visibility="visibility_private")
    path = f"/resources/team/{private.id}"

    assert names(as_("bob").get("/resources/team")) == ["Mine"]
    assert names(as_("root").get("/resources/team")) == ["Mine"]
    assert names(as_("alice").get("/resources/team")) == []
    assert [as_(who).get(path).status_code for who in ("bob", "root", "alice")] == [200, 200, 404]


def test_public_documents_are_read_from_everywhere_and_changed_at_home(
    as_: Any, stored: Any
) -> None:
    public = stored("team", "Open", visibility="visibility_public")
    path = f"/resources/team/{public.id}"
    mallory = as_("mallory")

    assert mallory.get(path).status_code == 200
    assert mallory.get("/resources/team/by-slug/acme/open").status_code == 200
    refused = mallory.patch(path, json={"metadata": {"name": "Mine"}})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert as_("bob").patch(path, json={"metadata": {"name": "Ours"}}).status_code == 200


def test_an_existing_foreign_id_and_a_random_one_answer_alike(as_: Any, stored: Any) -> None:
    hidden = stored("team", "Blue").id
    random = "tm_01jzq3v8d4e8kb5w2m6n7p9r0t"

    def answer(id: str, path: str) -> bytes:
        found = as_("mallory").get(path.format(id))
        text = found.content.decode().replace(found.json()["request_id"], "")
        return text.replace(id, "ID").encode()

    for path in ("/resources/team/{}", "/resources/team/{}/versions", "/resources/agent/{}"):
        assert answer(hidden, path) == answer(random, path)


@pytest.mark.parametrize("id", ["nope", "agt_01jzq3v8d4e8kb5w2m6n7p9r0t", "tm_", "tm_%"])
def test_an_id_of_another_form_is_not_found(as_: Any, cast: Any, id: str) -> None:
    answer = as_("alice").get(f"/resources/team/{id.replace('%', '%25')}")

    assert answer.status_code == 404
    assert answer.json()["detail"] == f"resource not found: team/{id}"


@pytest.mark.parametrize(
    "path",
    [
        "team/by-slug/acme/{}", "team/by-slug/{}/blue", "team/{}", "{}/x", "skill/{}/versions",
        "skill/ID/versions/{}", "skill/ID/tags/{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("odd", ["%00", "%ED%A0%80", "%F0%9F%99%82", "%25", "'", "%0a"])
def test_an_odd_address_is_never_a_fault(as_: Any, stored: Any, path: str, odd: str) -> None:
    made = stored("skill", "Greeting")

    answer = as_("alice").get(f"/resources/{path.format(odd).replace('ID', made.id)}")

    assert answer.status_code in (400, 404), answer.content


def test_gets_by_slug(as_: Any, stored: Any) -> None:
    made = stored("team", "Blue Team")

    found = as_("vera").get("/resources/team/by-slug/acme/blue-team")

    assert found.json()["metadata"]["id"] == made.id
    assert as_("vera").get("/resources/team/by-slug/acme/red").status_code == 404
    assert as_("mallory").get("/resources/team/by-slug/acme/blue-team").status_code == 404


def test_filters_hold_together(as_: Any, stored: Any) -> None:
    stored("team", "One", labels={"env": "prod", "tier": "1"})
    stored("team", "Two", labels={"env": "prod", "tier": "2"}, visibility="visibility_public")
    stored("team", "Three", labels={"env": "test"})
    vera = as_("vera")

    assert names(vera.get("/resources/team?label=env=prod")) == ["Two", "One"]
    assert names(vera.get("/resources/team?label=env=prod&label=tier=1")) == ["One"]
    assert names(vera.get("/resources/team?label=env=prod&label=env=test")) == []
    assert names(vera.get("/resources/team?label=env=pro")) == []
    assert names(vera.get("/resources/team?visibility=visibility_public")) == ["Two"]
    assert names(vera.get("/resources/team?org=acme&label=env=test")) == ["Three"]


def test_lists_by_parent(as_: Any, stored: Any) -> None:
    first, second = stored("workflow", "First"), stored("workflow", "Second")
    make_instance(first, "A one")
    make_instance(second, "B one")
    make_instance(first, "C one")

    found = as_("vera").get(f"/resources/workflow_instance?parent={first.id}")

    assert names(found) == ["C one", "A one"]


@pytest.mark.parametrize(
    "query",
    ["label=x", "label==x", "visibility=open", "limit=0", "limit=501", "nonsense=1", "org=a&org=b"],
)
def test_refuses_a_query_it_does_not_know(as_: Any, cast: Any, query: str) -> None:
    assert as_("alice").get(f"/resources/team?{query}").status_code == 400


def test_a_walk_over_ties_has_no_gap_and_no_duplicate(as_: Any) -> None:
    expected = {at(NOON, f"Team {n}").id for n in range(23)}

    seen, cursor, pages = [], "", 0
    while cursor is not None:
        page = as_("vera").get(f"/resources/team?limit=5&cursor={cursor}").json()
        seen += [item["metadata"]["id"] for item in page["items"]]
        cursor, pages = page["next_cursor"], pages + 1

    assert seen == sorted(expected, reverse=True)
    assert pages == 5


def test_a_walk_survives_inserts_and_deletes_meanwhile(as_: Any) -> None:
    made = [at(NOON, f"Team {n}").id for n in range(12)]
    first = as_("vera").get("/resources/team?limit=4").json()
    shown = [item["metadata"]["id"] for item in first["items"]]
    # The last row shown goes, one that was shown goes, one that was not shown goes; others come.
    for id in (shown[-1], shown[0], made[2]):
        documents.delete(kind="team", id=id, by=factories.act(), now=factories.now())
    at(NOON.replace(hour=13), "Newer")
    late = at(NOON.replace(hour=11), "Older").id

    rest, cursor = [], first["next_cursor"]
    while cursor is not None:
        page = as_("vera").get(f"/resources/team?limit=4&cursor={cursor}").json()
        rest += [item["metadata"]["id"] for item in page["items"]]
        cursor = page["next_cursor"]

    expected = sorted(set(made) - set(shown) - {made[2]}, reverse=True)
    assert rest == [*expected, late]


def test_a_cursor_belongs_to_its_filters_and_kind(as_: Any, stored: Any) -> None:
    for number in range(3):
        stored("team", f"Team {number}")
        stored("memory", f"Memory {number}")
    vera = as_("vera")
    cursor = vera.get("/resources/team?limit=1").json()["next_cursor"]

    assert vera.get(f"/resources/team?limit=2&cursor={cursor}").status_code == 200
    for path in ("memory?", "team?org=acme&", "team?label=a=b&"):
        assert vera.get(f"/resources/{path}cursor={cursor}").status_code == 400


def test_a_list_takes_one_statement(stored: Any, django_assert_num_queries: Any) -> None:
    for number in range(5):
        stored("team", f"Team {number}")
    viewer = factories.caller("vera")

    with django_assert_num_queries(1):
        found = queries.documents(viewer, "team", queries.Filters(org="acme"))
        assert len(queries.rows(found[:100])) == 5


# Scan ---------------------------------------------------------------------------------------------


def test_a_scan_walks_a_whole_kind_in_id_order(stored: Any) -> None:
    made = sorted(stored("team", f"Team {n}").id for n in range(7))
    stored("memory", "Other kind")

    seen, after = [], ""
    while found := queries.scan(SYSTEM, "team", after, 3):
        seen += [document.id for document in found]
        after = seen[-1]

    assert seen == made


@pytest.mark.parametrize("limit", [0, -1])
def test_a_scan_needs_a_positive_limit(cast: Any, limit: int) -> None:
    with pytest.raises(InvalidRequest, match=r"^limit must be positive$"):
        queries.scan(SYSTEM, "team", "", limit)


# Look-ups -----------------------------------------------------------------------------------------


def test_finds_by_field_through_camel_and_snake_case(stored: Any) -> None:
    workflow = stored("workflow", "Deploy")
    instance = make_instance(workflow)
    viewer = factories.caller("vera")

    for path in ("spec.workflow_id", "spec.workflowId"):
        found = fields.find_by_field(viewer, "workflow_instance", path, workflow.id)
        assert found == instance


def test_a_literal_camel_case_part_wins_over_its_fallback(stored: Any) -> None:
    camel = stored("memory", "Camel", spec={"deepPart": {"subKey": "x"}, "deep_part": 1})
    snake = stored("memory", "Snake", spec={"deep_part": {"sub_key": "x"}})
    viewer = factories.caller("vera")

    found = fields.find_all_by_field(viewer, "memory", "spec.deepPart.subKey", "x")
    assert found == [camel, snake]
    assert fields.find_all_by_field(viewer, "memory", "spec.deep_part.sub_key", "x") == [snake]
    assert fields.find_all_by_field(viewer, "memory", "spec.deepPart", 1) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "Blue"),
        ("metadata.slug", "blue"),
        ("metadata.org", "acme"),
        ("metadata.createdBy", "alice"),
        ("metadata.resourceVersion", 1),
        ("metadata.labels.example.com/team", "x"),
        ("spec.flag", True),
        ("spec.count", 3),
        ("spec.list.1", "b"),
        ('spec.it\'s "odd" %s', "yes"),
    ],
)
def test_finds_by_any_path(stored: Any, path: str, value: Any) -> None:
    spec = {"flag": True, "count": 3, "list": ["a", "b"], 'it\'s "odd" %s': "yes"}
    made = stored("memory", "Blue", spec=spec, labels={"example.com/team": "x"})
    stored("team", "Blue", spec=spec)

    assert fields.find_by_field(factories.caller("vera"), "memory", path, value) == made


def test_a_value_that_nothing_has_is_not_found(stored: Any) -> None:
    stored("memory", "Blue", spec={"a": "1"})

    for viewer, value in (("vera", "2"), ("mallory", "1"), ("vera", "%"), ("vera", "' OR 1=1")):
        with pytest.raises(ResourceNotFound) as refused:
            fields.find_by_field(factories.caller(viewer), "memory", "spec.a", value)
        assert refused.value.detail == f"resource not found: memory where spec.a={value}"


@pytest.mark.parametrize("path", ["", "spec", "name", "spec..a", "metadata.nonsense", "terms.a"])
def test_a_path_that_is_none_is_refused(cast: Any, path: str) -> None:
    with pytest.raises(InvalidRequest):
        fields.find_all_by_field(SYSTEM, "memory", path, "x")


def test_finds_all_by_label_in_id_order(stored: Any) -> None:
    made = [stored("team", f"Team {n}", labels={"a": "1", "n": str(n)}) for n in range(3)]
    stored("team", "Other", labels={"a": "10"})
    stored("team", "Key", labels={"1": "a"})

    assert fields.find_all_by_label(factories.caller("vera"), "team", "a", "1") == made
    assert fields.find_all_by_label(factories.caller("mallory"), "team", "a", "1") == []
    assert Resource.objects.count() == 5
