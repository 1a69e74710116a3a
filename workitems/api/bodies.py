"""Bodies and queries of `workitem/v1`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta

from stigmer.core import texts
from stigmer.http.fields import Surface, UnsetType, line, text
from stigmer.http.schemas import Body, KeyedBody, Query
from workitems.api.paging import Counter, Limit

Title = Annotated[str, line(256)]
ExternalKey = Annotated[str, line(512)]
EngineName = Literal["temporal", "argo", "stigmer"]
EngineRef = Annotated[str, line(256)]
PhaseName = Literal["Pending", "Running", "Succeeded", "Failed", "Error"]


def _needle(value: str, pointer: str) -> None:
    # A space is something to look for; nothing at all is not.
    texts.check_line(value, pointer=pointer, max_bytes=256, min_bytes=0 if value else 1)


Needle = Annotated[str, Meta(extra={"rule": _needle})]
# The parser refuses integers that JSON does not carry exactly; any other is just another version.
Version = Annotated[int, Meta(ge=1)]


# Bodies -------------------------------------------------------------------------------------------


class CreateWorkItem(KeyedBody, kw_only=True):
    """Open a work item."""

    tenant: str
    title: Title
    external_key: ExternalKey | UnsetType = UNSET
    visibility: Literal["tenant", "private"] | UnsetType = "tenant"
    origin_surface: Surface | UnsetType = "api"


class TransitionWorkItem(KeyedBody, kw_only=True):
    """Move a work item along its lifecycle."""

    action: Literal["wait", "complete", "supersede", "archive"]
    expected_state_version: Version
    waiting_reason: Literal["input", "approval"] | UnsetType = UNSET
    superseded_by: str | UnsetType = UNSET


class ResumeWorkItem(KeyedBody, kw_only=True):
    """Start the next execution of a work item."""

    expected_state_version: Version
    engine: EngineName
    engine_ref: EngineRef
    resumed_from_execution_id: str | UnsetType = UNSET


class AttachExecution(KeyedBody, kw_only=True):
    """Correlate a work item with a run of an engine."""

    engine: EngineName
    engine_ref: EngineRef
    phase: PhaseName | UnsetType = "Pending"


class AppendIntent(KeyedBody, kw_only=True):
    """Record what was asked for."""

    text: Annotated[str, text(8192)]
    params: dict[str, Any] | None = None
    surface: Surface | UnsetType = "api"


class LinkSurface(Body, kw_only=True):
    """Remember where a conversation about the item goes on."""

    surface: Surface
    external_id: Annotated[str, line(256)]
    actor_external_id: Annotated[str, line(256)] | UnsetType = UNSET


# Queries ------------------------------------------------------------------------------------------


class WorkItemsQuery(Query, kw_only=True):
    """What narrows the list of work items."""

    tenant: str | UnsetType = UNSET
    state: (
        Literal["open", "active", "waiting", "completed", "superseded", "archived"] | UnsetType
    ) = "open"
    owner: str | UnsetType = UNSET
    external_key: str | UnsetType = UNSET
    surface: str | UnsetType = UNSET
    q: Needle | UnsetType = UNSET
    limit: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


class EventsQuery(Query, kw_only=True):
    """Where to go on in the events."""

    after_seq: Counter | UnsetType = UNSET
    limit: Limit | UnsetType = UNSET


class IntentsQuery(Query, kw_only=True):
    """Where to go on in the intents."""

    after_id: Counter | UnsetType = UNSET
    limit: Limit | UnsetType = UNSET


class PageQuery(Query, kw_only=True):
    """Where to go on in a list."""

    limit: Limit | UnsetType = UNSET
    cursor: str | UnsetType = UNSET
