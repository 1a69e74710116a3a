"""What an execution runs: the workflow or agent, its instance, and who may see the runs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from executions.kinds import AGENT, WORKFLOW, Kind
from executions.states import Visibility
from resources.documents import Document
from resources.errors import ResourceNotFound
from resources.operations import instances
from resources.queries import documents
from stigmer.core.callers import Act


class Target(NamedTuple):
    """What a new execution runs; `instance` is empty for an agent that is run without one."""

    id: str
    slug: str
    name: str
    instance: str
    visibility: Visibility


def resolve(
    kind: Kind, org: str, *, target: str | None, instance: str | None, by: Act, now: datetime
) -> Target:
    """Find what is named, hold it until the transaction ends; a workflow has a default instance.

    Another organization's is not found, public or not. Raises ResourceNotFound.
    """
    if instance is not None:
        return _by_instance(kind, org, instance, by)
    assert target is not None
    found = _of(kind.target, org, target, by)
    if kind is AGENT:
        return Target(found.id, found.slug, found.name, "", Visibility.ORG)
    default = instances.default_instance(workflow=found.id, by=by, now=now)
    return Target(found.id, found.slug, found.name, default.id, _visibility(default))


def _by_instance(kind: Kind, org: str, instance: str, by: Act) -> Target:
    found = _of(f"{kind.target}_instance", org, instance, by)
    parent = str(found.spec.get(f"{kind.target}_id", ""))
    target = documents.find(kind.target, parent)
    if target is None or target.organization != org:
        raise ResourceNotFound.of(kind.target, parent)
    return Target(target.id, target.slug, target.name, found.id, _visibility(found))


def _of(kind: str, org: str, id: str, by: Act) -> Document:
    found = documents.held(kind, id)
    if found is None or found.organization != org or not documents.sees(by.caller, found):
        raise ResourceNotFound.of(kind, id)
    return found


def _visibility(instance: Document) -> Visibility:
    return Visibility(instance.status.get("execution_visibility", Visibility.ORG.value))


def ui_hints(workflows: Iterable[str]) -> dict[tuple[str, str], Any]:
    """The hints of the workflows' own tasks by (workflow, task name)."""
    hints: dict[tuple[str, str], Any] = {}
    for id in sorted(set(workflows)):
        workflow = documents.find(WORKFLOW.target, id)
        tasks = [] if workflow is None else workflow.spec.get("tasks", [])
        hints |= {(id, task["name"]): task["ui_hint"] for task in _hinted(tasks)}
    return hints


def _hinted(value: Any) -> list[dict[str, Any]]:
    """Every task with a hint, however deep in branches and loops it stands."""
    if isinstance(value, list):
        return [task for item in value for task in _hinted(item)]
    if not isinstance(value, dict):
        return []
    own = [value] if "ui_hint" in value and "name" in value else []
    inner = [task for item in value.values() if isinstance(item, list) for task in _hinted(item)]
    return own + inner


def tasks_of(workflow: str) -> list[dict[str, Any]]:
    """The tasks that the workflow declares; none when it is gone."""
    found = documents.find(WORKFLOW.target, workflow)
    return [] if found is None else list(found.spec.get("tasks", []))
