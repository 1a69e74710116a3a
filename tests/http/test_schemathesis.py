"""The document against the product: generated requests find no surprise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
)

from stigmer.core.callers import Caller
from stigmer.http.openapi import DoorGenerator
from tests import factories

EXAMPLES = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
load_all_checks()
# A JSON schema cannot say bytes, secrets, cursors of ours or what goes with which action, so what
# fits the schema may rightly be refused; everything else about the answer is checked.
UNSAYABLE = [positive_data_acceptance]


def operations() -> list[Any]:
    """Every operation of the document, answered by the WSGI application."""
    schema = schemathesis.openapi.from_dict(DoorGenerator().get_schema())
    schema.app = get_wsgi_application()
    return [found.ok() for found in schema.get_all_operations()]


@pytest.fixture
def headers(cast: dict[str, Caller]) -> Iterator[dict[str, str]]:
    """The platform's admin, who may do everything; the test's connection outlives a request."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield {"Authorization": f"Bearer {factories.make_token('root')}"}
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name)
@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.label)
def test_every_answer_is_documented(
    operation: Any, mode: GenerationMode, headers: dict[str, str]
) -> None:
    there = {"item": factories.open_item().id, "slug": "acme", "name": "bob", "intent": "1"}
    turn = iter(range(1_000_000))
    # WSGI answers a stream 503 `streams_elsewhere`, as documented; any other check holds.
    elsewhere = [not_a_server_error] if operation.path.endswith("/stream") else []
    unchecked = [*UNSAYABLE, *elsewhere]

    @EXAMPLES
    @given(case=operation.as_strategy(generation_mode=mode))
    def examine(case: Any) -> None:
        # Every other request is about something that is there.
        if next(turn) % 2 and case.path_parameters:
            case.path_parameters.update({n: there.get(n, "1") for n in case.path_parameters})
        answer = case.call(headers=headers)
        # A body beyond the limit is refused unread: right, whatever else is wrong with it.
        unread = [negative_data_rejection] if answer.status_code == 413 else []
        case.validate_response(answer, headers=headers, excluded_checks=[*unchecked, *unread])
        assert answer.status_code != 500

    examine()
