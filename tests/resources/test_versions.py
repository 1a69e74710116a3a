"""Versions: archived on every change of a spec, tags with one holder, rollback."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from django.db import IntegrityError, transaction

from resources.errors import VersionNotFound
from resources.models import ResourceVersion
from resources.operations import documents, versions
from resources.queries import versions as queries
from stigmer.core.errors import InvalidRequest, PermissionDenied
from tests import factories
from tests.resources.conftest import make

pytestmark = pytest.mark.django_db


def rewrite(made: Any, markdown: str, **more: Any) -> Any:
    def modify(document: dict[str, Any]) -> dict[str, Any]:
        document["spec"]["markdown"] = markdown
        return document

    return documents.update(
        kind="skill", id=made.id, modify=modify, by=factories.act(),
        now=more.get("now", factories.now()),
    )  # fmt: skip


def tag(made: Any, name: str, version_hash: str, by: str = "alice") -> Any:
    return versions.set_tag(
        kind=made.kind, id=made.id, tag=name, version_hash=version_hash,
        by=factories.act(by), now=factories.now(),
    )  # fmt: skip


def hashes(made: Any) -> list[str]:
    return [version.version_hash for version in queries.rows(queries.of(made.kind, made.id))]


def holders(made: Any) -> dict[str, int]:
    held = ResourceVersion.objects.filter(resource=made.id, tag__isnull=False)
    return {row.tag or "": row.pk for row in held}


@pytest.fixture
def skill(stored: Any) -> Any:
    return stored("skill", "Greeting", spec={"markdown": "one"})


def test_the_newest_hash_is_that_of_the_current_spec(skill: Any) -> None:
    changed = rewrite(skill, "two")

    assert queries.latest_hash("skill", skill.id) == sha256(rfc8785.dumps(changed.spec)).hexdigest()
    assert queries.count("skill", skill.id) == 2


def test_only_a_changed_spec_becomes_a_version(skill: Any) -> None:
    def rename(document: dict[str, Any]) -> dict[str, Any]:
        document["metadata"]["name"] = "Renamed"
        return document

    documents.update(
        kind="skill", id=skill.id, modify=rename, by=factories.act(), now=factories.now()
    )

    assert queries.count("skill", skill.id) == 1


def test_a_clock_that_goes_back_does_not_hide_the_current_spec(skill: Any) -> None:
    changed = rewrite(skill, "two", now=skill.created_at - timedelta(days=1))

    newest = queries.rows(queries.of("skill", skill.id))[0]
    assert newest.snapshot["spec"] == changed.spec


def test_versions_read_newest_first_and_the_snapshot_is_the_whole_document(
    as_: Any, skill: Any
) -> None:
    path = f"/resources/skill/{skill.id}"
    before = as_("alice").get(path).json()
    for text in ("two", "three"):
        rewrite(skill, text)

    page = as_("vera").get(f"{path}/versions").json()

    assert [entry["snapshot"]["spec"]["markdown"] for entry in page["items"]] == [
        "three", "two", "one",
    ]  # fmt: skip
    oldest = page["items"][-1]
    assert oldest["snapshot"] == before
    assert set(oldest) == {"version_hash", "tag", "archived_at", "archived_by", "snapshot"}
    assert (oldest["tag"], oldest["archived_by"]) == (None, "alice")
    one = as_("vera").get(f"{path}/versions/{oldest['version_hash']}")
    assert one.json() == oldest
    assert one["ETag"]


def test_a_walk_over_versions_of_one_moment_is_whole(as_: Any, skill: Any) -> None:
    for number in range(6):
        rewrite(skill, f"text {number}", now=skill.created_at)

    seen, cursor = [], ""
    while cursor is not None:
        path = f"/resources/skill/{skill.id}/versions?limit=2&cursor={cursor}"
        page = as_("vera").get(path).json()
        seen += [entry["snapshot"]["spec"]["markdown"] for entry in page["items"]]
        cursor = page["next_cursor"]

    assert seen == [*(f"text {n}" for n in reversed(range(6))), "one"]


def test_without_versions_there_is_nothing(as_: Any, stored: Any) -> None:
    made = stored("agent", "Greeter")
    path = f"/resources/agent/{made.id}"

    with pytest.raises(VersionNotFound):
        queries.latest_hash("agent", made.id)
    assert queries.count("agent", made.id) == 0
    assert as_("vera").get(f"{path}/versions").json()["items"] == []
    missing = as_("vera").get(f"{path}/versions/{'0' * 64}")
    assert (missing.status_code, missing.json()["code"]) == (404, "version_not_found")


def test_of_duplicate_hashes_the_newest_wins(skill: Any) -> None:
    rewrite(skill, "two")
    rewrite(skill, "one")
    first, second, third = hashes(skill)

    assert first == third != second
    newest = queries.of("skill", skill.id).first()
    assert newest is not None
    assert queries.by_hash("skill", skill.id, first).id == newest.pk


def test_a_tag_has_one_holder_and_a_version_one_tag(as_: Any, skill: Any) -> None:
    rewrite(skill, "two")
    new, old = hashes(skill)
    path, alice = f"/resources/skill/{skill.id}", as_("alice")

    first = alice.put(f"{path}/tags/stable", json={"version_hash": old})
    moved = alice.put(f"{path}/tags/stable", json={"version_hash": new})
    renamed = alice.put(f"{path}/tags/best", json={"version_hash": new})

    assert [answer.status_code for answer in (first, moved, renamed)] == [200, 200, 200]
    assert (first.json()["version_hash"], first.json()["tag"]) == (old, "stable")
    assert moved.json()["version_hash"] == new
    assert list(holders(skill)) == ["best"]
    assert alice.get(f"{path}/tags/best").json()["version_hash"] == new
    assert alice.get(f"{path}/tags/stable").json()["code"] == "version_not_found"


def test_setting_a_tag_again_changes_nothing(skill: Any) -> None:
    (only,) = hashes(skill)
    tag(skill, "stable", only)
    before = holders(skill)

    assert tag(skill, "stable", only).tag == "stable"
    assert holders(skill) == before


def test_a_missing_target_keeps_the_holder(as_: Any, skill: Any) -> None:
    (only,) = hashes(skill)
    tag(skill, "stable", only)
    before = holders(skill)

    answer = as_("alice").put(
        f"/resources/skill/{skill.id}/tags/stable", json={"version_hash": "0" * 64}
    )

    assert (answer.status_code, answer.json()["code"]) == (404, "version_not_found")
    assert holders(skill) == before


@pytest.mark.parametrize("name", ["", "-x", "a b", "ü", "x" * 129, "a/b"])
def test_refuses_a_tag_of_another_form(skill: Any, name: str) -> None:
    (only,) = hashes(skill)

    with pytest.raises(InvalidRequest):
        tag(skill, name, only)
    assert holders(skill) == {}


def test_a_viewer_sets_no_tag(as_: Any, skill: Any) -> None:
    (only,) = hashes(skill)

    for who, status in (("vera", 403), ("mallory", 404)):
        answer = as_(who).put(
            f"/resources/skill/{skill.id}/tags/stable", json={"version_hash": only}
        )
        assert answer.status_code == status
    with pytest.raises(PermissionDenied):
        tag(skill, "stable", only, by="vera")
    assert holders(skill) == {}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_sixteen_racers_leave_one_holder(cast: Any) -> None:
    skill = make("skill", "Greeting", spec={"markdown": "0"})
    for number in range(1, 16):
        rewrite(skill, str(number))
    targets, by = hashes(skill), factories.act()

    def move(version_hash: str) -> Any:
        return versions.set_tag(
            kind="skill", id=skill.id, tag="stable", version_hash=version_hash, by=by,
            now=factories.now(),
        ).tag  # fmt: skip

    for _ in range(5):
        results = factories.race(*(lambda h=target: move(h) for target in targets))
        assert results == ["stable"] * 16
        assert list(holders(skill)) == ["stable"]


def test_rollback_becomes_a_new_version(as_: Any, skill: Any) -> None:
    rewrite(skill, "two")
    _, old = hashes(skill)
    path = f"/resources/skill/{skill.id}"

    answer = as_("bob").post(f"{path}/rollback", json={"version_hash": old})

    assert answer.status_code == 200
    assert answer.json()["spec"] == {"markdown": "one"}
    assert answer.json()["metadata"]["resource_version"] == 3
    assert hashes(skill)[0] == old
    assert queries.count("skill", skill.id) == 3


def test_rollback_to_the_current_spec_archives_again(skill: Any) -> None:
    (only,) = hashes(skill)

    versions.rollback(
        kind="skill", id=skill.id, version_hash=only, by=factories.act(), now=factories.now()
    )

    assert hashes(skill) == [only, only]


def test_rollback_to_nothing_changes_nothing(as_: Any, skill: Any) -> None:
    answer = as_("bob").post(f"/resources/skill/{skill.id}/rollback", json={"version_hash": "nope"})

    assert answer.json()["code"] == "version_not_found"
    assert queries.count("skill", skill.id) == 1
    assert as_("bob").get(f"/resources/skill/{skill.id}").json()["metadata"][
        "resource_version"
    ] == 1  # fmt: skip


@pytest.mark.parametrize(
    "change", [{"snapshot": {}}, {"version_hash": "0" * 64}, {"archived_by_id": "bob"}]
)
def test_the_database_lets_only_the_tag_change(skill: Any, change: dict[str, Any]) -> None:
    with (
        pytest.raises(IntegrityError, match="resource_version_is_history"),
        transaction.atomic(),
    ):
        ResourceVersion.objects.filter(resource=skill.id).update(**change)


def test_the_database_keeps_a_single_version(skill: Any) -> None:
    with (
        pytest.raises(IntegrityError, match="resource_version_goes_with_its_document"),
        transaction.atomic(),
    ):
        ResourceVersion.objects.filter(resource=skill.id).delete()
    versions.delete_versions(kind="skill", id=skill.id)
    rewrite(skill, "two")
    with (
        pytest.raises(IntegrityError, match="resource_version_goes_with_its_document"),
        transaction.atomic(),
    ):
        ResourceVersion.objects.filter(resource=skill.id).delete()


def test_the_database_lets_a_tag_have_one_holder(skill: Any) -> None:
    rewrite(skill, "two")

    with pytest.raises(IntegrityError, match="resource_version_tag_once"), transaction.atomic():
        ResourceVersion.objects.filter(resource=skill.id).update(tag="stable")


def test_if_match_holds_a_rollback_back(as_: Any, skill: Any) -> None:
    path, alice = f"/resources/skill/{skill.id}", as_("alice")
    first = alice.get(path)["ETag"]
    rewrite(skill, "two")
    back = {"version_hash": hashes(skill)[-1]}

    stale = alice.post(f"{path}/rollback", json=back, headers={"If-Match": first})

    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert alice.get(path).json()["spec"] == {"markdown": "two"}
    assert len(hashes(skill)) == 2
    current = alice.get(path)["ETag"]
    fresh = alice.post(f"{path}/rollback", json=back, headers={"If-Match": current})
    assert (fresh.status_code, fresh.json()["spec"]) == (200, {"markdown": "one"})


def test_if_match_lets_a_tag_move_only_from_the_version_that_was_seen(as_: Any, skill: Any) -> None:
    rewrite(skill, "two")
    new, old = hashes(skill)
    path, alice = f"/resources/skill/{skill.id}/tags/stable", as_("alice")
    free = alice.put(path, json={"version_hash": old}, headers={"If-Match": "*"})
    alice.put(path, json={"version_hash": old})
    seen = alice.get(path)["ETag"]

    moved = alice.put(path, json={"version_hash": new}, headers={"If-Match": seen})
    late = alice.put(path, json={"version_hash": old}, headers={"If-Match": seen})

    assert (free.status_code, moved.status_code, late.status_code) == (412, 200, 412)
    assert alice.get(path).json()["version_hash"] == new
