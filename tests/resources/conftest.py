"""Documents for the tests of resources, made by the product's own operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from resources.documents import Document
from resources.operations import documents
from stigmer.core.callers import Caller
from tests import factories

SPECS: dict[str, dict[str, Any]] = {
    "agent": {"instructions": "Greet."},
    "skill": {"markdown": "# Greeting"},
    "mcp_server": {"url": "https://mcp.example"},
    "workflow": {"tasks": [{"name": "pause", "type": "wait", "seconds": 1}]},
    "environment": {"variables": {"COLOUR": {"value": "green"}}},
    "plugin": {"version": "1", "manifest": {}},
    "schedule": {
        "cron": "0 9 * * 1",
        "time_zone": "Europe/Berlin",
        "target": "win_01jzq3v8d4e8kb5w2m6n7p9r0t",
    },
}


def body(
    kind: str, name: str, *, org: str = "acme", spec: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """What a caller sends to store a document of this kind."""
    return {
        "metadata": {"org": org, "name": name, **more},
        "spec": SPECS.get(kind, {}) if spec is None else spec,
    }


def make(kind: str = "agent", name: str = "Greeter", *, by: str = "alice", **more: Any) -> Document:
    """A stored document."""
    return documents.create(
        kind=kind, document=body(kind, name, **more), by=factories.act(by), now=factories.now()
    )


def make_instance(workflow: Document, name: str = "Nightly", **more: Any) -> Document:
    """A stored instance of this workflow."""
    return make("workflow_instance", name, spec={"workflow_id": workflow.id}, **more)


@pytest.fixture
def stored(cast: dict[str, Caller]) -> Callable[..., Document]:
    """`stored("agent", "Greeter", by="bob")`."""
    return make
