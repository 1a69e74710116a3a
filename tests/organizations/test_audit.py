"""The audit log: every committed write, ids only, and nothing of what was undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from structlog.testing import capture_logs

from organizations.operations import members, organizations, principals, tokens
from stigmer.core.callers import Caller
from tests.factories import act, now

pytestmark = pytest.mark.django_db


def test_a_write_is_logged_with_its_ids_once_it_is_committed(
    cast: dict[str, Caller], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    by, moment = act("alice"), now()

    with capture_logs() as logged, django_capture_on_commit_callbacks(execute=True):
        organizations.create_organization(
            name="Private Name", slug="fresh", owner="alice", by=by, now=moment
        )
        members.put_member(organization="fresh", principal="bob", role="viewer", by=by, now=moment)
        assert logged == []

    assert [{k: v for k, v in entry.items() if k != "log_level"} for entry in logged] == [
        {
            "event": "organization_created",
            "actor": "alice",
            "surface": "api",
            "request_id": "req-test",
            "organization": "fresh",
            "owner": "alice",
        },
        {
            "event": "member_added",
            "actor": "alice",
            "surface": "api",
            "request_id": "req-test",
            "organization": "fresh",
            "principal": "bob",
        },
    ]


def test_no_secret_is_logged(
    cast: dict[str, Caller], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    by, moment = act("bob"), now()

    with capture_logs() as logged, django_capture_on_commit_callbacks(execute=True):
        token, secret = tokens.create_token(
            principal="bob", name="my laptop", expires_at=None, by=by, now=moment
        )
        principals.set_password(
            principal="bob", password="correct horse battery", by=by, now=moment
        )

    assert [entry["event"] for entry in logged] == ["token_created", "password_changed"]
    for kept_back in (secret, token.digest, "my laptop", "correct horse battery"):
        assert kept_back not in str(logged)


@pytest.mark.django_db(transaction=True)
def test_what_was_undone_is_not_logged(cast: dict[str, Caller]) -> None:
    def create_and_fail() -> None:
        with transaction.atomic():
            organizations.create_organization(
                name="F", slug="fresh", owner="alice", by=act("alice"), now=now()
            )
            raise LookupError

    with capture_logs() as logged, pytest.raises(LookupError):
        create_and_fail()

    assert logged == []
