"""Specs of every kind but the workflow, and how a spec is checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from cronsim import CronSim, CronSimError
from msgspec import UNSET, Meta, UnsetType

from stigmer.core import texts
from stigmer.core.errors import InvalidRequest
from stigmer.core.ids import is_id
from stigmer.http.fields import EMPTY_IS_A_VALUE, line, text
from stigmer.http.parsing import typed

KIB = 1024
DESCRIPTION_BYTES = 64 * KIB
CRON_FIELDS = "minute hour day-of-month month day-of-week"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_URL = re.compile(r"https?://[^\s/]+\S*")
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

Description = Annotated[str, text(DESCRIPTION_BYTES, least=0)]


class Spec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=False):
    """A spec: strict types, no unknown fields; every one may have a description."""

    description: Description | UnsetType = UNSET

    def check(self) -> None:
        """What the types cannot say. Raises InvalidRequest with a pointer into the spec."""


def fail(detail: str, pointer: str, fault: str = "invalid") -> InvalidRequest:
    """The refusal of a value at this place of the spec."""
    return InvalidRequest(detail, pointer=pointer, fault=fault)


def rules_of(schema: type[Spec]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The rules that a struct declares: a spec in, the spec with its defaults out."""

    def rules(spec: dict[str, Any]) -> dict[str, Any]:
        given = typed(spec, schema)
        given.check()
        checked: dict[str, Any] = msgspec.to_builtins(given)
        return checked

    return rules


def anything(spec: dict[str, Any]) -> dict[str, Any]:
    """Any object; its description, if it has one, is a text."""
    description = spec.get("description", "")
    if not isinstance(description, str):
        raise fail("description must be a text", "/description", "wrong_type")
    texts.check_text(description, pointer="/description", max_bytes=DESCRIPTION_BYTES, min_bytes=0)
    return spec


class Agent(Spec):
    """An agent: what it is told, and what it may use."""

    instructions: Annotated[str, text(64 * KIB)]
    model: Annotated[str, line(256)] | UnsetType = UNSET
    tools: list[str | dict[str, Any]] | UnsetType = UNSET


class Skill(Spec):
    """A skill: instructions in Markdown."""

    markdown: Annotated[str, text(256 * KIB)]


class Plugin(Spec):
    """A plugin: its version and its manifest."""

    version: Annotated[str, line(128)]
    manifest: dict[str, Any]


class McpServer(Spec):
    """An MCP server, reached at a URL or started by a command."""

    url: Annotated[str, line(2048)] | UnsetType = UNSET
    command: Annotated[str, line(2048)] | UnsetType = UNSET
    auth: dict[str, Any] | UnsetType = UNSET

    def check(self) -> None:
        if (self.url is UNSET) == (self.command is UNSET):
            raise fail("exactly one of url and command must be given", "/url", "missing")
        if isinstance(self.url, str) and not _URL.fullmatch(self.url):
            raise fail("url must be an http or https URL", "/url", "pattern")
        if self.auth is not UNSET:
            _check_client_secret(self.auth)


def _check_client_secret(auth: Any) -> None:
    if not isinstance(auth.get("client_secret", ""), str | dict):
        raise fail("client_secret must be a text", "/auth/client_secret", "wrong_type")


class WorkflowInstance(Spec):
    """A workflow made ready to run: its input and its environments."""

    workflow_id: Annotated[str, line(64)]
    input: dict[str, Any] | UnsetType = UNSET
    environment_ids: list[Annotated[str, line(64)]] | UnsetType = UNSET

    def check(self) -> None:
        for place, id in enumerate(self.environment_ids or []):
            if not is_id("env", id):
                raise fail(
                    "must be the id of an environment", f"/environment_ids/{place}", "pattern"
                )


class Variable(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One variable; a secret's value is sealed and reads as absent."""

    value: Annotated[str, text(64 * KIB, least=0), EMPTY_IS_A_VALUE] | UnsetType = UNSET
    secret: bool = False


class Environment(Spec):
    """Variables for executions."""

    variables: Annotated[dict[str, Variable], Meta(max_length=500)]

    def check(self) -> None:
        for name in self.variables:
            if not _VARIABLE.fullmatch(name):
                raise fail(
                    "a variable's name must match ^[A-Za-z_][A-Za-z0-9_]{0,127}$",
                    f"/variables/{name.replace('~', '~0').replace('/', '~1')}",
                    "pattern",
                )


class Schedule(Spec):
    """When a workflow instance runs by itself."""

    cron: Annotated[str, line(256)]
    time_zone: Annotated[str, line(64)]
    target: Annotated[str, line(64)]
    input: dict[str, Any] | UnsetType = UNSET
    enabled: bool = True

    def check(self) -> None:
        _check_cron(self.cron)
        _check_zone(self.time_zone)
        if not is_id("win", self.target):
            raise fail("target must be the id of a workflow instance", "/target", "pattern")


def _check_cron(cron: str) -> None:
    fields = cron.split()
    if len(fields) != 5 or "#" in cron or cron.startswith("@"):
        raise fail(
            f"spec.cron must have exactly 5 fields ({CRON_FIELDS}); got {len(fields)}", "/cron"
        )
    try:
        CronSim(cron, _EPOCH)
    except CronSimError as cause:
        raise fail(f"cron cannot be read: {cause}", "/cron") from None


def _check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise fail("time_zone must be an IANA time zone", "/time_zone") from None
