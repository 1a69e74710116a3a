"""What the poll of waiting readers sees."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from executions import operations
from executions.kinds import AGENT, WORKFLOW
from executions.queries import probing
from tests import factories
from tests.executions import making
from tests.executions.test_runner import lapse

pytestmark = pytest.mark.django_db


def moved(look: Callable[[], Any], act: Callable[[], Any]) -> bool:
    """Whether what is looked at differs after this."""
    before = look()
    act()
    return bool(look() != before)


def test_a_batch_of_events_alone_is_seen(cast: Any) -> None:
    held = making.running()
    making.report(held, "", *making.events(1))
    id = held.execution.id

    def look() -> Any:
        return probing.changes([id])

    assert moved(look, lambda: making.report(held, "", *making.events(2)))
    assert not moved(look, lambda: making.report(held, "", *making.events(2)))


@pytest.mark.parametrize("kind", [WORKFLOW, AGENT])
def test_a_changed_row_and_a_message_are_seen(kind: Any, cast: Any) -> None:
    held = making.running(kind)
    other = making.running(kind)

    def look() -> Any:
        return probing.changes([held.execution.id])

    assert not moved(look, lambda: making.report(other, cost_micros=5))
    assert moved(look, lambda: making.report(held, cost_micros=5))
    assert moved(look, lambda: making.command(held, "pause"))


def test_what_is_gone_has_no_version(cast: Any) -> None:
    assert probing.changes(["wfe_01h455vb4pex5vsknk084sn02q", "nonsense"]) == {}


# What is claimable at the time of the statement: one long transaction has one time.
@pytest.mark.django_db(transaction=True)
def test_one_more_claimable_execution_is_seen_also_an_older_one(cast: Any) -> None:
    newest = making.pending()

    def look() -> Any:
        return probing.claimable(["workflow_execution"])

    def add_older() -> None:
        operations.create_execution(
            kind=WORKFLOW,
            new=operations.NewExecution(org="acme", target=newest.target),
            by=factories.act(),
            now=factories.now() - timedelta(hours=1),
            facts={},
        )

    assert moved(look, add_older)
    assert moved(look, making.claim)
    held = making.claim()
    assert held is not None
    assert moved(look, lambda: lapse(held.execution.id))
    assert not moved(look, making.pending_agent)
