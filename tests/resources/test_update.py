"""Update, patch, apply, compare-and-swap: nothing is lost and nothing is half done."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from resources.errors import ResourceNotFound
from resources.models import Resource
from resources.operations import documents
from resources.queries import documents as queries
from stigmer.core.errors import AlreadyExists, InvalidRequest, PermissionDenied
from tests import factories
from tests.resources.conftest import body, make

pytestmark = pytest.mark.django_db


def update(made: Any, modify: Any, by: str = "alice", **more: Any) -> Any:
    return documents.update(
        kind=made.kind, id=made.id, modify=modify, by=factories.act(by), now=factories.now(), **more
    )


def labelled(key: str, value: str = "x") -> Any:
    def modify(document: dict[str, Any]) -> dict[str, Any]:
        document["metadata"]["labels"][key] = value
        return document

    return modify


# Update -------------------------------------------------------------------------------------------


def test_modify_sees_the_whole_document_and_the_result_is_stored(stored: Any) -> None:
    made = stored("agent", "Greeter")

    changed = update(made, labelled("team", "blue"), by="bob")

    assert changed == queries.readable(factories.caller("alice"), "agent", made.id)
    assert changed.labels == {"team": "blue"}
    assert changed.resource_version == 2
    assert (changed.created_by, changed.updated_by) == ("alice", "bob")
    assert changed.updated_at > made.updated_at


def test_every_write_raises_the_version_by_one(stored: Any) -> None:
    made = stored("agent", "Greeter")

    versions = [update(made, lambda document: document).resource_version for _ in range(3)]

    assert versions == [2, 3, 4]


@pytest.mark.parametrize("version", [1, 3, 0])
def test_the_database_refuses_another_version(stored: Any, version: int) -> None:
    made = stored("agent", "Greeter")

    with (
        pytest.raises(IntegrityError, match="resource_version_rises_by_one"),
        transaction.atomic(),
    ):
        Resource.objects.filter(pk=made.id).update(name="x", resource_version=version)
    assert Resource.objects.get(pk=made.id).name == "Greeter"


@pytest.mark.parametrize("field", ["slug", "created_by_id", "created_at", "organization_id"])
def test_the_database_keeps_what_a_document_is(stored: Any, field: str) -> None:
    made = stored("agent", "Greeter")
    other = {
        "slug": "other", "created_by_id": "bob", "created_at": factories.now(),
        "organization_id": "globex",
    }  # fmt: skip

    with pytest.raises(IntegrityError, match="resource_identity_is_kept"), transaction.atomic():
        Resource.objects.filter(pk=made.id).update(resource_version=2, **{field: other[field]})


def test_a_raising_modify_leaves_row_and_connection_usable(stored: Any) -> None:
    made = stored("agent", "Greeter")

    def modify(document: dict[str, Any]) -> dict[str, Any]:
        document["metadata"]["name"] = "Lost"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        update(made, modify)

    assert queries.readable(factories.caller("alice"), "agent", made.id) == made
    assert update(made, labelled("a")).resource_version == 2


@pytest.mark.django_db(transaction=True)
def test_a_modify_that_breaks_its_statement_leaves_the_connection_usable(stored: Any) -> None:
    made = stored("agent", "Greeter")

    def modify(document: dict[str, Any]) -> dict[str, Any]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")
        return document

    with pytest.raises(Exception, match="division by zero"):
        update(made, modify)

    assert update(made, labelled("a")).labels == {"a": "x"}


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        ("metadata", "id", "agt_01jzq3v8d4e8kb5w2m6n7p9r0t"),
        ("metadata", "slug", "other"),
        ("metadata", "org", "globex"),
        ("metadata", "resource_version", 7),
        ("metadata", "created_by", "bob"),
        ("metadata", "nonsense", 1),
        ("spec", "nonsense", 1),
    ],
)
def test_modify_cannot_change_what_the_store_writes(
    stored: Any, place: str, name: str, value: Any
) -> None:
    made = stored("agent", "Greeter")

    def modify(document: dict[str, Any]) -> dict[str, Any]:
        document[place][name] = value
        return document

    with pytest.raises(InvalidRequest) as refused:
        update(made, modify)
    assert refused.value.pointer == f"/{place}/{name}"
    assert queries.readable(factories.caller("alice"), "agent", made.id) == made


def test_what_the_caller_cannot_see_is_not_found(stored: Any) -> None:
    private = stored("agent", "Mine", visibility="visibility_private")
    called: list[Any] = []

    for who in ("mallory", "bob"):
        with pytest.raises(ResourceNotFound, match=f"resource not found: agent/{private.id}"):
            update(private, called.append, by=who)
    with pytest.raises(PermissionDenied):
        update(stored("agent", "Ours"), called.append, by="vera")
    assert not called


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_parallel_updates_of_one_document_both_land(stored: Any) -> None:
    made = stored("memory", "Counter", spec={"count": 0})
    by = factories.act()

    def add() -> None:
        def modify(document: dict[str, Any]) -> dict[str, Any]:
            document["spec"]["count"] += 1
            return document

        for _ in range(200):
            documents.update(kind="memory", id=made.id, modify=modify, by=by, now=factories.now())

    assert factories.race(add, add) == [None, None]

    found = queries.find("memory", made.id)
    assert found is not None
    assert (found.spec["count"], found.resource_version) == (400, 401)


@pytest.mark.django_db(transaction=True)
def test_updates_of_different_documents_do_not_wait(stored: Any) -> None:
    slow, quick = stored("memory", "Slow"), stored("memory", "Quick")
    by, entered, free = factories.act(), threading.Event(), threading.Event()

    def wait(document: dict[str, Any]) -> dict[str, Any]:
        entered.set()
        assert free.wait(10)
        return document

    def first() -> Any:
        return documents.update(
            kind="memory", id=slow.id, modify=wait, by=by, now=factories.now()
        ).resource_version

    def second() -> Any:
        assert entered.wait(10)
        try:
            return update(quick, lambda document: document).resource_version
        finally:
            free.set()

    assert factories.race(first, second) == [2, 2]


# Compare and swap ---------------------------------------------------------------------------------


def replace(made: Any, version: int, **changes: Any) -> bool:
    from resources.documents import as_json

    document = as_json(made)
    document["metadata"] |= changes
    return documents.replace_if_unchanged(
        kind=made.kind, id=made.id, expected_version=version, document=document,
        by=factories.act(), now=factories.now(),
    )  # fmt: skip


def test_a_swap_of_the_version_it_saw_is_stored(stored: Any) -> None:
    made = stored("agent", "Greeter")

    assert replace(made, 1, name="Renamed")

    found = queries.find("agent", made.id)
    assert found is not None
    assert (found.name, found.resource_version) == ("Renamed", 2)


def test_a_swap_loses_to_any_write_in_between(stored: Any) -> None:
    made = stored("agent", "Greeter")
    update(made, lambda document: document)

    assert not replace(made, 1, name="Renamed")

    found = queries.find("agent", made.id)
    assert found is not None
    assert (found.name, found.resource_version) == ("Greeter", 2)


def test_a_swap_never_inserts(stored: Any) -> None:
    made = stored("agent", "Greeter")
    documents.delete(kind="agent", id=made.id, by=factories.act(), now=factories.now())

    assert not replace(made, 1)
    assert not Resource.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_racing_swaps_one_wins(stored: Any) -> None:
    made = stored("agent", "Greeter")

    for version in range(1, 21):
        before = queries.find("agent", made.id)
        runners = [
            lambda n=n, b=before, v=version: replace(b, v, name=f"Racer {n}") for n in range(4)
        ]
        assert sorted(factories.race(*runners)) == [False, False, False, True]


# Patch --------------------------------------------------------------------------------------------


def test_a_patch_merges_as_rfc_7396_says(as_: Any, stored: Any) -> None:
    made = stored(
        "memory", "Notes", labels={"a": "1", "b": "2"}, tags=["x", "y"],
        spec={"keep": 1, "drop": 2, "deep": {"a": 1, "b": {"c": 2}}, "list": [1, 2]},
    )  # fmt: skip

    answer = as_("bob").patch(
        f"/resources/memory/{made.id}",
        json={
            "metadata": {"name": "Renamed", "labels": {"a": None, "c": "3"}, "tags": ["z"]},
            "spec": {"drop": None, "deep": {"b": {"d": 3}, "a": None}, "list": [3]},
        },
    )

    changed = answer.json()
    assert answer.status_code == 200, changed
    assert changed["spec"] == {"keep": 1, "deep": {"b": {"c": 2, "d": 3}}, "list": [3]}
    assert changed["metadata"]["labels"] == {"b": "2", "c": "3"}
    assert changed["metadata"]["tags"] == ["z"]
    assert (changed["metadata"]["name"], changed["metadata"]["slug"]) == ("Renamed", "notes")
    assert as_("vera").get(f"/resources/memory/{made.id}")["ETag"] == answer["ETag"]


def test_a_patch_with_null_empties_a_member_of_metadata(as_: Any, stored: Any) -> None:
    made = stored("team", "Blue", labels={"a": "1"}, tags=["t"], visibility="visibility_public")

    nothing = {"labels": None, "tags": None, "visibility": None, "annotations": None}
    changed = as_("alice").patch(f"/resources/team/{made.id}", json={"metadata": nothing}).json()

    metadata = changed["metadata"]
    assert (metadata["labels"], metadata["tags"]) == ({}, [])
    assert metadata["visibility"] == "visibility_org"


@pytest.mark.parametrize(
    "sent",
    [
        {"metadata": {"slug": "other"}},
        {"metadata": {"org": "globex"}},
        {"metadata": {"slug": None, "org": None}},
        {"metadata": {"name": None}},
        {"metadata": {"resource_version": 1}},
        {"metadata": None},
        {"spec": None},
        {"spec": []},
        {"status": {}},
        {"nonsense": 1},
        [],
    ],
)
def test_a_patch_refuses_what_it_cannot_change(as_: Any, stored: Any, sent: Any) -> None:
    made = stored("team", "Blue")

    answer = as_("alice").patch(f"/resources/team/{made.id}", json=sent)

    assert answer.status_code == 400, answer.json()
    assert queries.find("team", made.id) == made


def test_a_patch_that_breaks_the_spec_names_the_place(as_: Any, stored: Any) -> None:
    made = stored("agent", "Greeter")

    answer = as_("alice").patch(
        f"/resources/agent/{made.id}", json={"spec": {"instructions": None}}
    )

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/spec/instructions"


def test_if_match_lets_only_the_current_answer_be_changed(as_: Any, stored: Any) -> None:
    made, alice = stored("team", "Blue"), as_("alice")
    path = f"/resources/team/{made.id}"
    first = alice.get(path)["ETag"]
    second = alice.patch(path, json={}, headers={"If-Match": first})

    stale = alice.patch(path, json={"metadata": {"name": "Lost"}}, headers={"If-Match": first})

    assert second.status_code == 200
    assert second["ETag"] != first
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert alice.delete(path, headers={"If-Match": first}).status_code == 412
    assert alice.get(path).json()["metadata"]["resource_version"] == 2
    assert alice.get(path, headers={"If-None-Match": second["ETag"]}).status_code == 304
    assert alice.delete(path, headers={"If-Match": second["ETag"]}).status_code == 200


# Apply --------------------------------------------------------------------------------------------


def test_apply_creates_then_replaces_the_spec(as_: Any) -> None:
    alice = as_("alice")
    first = alice.post(
        "/resources/memory/apply", json=body("memory", "Notes", spec={"a": 1}, labels={"x": "1"})
    )
    second = alice.post("/resources/memory/apply", json=body("memory", "Notes", spec={"b": 2}))

    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json()["spec"] == {"b": 2}
    assert second.json()["metadata"]["id"] == first.json()["metadata"]["id"]
    assert second.json()["metadata"]["labels"] == {"x": "1"}
    assert second.json()["metadata"]["resource_version"] == 2


def test_apply_refuses_a_slug_whose_document_the_caller_cannot_see(stored: Any) -> None:
    hidden = stored("memory", "Notes", visibility="visibility_private")

    with pytest.raises(AlreadyExists):
        documents.apply(
            kind="memory", document=body("memory", "Notes"), by=factories.act("bob"),
            now=factories.now(),
        )  # fmt: skip
    assert queries.find("memory", hidden.id) == hidden


def test_apply_with_if_match_never_creates(as_: Any) -> None:
    answer = as_("alice").post(
        "/resources/memory/apply", json=body("memory", "Notes"), headers={"If-Match": '"x"'}
    )

    assert answer.status_code == 412
    assert not Resource.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_racing_applies_of_one_new_slug_end_in_one_document(cast: Any) -> None:
    by = factories.act()

    for number in range(25):
        document = body("memory", f"Notes {number}")
        runners = [
            lambda d=document: (
                documents.apply(kind="memory", document=d, by=by, now=factories.now()).created
            )
        ] * 4
        assert sorted(factories.race(*runners)) == [False, False, False, True]

    assert Resource.objects.count() == 25
    assert set(Resource.objects.values_list("resource_version", flat=True)) == {4}


def test_an_update_takes_few_statements(stored: Any, django_assert_num_queries: Any) -> None:
    made, by = make("team", "Blue"), factories.act()

    with django_assert_num_queries(4):  # savepoint, lock, update, release
        documents.update(kind="team", id=made.id, modify=labelled("a"), by=by, now=factories.now())
