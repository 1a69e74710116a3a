"""Doors of versions and of search."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from organizations.errors import OrganizationNotFound
from resources import search
from resources.api import gates
from resources.api.answering import answer, bound_to, page
from resources.api.documents import EXAMPLE
from resources.api.schemas import (
    DocumentAnswer,
    NameVersion,
    PageQuery,
    SearchAnswer,
    SearchQuery,
    VersionAnswer,
    VersionPage,
    search_answer,
    version_answer,
)
from resources.errors import UnknownKind, VersionNotFound
from resources.operations import versions as operations
from resources.queries import versions
from stigmer.core.errors import InvalidRequest, PermissionDenied, RouteNotFound
from stigmer.http.pagination import limit_from
from stigmer.http.views import Call, Door, door, reply

VERSION: dict[str, Any] = {
    "version_hash": "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
    "tag": "stable",
    "archived_at": "2026-01-31T09:30:00.000000Z",
    "archived_by": "alice",
    "snapshot": EXAMPLE,
}
HIT = {
    "kind": "agent",
    "id": "agt_01jzq3v8d4e8kb5w2m6n7p9r0t",
    "name": "Greeter",
    "slug": "greeter",
    "org": "acme",
    "score": 0.38,
}
READS = (UnknownKind, RouteNotFound, VersionNotFound)
WRITES = (*READS, PermissionDenied)


class Versions(Door):
    """`/resources/{kind}/{id}/versions`"""

    @door(
        summary="List the versions of a document",
        query=PageQuery,
        answer=VersionPage,
        gate=gates.sees,
        statuses={200: "One page, newest first."},
        refusals=(UnknownKind, RouteNotFound),
        example={"items": [VERSION], "next_cursor": None, "schema_version": "stigmer/v1"},
    )
    def get(self, call: Call, kind: str, id: str) -> HttpResponse:
        gates.sees(call.caller, kind, id)
        found = versions.of(kind, id)
        return page(
            call,
            lambda position: versions.after(found, position),
            versions.rows,
            version_answer,
            lambda version: (version.archived_at, version.id),
            bound_to(call, list="versions", kind=kind, id=id),
            versions.Position,
        )


class Version(Door):
    """`/resources/{kind}/{id}/versions/{version_hash}`"""

    @door(
        summary="Get a version by its hash",
        answer=VersionAnswer,
        gate=gates.sees,
        statuses={200: "The newest version with this hash.", 304: "You have it already."},
        refusals=READS,
        etag=True,
        example=VERSION,
    )
    def get(self, call: Call, kind: str, id: str, version_hash: str) -> HttpResponse:
        gates.sees(call.caller, kind, id)
        return reply(version_answer(versions.by_hash(kind, id, version_hash)))


class Tag(Door):
    """`/resources/{kind}/{id}/tags/{tag}`"""

    @door(
        summary="Get the version that holds a tag",
        answer=VersionAnswer,
        gate=gates.sees,
        statuses={200: "The version.", 304: "You have it already."},
        refusals=READS,
        etag=True,
        example=VERSION,
    )
    def get(self, call: Call, kind: str, id: str, tag: str) -> HttpResponse:
        gates.sees(call.caller, kind, id)
        return reply(version_answer(versions.by_tag(kind, id, tag)))

    @door(
        summary="Give a tag to a version",
        body=NameVersion,
        answer=VersionAnswer,
        gate=gates.changes,
        statuses={200: "This version holds the tag; no other does."},
        refusals=WRITES,
        rate="writes",
        example=VERSION,
    )
    def put(self, call: Call, kind: str, id: str, tag: str) -> HttpResponse:
        tagged = operations.set_tag(
            kind=kind,
            id=id,
            tag=tag,
            version_hash=call.body.version_hash,
            by=call.act(),
            now=call.now,
        )
        return reply(version_answer(tagged))


class Rollback(Door):
    """`/resources/{kind}/{id}/rollback`"""

    @door(
        summary="Give a document the spec of a version",
        body=NameVersion,
        answer=DocumentAnswer,
        gate=gates.changes,
        statuses={200: "The document with that spec; it has become a new version."},
        refusals=WRITES,
        rate="writes",
        example=EXAMPLE,
    )
    def post(self, call: Call, kind: str, id: str) -> HttpResponse:
        rolled = operations.rollback(
            kind=kind,
            id=id,
            version_hash=call.body.version_hash,
            by=call.act(),
            now=call.now,
        )
        return answer(rolled)


class Search(Door):
    """`/search`"""

    @door(
        summary="Search everything you may see",
        query=SearchQuery,
        answer=SearchAnswer,
        statuses={200: "One page, best first; without `q` newest first."},
        refusals=(OrganizationNotFound,),
        example={
            "items": [HIT], "total_count": 1, "counts_by_kind": {"agent": 1},
            "schema_version": "stigmer/v1",
        },
    )  # fmt: skip
    def get(self, call: Call) -> HttpResponse:
        return reply(search_answer(search.search(call.caller, _asked(call))))


def _asked(call: Call) -> search.Search:
    query = call.query
    return search.Search(
        q=query.q or "",
        kinds=frozenset(query.kind or ()),
        org=query.org or None,
        include_public=query.include_public == "true",
        exclude_public=query.exclude_public == "true",
        limit=limit_from(query.limit or None),
        offset=_offset(query.offset or "0"),
    )


def _offset(raw: str) -> int:
    if not raw.isascii() or not raw.isdigit() or len(raw) > 9:
        raise InvalidRequest(search.OFFSET_TEXT, pointer="offset", fault="out_of_range")
    return int(raw)
