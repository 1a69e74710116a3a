"""The spec of a workflow: a list of named tasks, some of which hold tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from organizations.naming import is_slug
from resources.specs.plain import Spec, fail
from stigmer.http.fields import line, text

KIB = 1024
YEAR = 366 * 86400
Tasks = Annotated[list["Task"], Meta(min_length=1, max_length=200)]
Expression = Annotated[str, text(4 * KIB)]
Seconds = Annotated[int, Meta(ge=0, le=YEAR)]


class Base(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, tag_field="type"):
    """What every task has: a name that no other task of the document has."""

    name: Annotated[str, line(256)]


class AgentCall(Base, tag="agent_call"):
    """Ask an agent; `agent` is a slug, looked up when the task runs."""

    agent: str
    message: Annotated[str, text(64 * KIB)]


class HttpCall(Base, tag="http_call"):
    """Send an HTTP request."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    url: Annotated[str, line(2048)]
    headers: dict[str, Annotated[str, line(8 * KIB, least=0)]] | UnsetType = UNSET
    body: Any = UNSET


class Set(Base, tag="set"):
    """Set values of the run's data."""

    values: dict[str, Any]


class Case(msgspec.Struct, forbid_unknown_fields=True):
    """Where to go on when an expression holds."""

    when: Expression
    then: str


class Switch(Base, tag="switch"):
    """Go on at the first case that holds, else at the default, else with the next task."""

    cases: Annotated[list[Case], Meta(min_length=1, max_length=200)]
    default: str | UnsetType = UNSET


class For(Base, tag="for"):
    """Run tasks once for each element of a list."""

    each: Annotated[str, line(256)]
    source: Expression = msgspec.field(name="in")
    do: Tasks


class Fork(Base, tag="fork"):
    """Run branches side by side."""

    branches: Annotated[list[Tasks], Meta(min_length=1, max_length=200)]


class Try(Base, tag="try"):
    """Run tasks; when one fails, run others."""

    do: Tasks
    catch: Tasks


class Listen(Base, tag="listen"):
    """Wait for a signal."""

    signal_name: Annotated[str, line(256)]
    timeout_seconds: Annotated[int, Meta(ge=1, le=YEAR)] | UnsetType = UNSET


class Wait(Base, tag="wait"):
    """Wait for some time."""

    seconds: Seconds


class Raise(Base, tag="raise"):
    """Fail with this error."""

    error: Annotated[str, text(8 * KIB)]


class Run(Base, tag="run"):
    """Run another workflow; `workflow` is a slug, looked up when the task runs."""

    workflow: str
    input: dict[str, Any] | UnsetType = UNSET


class Approval(Base, tag="approval"):
    """Wait for a person's decision."""

    prompt: Annotated[str, text(8 * KIB)]
    ui_hint: Annotated[str, text(8 * KIB, least=0)] | dict[str, Any] | UnsetType = UNSET


Task = (
    AgentCall | HttpCall | Set | Switch | For | Fork | Try | Listen | Wait | Raise | Run | Approval
)


class Workflow(Spec):
    """Tasks that run one after the other."""

    tasks: Tasks

    def check(self) -> None:
        seen: dict[str, str] = {}
        for place, task in _walk(self.tasks, "/tasks"):
            if task.name in seen:
                raise fail(
                    f"the task name {task.name!r} is taken by {seen[task.name]}",
                    f"{place}/name",
                    "duplicate_name",
                )
            seen[task.name] = place
            _check_slugs(task, place)
        _check_jumps(self.tasks, "/tasks")


def _lists(task: Any, place: str) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(task, For | Try):
        yield f"{place}/do", task.do
    if isinstance(task, Try):
        yield f"{place}/catch", task.catch
    if isinstance(task, Fork):
        for number, branch in enumerate(task.branches):
            yield f"{place}/branches/{number}", branch


def _walk(tasks: list[Any], at: str) -> Iterator[tuple[str, Any]]:
    for number, task in enumerate(tasks):
        place = f"{at}/{number}"
        yield place, task
        for inner, below in _lists(task, place):
            yield from _walk(below, inner)


def _check_slugs(task: Any, place: str) -> None:
    for kind, field in ((AgentCall, "agent"), (Run, "workflow")):
        if isinstance(task, kind) and not is_slug(getattr(task, field)):
            raise fail(f"{field} must be a slug", f"{place}/{field}", "pattern")


def _check_jumps(tasks: list[Any], at: str) -> None:
    """A switch goes on at a later task of its own list: nothing runs twice, nothing is entered."""
    for number, task in enumerate(tasks):
        place = f"{at}/{number}"
        if isinstance(task, Switch):
            later = {following.name for following in tasks[number + 1 :]}
            targets = [(f"{place}/cases/{n}/then", c.then) for n, c in enumerate(task.cases)]
            if task.default is not UNSET:
                targets.append((f"{place}/default", str(task.default)))
            for pointer, target in targets:
                if target not in later:
                    raise fail(f"{target!r} is not the name of a later task", pointer, "no_task")
        for inner, below in _lists(task, place):
            _check_jumps(below, inner)
