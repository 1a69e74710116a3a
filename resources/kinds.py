"""The one registry of kinds: what each is called, where it lives, and which rules it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from resources.errors import UnknownKind
from resources.specs import plain
from resources.specs.workflows import Workflow

AGENTIC = "agentic.stigmer.ai/v1"
IAM = "iam.stigmer.ai/v1"
TENANCY = "tenancy.stigmer.ai/v1"

Rules = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of resource.

    `rules` checks a spec and gives it as it is stored; `parent_field` is the field of the spec
    that holds the parent's id; `stored` is false for kinds that live in tables of their own.
    """

    name: str
    prefix: str
    group: str = AGENTIC
    rules: Rules = plain.anything
    scoped: bool = True
    versioned: bool = False
    searchable: bool = False
    parent: str | None = None
    parent_field: str | None = None
    stored: bool = True

    @property
    def display(self) -> str:
        """The name in documents: `workflow_instance` is `WorkflowInstance`."""
        return "".join(part.capitalize() for part in self.name.split("_"))


# The order of the first 23 is the frozen list of the slug-ledger import.
_ALL = (
    Kind("iam_policy", "iamp", IAM),
    Kind("invitation", "inv", IAM),
    Kind("identity_provider", "idp", IAM),
    Kind("oauth_app", "oapp", IAM),
    Kind("platform_client", "pcl", IAM),
    Kind("team", "tm", IAM),
    Kind("agent", "agt", rules=plain.rules_of(plain.Agent), searchable=True),
    Kind("session", "ses", searchable=True, parent="agent_instance",
         parent_field="agent_instance_id"),
    Kind("skill", "skl", rules=plain.rules_of(plain.Skill), versioned=True, searchable=True),
    Kind("mcp_server", "mcp", rules=plain.rules_of(plain.McpServer), searchable=True),
    Kind("agent_instance", "ain", searchable=True, parent="agent", parent_field="agent_id"),
    Kind("agent_share", "ash", parent="agent", parent_field="agent_id"),
    Kind("agent_channel", "ach", parent="agent", parent_field="agent_id"),
    Kind("channel_app", "chapp"),
    Kind("workflow", "wfl", rules=plain.rules_of(Workflow), versioned=True, searchable=True),
    Kind("workflow_instance", "win", rules=plain.rules_of(plain.WorkflowInstance),
         searchable=True, parent="workflow", parent_field="workflow_id"),
    Kind("workflow_execution", "wfe", searchable=True, stored=False),
    Kind("environment", "env", rules=plain.rules_of(plain.Environment), searchable=True),
    Kind("artifact", "art"),
    Kind("schedule", "sch", rules=plain.rules_of(plain.Schedule), parent="workflow_instance",
         parent_field="target"),
    Kind("memory", "mem"),
    Kind("plugin", "plg", rules=plain.rules_of(plain.Plugin), versioned=True, searchable=True),
    Kind("subscription", "sub"),
    Kind("organization", "", TENANCY, scoped=False, searchable=True, stored=False),
    Kind("agent_execution", "aex", searchable=True, stored=False),
)  # fmt: skip
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
ORGANIZATION_SCOPED = tuple(kind.name for kind in _ALL[:23])
STORED = tuple(kind.name for kind in _ALL if kind.stored)
VERSIONED = tuple(kind.name for kind in _ALL if kind.versioned)
SEARCHABLE = tuple(kind.name for kind in _ALL if kind.searchable)
# Fields of a spec by which documents are found through an index of their own.
INDEXED_FIELDS = ("agent_id", "client_id", "issuer", "target", "url", "workflow_id")
# Whatever grants trust or acts by itself goes with its organization, in the delete itself.
TRUSTED = (
    "iam_policy", "invitation", "identity_provider", "oauth_app", "platform_client", "schedule",
)  # fmt: skip
_BY_DISPLAY = {kind.display: kind for kind in _ALL}


def stored(name: str) -> Kind:
    """The kind of this snake_case name whose documents live here. Raises UnknownKind."""
    kind = KINDS.get(name)
    if kind is None or not kind.stored:
        raise UnknownKind(name)
    return kind


def stored_as(display: str) -> Kind:
    """The kind of this name in documents (`WorkflowInstance`). Raises UnknownKind."""
    kind = _BY_DISPLAY.get(display)
    if kind is None or not kind.stored:
        raise UnknownKind(display)
    return kind
