"""Console pages of resources: by kind, version history, diff; never a sealed value."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from resources.models import Resource, ResourceVersion
from resources.operations import documents
from stigmer.core.registries import in_use
from tests import factories
from tests.resources.conftest import make

pytestmark = pytest.mark.django_db
LIST = "admin:resources_resource_changelist"
PAGE = "admin:resources_resource_change"
DIFF = "admin:resources_resource_diff"


def show(client: Any, name: str, *args: object, query: str = "") -> Any:
    return client.get(reverse(name, args=args) + query)


def text(client: Any, name: str, *args: object, query: str = "") -> str:
    answer = show(client, name, *args, query=query)
    assert answer.status_code == 200
    return str(answer.content.decode())


@pytest.fixture
def skill(cast: Any) -> Any:
    made = make("skill", "Greeting", spec={"markdown": "line one\nline two\nline three"})
    documents.update(
        kind="skill", id=made.id, by=factories.act("bob"), now=factories.now(),
        modify=lambda d: {**d, "spec": {"markdown": "line one\nline 2 <b>\nline three"}},
    )  # fmt: skip
    return made


def test_lists_by_kind_and_finds_by_words(root: Any, skill: Any) -> None:
    make("team", "Blue team")

    assert "Greeting" in text(root, LIST)
    assert "Greeting" not in text(root, LIST, query="?kind=team")
    assert "Blue team" in text(root, LIST, query="?kind=team")
    for term in ("greet", "greeting", skill.id):
        found = text(root, LIST, query=f"?q={term}")
        assert "Greeting" in found
        assert "Blue team" not in found


def test_a_page_shows_content_and_history(root: Any, skill: Any) -> None:
    page = text(root, PAGE, skill.id)

    for expected in ("Skill Greeting", "line two"[:4], "Versions", "The first", "bob"):
        assert expected in page
    old, new = ResourceVersion.objects.order_by("id").values_list("id", flat=True)
    assert reverse(DIFF, args=[skill.id, old, new]) in page


def test_a_diff_shows_what_changed_line_by_line(root: Any, skill: Any) -> None:
    old, new = ResourceVersion.objects.order_by("id").values_list("id", flat=True)

    page = text(root, DIFF, skill.id, old, new)

    assert "<del><code>line two</code></del>" in page
    assert "<ins><code>line 2 &lt;b&gt;</code></ins>" in page
    assert "<ins><code>line one" not in page
    assert "<b>" not in page.split("</header>", 1)[1]


def test_a_diff_is_of_versions_of_this_document(root: Any, skill: Any) -> None:
    other = make("skill", "Other")
    old = ResourceVersion.objects.filter(resource=skill.id).order_by("id").first()
    foreign = ResourceVersion.objects.get(resource=other.id)
    assert old is not None

    assert show(root, DIFF, skill.id, old.pk, foreign.pk).status_code == 404
    assert show(root, DIFF, "skl_nope", old.pk, old.pk).status_code == 404


def test_private_documents_are_for_platform_admins(root: Any, signed_in: Any, skill: Any) -> None:
    hidden = make("team", "Hidden thing", by="bob", visibility="visibility_private")
    staff = signed_in("vera", "resources.view_resource")

    assert "Hidden thing" in text(root, LIST)
    assert "Hidden thing" not in text(staff, LIST)
    assert show(staff, PAGE, hidden.id).status_code == 404
    assert show(staff, PAGE, skill.id).status_code == 200
    assert show(signed_in("mallory"), PAGE, skill.id).status_code == 403


def test_a_sealed_value_never_reaches_a_page(root: Any, cast: Any) -> None:
    spec = {"variables": {"TOKEN": {"value": "hunter2-horse", "secret": True}}}
    made = make("environment", "Prod", spec=spec)
    sealed = Resource.objects.get(pk=made.id).sealed["TOKEN"]

    exported = b"".join(
        show(root, "admin:resources_resource_export", "csv").streaming_content
    ).decode()
    for page in (text(root, LIST), text(root, PAGE, made.id), exported):
        assert "hunter2" not in page
        assert sealed not in page
    assert made.id in exported


def delete(client: Any, made: Any, version: str) -> Any:
    path = reverse("admin:resources_resource_act", args=["delete"])
    return client.post(path, {"row": made.id, "version": version, "back": "1"}, follow=True)


def test_a_delete_is_the_operation_with_its_refusals(root: Any, skill: Any) -> None:
    in_use.add("test", lambda kind, id: 2)
    try:
        assert "2 live executions use this resource" in delete(root, skill, "2").content.decode()
    finally:
        in_use.remove("test")
    delete(root, skill, "1")
    assert Resource.objects.filter(pk=skill.id).exists()

    delete(root, skill, "2")

    assert not Resource.objects.filter(pk=skill.id).exists()


def test_a_delete_needs_its_permission(signed_in: Any, skill: Any) -> None:
    staff = signed_in("alice", "resources.view_resource")

    assert delete(staff, skill, "2").status_code == 403
    assert Resource.objects.filter(pk=skill.id).exists()


def test_pages_take_few_statements(
    root: Any, skill: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        make("team", f"Team {number}")

    with django_assert_max_num_queries(11):
        text(root, LIST)
    with django_assert_max_num_queries(11):
        text(root, PAGE, skill.id)
