"""`manage.py transform_documents`: walks a whole kind and never overwrites another's write."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from resources.models import Resource
from resources.operations import documents
from tests import factories

pytestmark = pytest.mark.django_db
HERE = "tests.resources.test_transform"


def coloured(document: dict[str, Any]) -> dict[str, Any] | None:
    if "colour" not in document["spec"]:
        return None
    return {**document, "spec": {"color": document["spec"]["colour"]}}


def racing(document: dict[str, Any]) -> dict[str, Any] | None:
    """As `coloured`, and somebody else writes between the read and the swap, once."""
    if document["metadata"]["resource_version"] == 1:
        documents.update(
            kind="memory", id=document["metadata"]["id"], by=factories.act(), now=factories.now(),
            modify=lambda found: {**found, "spec": {"colour": "changed meanwhile"}},
        )  # fmt: skip
    return coloured(document)


def broken(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "metadata": {**document["metadata"], "name": ""}}


def run(function: str, **options: Any) -> str:
    out = StringIO()
    call_command("transform_documents", "memory", f"{HERE}.{function}", stdout=out, **options)
    return out.getvalue()


def specs() -> list[Any]:
    return list(
        Resource.objects.filter(kind="memory").order_by("id").values_list("spec", flat=True)
    )


def test_rewrites_what_the_function_changes(stored: Any) -> None:
    for number in range(5):
        stored("memory", f"Note {number}", spec={"colour": number} if number % 2 else {"a": 1})

    assert run("coloured", batch=2, dry_run=True) == "5 documents, 2 changed\n"
    assert {"color": 1} not in specs()
    assert run("coloured", batch=2) == "5 documents, 2 changed\n"
    assert specs() == [{"a": 1}, {"color": 1}, {"a": 1}, {"color": 3}, {"a": 1}]
    assert run("coloured") == "5 documents, 0 changed\n"


def test_a_write_in_between_is_read_again_not_overwritten(stored: Any) -> None:
    stored("memory", "Note", spec={"colour": "red"})

    assert run("racing") == "1 documents, 1 changed\n"
    assert specs() == [{"color": "changed meanwhile"}]


def test_says_what_it_cannot_store(stored: Any) -> None:
    made = stored("memory", "Note")

    with pytest.raises(CommandError, match=made.id):
        run("broken")
    with pytest.raises(CommandError, match="unknown kind"):
        call_command("transform_documents", "nope", f"{HERE}.coloured")
    with pytest.raises(CommandError):
        call_command("transform_documents", "memory", f"{HERE}.nope")
    assert Resource.objects.get().name == "Note"
