"""Specs: what each kind takes, and faults that name the place."""

from __future__ import annotations

import time
from typing import Any

import pytest

from resources.kinds import KINDS
from stigmer.core.errors import InvalidRequest
from tests.resources.conftest import SPECS

WORKFLOW = "wfl_01jzq3v8d4e8kb5w2m6n7p9r0t"
INSTANCE = "win_01jzq3v8d4e8kb5w2m6n7p9r0t"


def task(name: str = "one", type: str = "wait", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **({"seconds": 1} if type == "wait" else {}), **more}


EVERY_TASK: list[dict[str, Any]] = [
    task("a", "agent_call", agent="greeter", message="Hello"),
    task("b", "http_call", method="GET", url="https://x.example", headers={"A": "b"}, body=[1]),
    task("c", "set", values={"x": {"y": 1}}),
    task("d", "switch", cases=[{"when": "${ .x }", "then": "e"}], default="f"),
    task("e", "for", each="item", do=[task("e1")]) | {"in": "${ .items }"},
    task("f", "fork", branches=[[task("f1")], [task("f2"), task("f3")]]),
    task("g", "try", do=[task("g1")], catch=[task("g2")]),
    task("h", "listen", signal_name="go", timeout_seconds=60),
    task("i", "wait", seconds=0),
    task("j", "run", workflow="other-flow", input={"a": 1}),
    task("k", "approval", prompt="Sure?", ui_hint="deploy"),
    task("l", "raise", error="gone wrong"),
]


@pytest.mark.parametrize("kind", sorted(SPECS))
def test_takes_the_least_spec_and_a_description(kind: str) -> None:
    spec = {**SPECS[kind], "description": "What it is for"}

    assert KINDS[kind].rules(spec) == spec | ({"enabled": True} if kind == "schedule" else {})


def test_takes_every_type_of_task_as_it_came() -> None:
    spec = {"tasks": EVERY_TASK}

    assert KINDS["workflow"].rules(spec) == spec


@pytest.mark.parametrize("kind", ["team", "memory", "session", "oauth_app"])
def test_a_kind_without_rules_takes_any_object(kind: str) -> None:
    spec = {"anything": [1, {"deep": None}], "description": "text"}

    assert KINDS[kind].rules(spec) == spec


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("agent", {}, "/instructions"),
    ("agent", {"instructions": ""}, "/instructions"),
    ("agent", {"instructions": "x" * (64 * 1024 + 1)}, "/instructions"),
    ("agent", {"instructions": 1}, "/instructions"),
    ("agent", {"instructions": "x", "model": 1}, "/model"),
    ("agent", {"instructions": "x", "tools": ["a", 1]}, "/tools/1"),
    ("agent", {"instructions": "x", "more": 1}, "/more"),
    ("agent", {"instructions": "x", "owner": "bob"}, "/owner"),
    ("agent", {"instructions": "x", "description": 1}, "/description"),
    ("agent", {"instructions": "x", "model": None}, "/model"),
    ("team", {"description": 1}, "/description"),
    ("skill", {"markdown": ""}, "/markdown"),
    ("skill", {"markdown": "x" * (256 * 1024 + 1)}, "/markdown"),
    ("plugin", {"version": "1", "manifest": []}, "/manifest"),
    ("plugin", {"manifest": {}}, "/version"),
    ("mcp_server", {}, "/url"),
    ("mcp_server", {"url": "https://a.example", "command": "x"}, "/url"),
    ("mcp_server", {"url": "ftp://a.example"}, "/url"),
    ("mcp_server", {"command": "x", "auth": {"client_secret": 1}}, "/auth/client_secret"),
    ("workflow_instance", {}, "/workflow_id"),
    ("workflow_instance", {"workflow_id": WORKFLOW, "input": []}, "/input"),
    ("workflow_instance", {"workflow_id": WORKFLOW, "environment_ids": ["x"]},
     "/environment_ids/0"),
    ("environment", {}, "/variables"),
    ("environment", {"variables": {"1A": {"value": "x"}}}, "/variables/1A"),
    ("environment", {"variables": {"a/b": {"value": "x"}}}, "/variables/a~1b"),
    ("environment", {"variables": {"A": {"value": "x"}, "B": "x"}}, "/variables/B"),
    ("environment", {"variables": {"A": {"value": "x"}, "B/C": {"value": 1}}},
     "/variables/B~1C/value"),
    ("environment", {"variables": {"A": {"value": "x"}, "B": {"value": "x", "secret": "yes"}}},
     "/variables/B/secret"),
    ("environment", {"variables": {"A": {"value": "x", "more": 1}, "B": {"value": 1}}},
     "/variables/A/more"),
    ("schedule", SPECS["schedule"] | {"cron": "0 9 * *"}, "/cron"),
    ("schedule", SPECS["schedule"] | {"cron": "61 9 * * *"}, "/cron"),
    ("schedule", SPECS["schedule"] | {"cron": "@every 5m"}, "/cron"),
    ("schedule", SPECS["schedule"] | {"cron": "0 9 * * 1#2"}, "/cron"),
    ("schedule", SPECS["schedule"] | {"time_zone": "Berlin"}, "/time_zone"),
    ("schedule", SPECS["schedule"] | {"time_zone": "../../etc/passwd"}, "/time_zone"),
    ("schedule", SPECS["schedule"] | {"target": WORKFLOW}, "/target"),
    ("schedule", SPECS["schedule"] | {"enabled": "yes"}, "/enabled"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "spec", "pointer"), REFUSED)
def test_names_the_place_of_a_fault(kind: str, spec: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        KINDS[kind].rules(spec)

    assert refused.value.pointer == pointer


@pytest.mark.parametrize(
    ("cron", "count"), [("* * * *", 4), ("* * * * * *", 6), ("@every 5m", 2), ("@daily", 1)]
)
def test_says_how_many_fields_a_cron_has(cron: str, count: int) -> None:
    with pytest.raises(InvalidRequest) as refused:
        KINDS["schedule"].rules(SPECS["schedule"] | {"cron": cron})

    assert refused.value.detail == (
        "spec.cron must have exactly 5 fields "
        f"(minute hour day-of-month month day-of-week); got {count}"
    )


BAD_TASKS: list[tuple[list[Any], str]] = [
    ([], "/tasks"),
    ([task()] * 201, "/tasks"),
    ([task(type="dance")], "/tasks/0/type"),
    ([{"type": "wait", "seconds": 1}], "/tasks/0/name"),
    ([task(seconds=-1)], "/tasks/0/seconds"),
    ([task(seconds="1")], "/tasks/0/seconds"),
    ([task(more=1)], "/tasks/0/more"),
    ([task("a"), task("a")], "/tasks/1/name"),
    ([task("a"), task("b", "try", do=[task("c")], catch=[task("a")])], "/tasks/1/catch/0/name"),
    ([task("a", "fork", branches=[[task("b")], [task("b")]])], "/tasks/0/branches/1/0/name"),
    ([task("a", "fork", branches=[])], "/tasks/0/branches"),
    ([task("a", "fork", branches=[[]])], "/tasks/0/branches/0"),
    ([task("a", "for", each="x", do=[]) | {"in": "y"}], "/tasks/0/do"),
    ([task("a", "for", each="x", do=[task("b")])], "/tasks/0/in"),
    ([task("a", "for", each="x", do=[task("b")]) | {"in": ""}], "/tasks/0/in"),
    ([task("a", "try", do=[task("b", "http_call", method="GET", url="x",
                                headers={"A": "b", "C/D": 1, "E": 2})], catch=[task("c")])],
     "/tasks/0/do/0/headers/C~1D"),
    ([task("a", "approval", prompt="Sure?", ui_hint=1)], "/tasks/0/ui_hint"),
    ([task("a", "approval", prompt="Sure?", ui_hint="\x07")], "/tasks/0/ui_hint"),
    ([task("a", "agent_call", agent="No Slug", message="x")], "/tasks/0/agent"),
    ([task("a", "run", workflow="-")], "/tasks/0/workflow"),
    ([task("a", "http_call", method="FETCH", url="x")], "/tasks/0/method"),
    ([task("a", "raise", error=1)], "/tasks/0/error"),
    ([task("a", "listen", signal_name="")], "/tasks/0/signal_name"),
    ([task("a", "switch", cases=[])], "/tasks/0/cases"),
    ([task("a", "switch", cases=[{"when": "x", "then": "no"}])], "/tasks/0/cases/0/then"),
    ([task("a", "switch", cases=[{"when": "x", "then": "a"}])], "/tasks/0/cases/0/then"),
    ([task("a"), task("b", "switch", cases=[{"when": "x", "then": "a"}])],
     "/tasks/1/cases/0/then"),
    ([task("a", "switch", cases=[{"when": "x", "then": "b"}], default="z"), task("b")],
     "/tasks/0/default"),
    ([task("a", "switch", cases=[{"when": True, "then": "b"}]), task("b")],
     "/tasks/0/cases/0/when"),
]  # fmt: skip


@pytest.mark.parametrize(("tasks", "pointer"), BAD_TASKS)
def test_names_the_task_that_is_wrong(tasks: list[Any], pointer: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        KINDS["workflow"].rules({"tasks": tasks})

    assert refused.value.pointer == pointer


def test_a_hint_may_be_an_object() -> None:
    spec = {"tasks": [task("a", "approval", prompt="Sure?", ui_hint={"form": ["yes", "no"]})]}

    assert KINDS["workflow"].rules(spec) == spec


def test_the_place_in_a_long_map_is_found_soon() -> None:
    headers: dict[str, Any] = {f"h{number}": "v" for number in range(20_000)}
    call = task("a", "http_call", method="GET", url="x", headers=headers | {"last": 1})

    began = time.monotonic()
    with pytest.raises(InvalidRequest) as refused:
        KINDS["workflow"].rules({"tasks": [call]})

    assert refused.value.pointer == "/tasks/0/headers/last"
    assert time.monotonic() - began < 5


def test_an_empty_optional_text_is_absent() -> None:
    assert KINDS["agent"].rules({"instructions": "x", "model": ""}) == {"instructions": "x"}
    assert KINDS["mcp_server"].rules({"url": "", "command": "x"}) == {"command": "x"}


def test_an_empty_optional_text_of_a_task_is_absent() -> None:
    switch = task("a", "switch", cases=[{"when": "x", "then": "c"}])
    asks = task("b", "approval", prompt="Sure?")
    within = asks | {"name": "e"}
    fork = task("d", "fork", branches=[[within]])
    blank_fork = task("d", "fork", branches=[[within | {"ui_hint": ""}]])
    blank = [switch | {"default": ""}, asks | {"ui_hint": ""}, task("c"), blank_fork]

    assert KINDS["workflow"].rules({"tasks": blank}) == {"tasks": [switch, asks, task("c"), fork]}


def test_the_value_of_a_variable_may_be_empty() -> None:
    spec = {"variables": {"A": {"value": ""}}}

    assert KINDS["environment"].rules(spec) == spec
