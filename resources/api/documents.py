"""Doors of documents."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from organizations.errors import OrganizationNotFound
from resources.api import gates
from resources.api.answering import answer, bound_to, filters_of, page, unchanged_for
from resources.api.schemas import (
    DocumentAnswer,
    DocumentPage,
    DocumentQuery,
    PatchDocument,
    SetExecutionVisibility,
    SetVisibility,
    WriteDocument,
    document_answer,
)
from resources.errors import InUse, LoadFailed, ResourceNotFound, UnknownKind
from resources.kinds import stored
from resources.operations import documents as operations
from resources.operations import instances
from resources.patching import patched
from resources.queries import documents as queries
from stigmer.core.errors import AlreadyExists, PermissionDenied, PreconditionFailed, RouteNotFound
from stigmer.http.pagination import TimeAndId
from stigmer.http.views import Call, Door, door

MIB = 1024 * 1024
EXAMPLE: dict[str, Any] = {
    "api_version": "agentic.stigmer.ai/v1",
    "kind": "Agent",
    "metadata": {
        "id": "agt_01jzq3v8d4e8kb5w2m6n7p9r0t",
        "name": "Greeter",
        "slug": "greeter",
        "org": "acme",
        "visibility": "visibility_org",
        "labels": {"team": "support"},
        "annotations": {},
        "tags": ["friendly"],
        "resource_version": 1,
        "created_at": "2026-01-31T09:30:00.000000Z",
        "created_by": "alice",
        "updated_at": "2026-01-31T09:30:00.000000Z",
        "updated_by": "alice",
    },
    "spec": {"instructions": "Greet whoever comes in."},
    "status": {},
}
PAGE = {"items": [EXAMPLE], "next_cursor": None, "schema_version": "stigmer/v1"}
WRITES = (UnknownKind, RouteNotFound, OrganizationNotFound, PermissionDenied, AlreadyExists,
          LoadFailed)  # fmt: skip


class Documents(Door):
    """`/resources/{kind}`"""

    @door(
        summary="List documents of a kind",
        query=DocumentQuery,
        answer=DocumentPage,
        gate=gates.known,
        statuses={200: "One page, newest first."},
        refusals=(UnknownKind, OrganizationNotFound),
        example=PAGE,
    )
    def get(self, call: Call, kind: str) -> HttpResponse:
        found = queries.documents(call.caller, stored(kind).name, filters_of(call))
        return page(
            call,
            lambda position: queries.after(found, position),
            queries.rows,
            document_answer,
            lambda document: (document.created_at, document.id),
            bound_to(call, list="resources", kind=kind),
            TimeAndId,
        )

    @door(
        summary="Create a document",
        body=WriteDocument,
        answer=DocumentAnswer,
        gate=gates.known,
        body_gate=gates.creates,
        statuses={201: "Created."},
        refusals=WRITES,
        limit=MIB,
        rate="writes",
        example=EXAMPLE,
    )
    def post(self, call: Call, kind: str) -> HttpResponse:
        made = operations.create(kind=kind, document=call.data, by=call.act(), now=call.now)
        return answer(made, 201)


class Apply(Door):
    """`/resources/{kind}/apply`"""

    @door(
        summary="Create a document or replace its spec",
        body=WriteDocument,
        answer=DocumentAnswer,
        gate=gates.known,
        body_gate=gates.creates,
        statuses={200: "The document existed and has this spec now.", 201: "Created."},
        refusals=(*WRITES, PreconditionFailed),
        limit=MIB,
        rate="writes",
        if_match=True,
        example=EXAMPLE,
    )
    def post(self, call: Call, kind: str) -> HttpResponse:
        applied = operations.apply(
            kind=kind,
            document=call.data,
            expected=unchanged_for(call),
            by=call.act(),
            now=call.now,
        )
        return answer(applied.document, 201 if applied.created else 200)


class BySlug(Door):
    """`/resources/{kind}/by-slug/{org}/{slug}`"""

    @door(
        summary="Get a document by its slug",
        answer=DocumentAnswer,
        gate=gates.sees_slug,
        statuses={200: "The document.", 304: "You have it already."},
        refusals=(UnknownKind, RouteNotFound),
        etag=True,
        example=EXAMPLE,
    )
    def get(self, call: Call, kind: str, org: str, slug: str) -> HttpResponse:
        return answer(queries.readable_by_slug(call.caller, stored(kind).name, org, slug))


class Document(Door):
    """`/resources/{kind}/{id}`"""

    @door(
        summary="Get a document",
        answer=DocumentAnswer,
        gate=gates.sees,
        statuses={200: "The document.", 304: "You have it already."},
        refusals=(UnknownKind, RouteNotFound),
        etag=True,
        example=EXAMPLE,
    )
    def get(self, call: Call, kind: str, id: str) -> HttpResponse:
        return answer(queries.readable(call.caller, stored(kind).name, id))

    @door(
        summary="Change a document by a merge patch",
        body=PatchDocument,
        answer=DocumentAnswer,
        gate=gates.changes,
        statuses={200: "Changed."},
        refusals=(UnknownKind, RouteNotFound, PermissionDenied, PreconditionFailed, LoadFailed),
        limit=MIB,
        rate="writes",
        if_match=True,
        example=EXAMPLE,
    )
    def patch(self, call: Call, kind: str, id: str) -> HttpResponse:
        changed = operations.update(
            kind=kind,
            id=id,
            modify=lambda document: patched(document, call.data),
            expected=unchanged_for(call),
            by=call.act(),
            now=call.now,
        )
        return answer(changed)

    @door(
        summary="Delete a document with its versions",
        answer=DocumentAnswer,
        gate=gates.changes,
        statuses={200: "Deleted; this is what it was."},
        refusals=(UnknownKind, RouteNotFound, PermissionDenied, PreconditionFailed, InUse),
        rate="writes",
        if_match=True,
        example=EXAMPLE,
    )
    def delete(self, call: Call, kind: str, id: str) -> HttpResponse:
        deleted = operations.delete(
            kind=kind, id=id, expected=unchanged_for(call), by=call.act(), now=call.now
        )
        if deleted is None:
            raise ResourceNotFound.of(kind, id)
        return answer(deleted)


class InstanceVisibility(Door):
    """`/resources/workflow_instance/{id}/visibility`"""

    @door(
        summary="Set who sees a workflow instance",
        body=SetVisibility,
        answer=DocumentAnswer,
        gate=gates.changes_instance,
        statuses={200: "Set."},
        refusals=(RouteNotFound, PermissionDenied, PreconditionFailed, LoadFailed),
        rate="writes",
        if_match=True,
        example=EXAMPLE,
    )
    def put(self, call: Call, id: str) -> HttpResponse:
        changed = instances.set_visibility(
            id=id,
            visibility=call.body.visibility,
            expected=unchanged_for(call),
            by=call.act(),
            now=call.now,
        )
        return answer(changed)


class ExecutionVisibility(Door):
    """`/resources/workflow_instance/{id}/execution-visibility`"""

    @door(
        summary="Set who sees the executions of a workflow instance",
        body=SetExecutionVisibility,
        answer=DocumentAnswer,
        gate=gates.changes_instance,
        statuses={200: "Set, for executions that start from now on."},
        refusals=(RouteNotFound, PermissionDenied, PreconditionFailed, LoadFailed),
        rate="writes",
        if_match=True,
        example=EXAMPLE,
    )
    def put(self, call: Call, id: str) -> HttpResponse:
        changed = instances.set_execution_visibility(
            id=id,
            visibility=call.body.visibility,
            expected=unchanged_for(call),
            by=call.act(),
            now=call.now,
        )
        return answer(changed)
