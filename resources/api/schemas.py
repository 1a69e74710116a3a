"""Bodies, queries and answers of documents, versions and search."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from resources.documents import Document, as_json
from resources.queries.versions import Version
from resources.search import Results
from resources.specs.metadata import Metadata, MetadataPatch, VisibilityName
from stigmer.core.search import Hit
from stigmer.http.fields import UNSET, UnsetType, line, stamp
from stigmer.http.schemas import STIGMER_V1, Answer, Body, Page, Query

Hash = Annotated[str, line(128)]
Flag = Literal["true", "false"]


# Bodies -------------------------------------------------------------------------------------------


class WriteDocument(Body, kw_only=True):
    """A document as a caller gives it; the spec's rules are its kind's."""

    metadata: Metadata
    spec: dict[str, Any] = msgspec.field(default_factory=dict)


class PatchDocument(Body, kw_only=True):
    """A merge patch (RFC 7396): objects merge, null removes, anything else replaces."""

    metadata: MetadataPatch | UnsetType = UNSET
    spec: dict[str, Any] | UnsetType = UNSET


class SetVisibility(Body, kw_only=True):
    """Who sees an instance."""

    visibility: VisibilityName = "visibility_org"


class SetExecutionVisibility(Body, kw_only=True):
    """Who sees the executions of an instance."""

    visibility: Literal["visibility_private", "visibility_org"] = "visibility_org"


class NameVersion(Body, kw_only=True):
    """A version by its hash."""

    version_hash: Hash


# Queries ------------------------------------------------------------------------------------------


class PageQuery(Query, kw_only=True):
    """Which page of a list."""

    limit: str | UnsetType = UNSET
    cursor: str | UnsetType = UNSET


class DocumentQuery(PageQuery, kw_only=True):
    """What narrows a list of documents; `label` is `key=value` and repeats."""

    org: str | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    label: list[str] | UnsetType = UNSET
    visibility: VisibilityName | UnsetType = UNSET


class SearchQuery(Query, kw_only=True):
    """What is searched for, and where."""

    q: str | UnsetType = UNSET
    kind: list[str] | UnsetType = UNSET
    org: str | UnsetType = UNSET
    include_public: Flag | UnsetType = UNSET
    exclude_public: Flag | UnsetType = UNSET
    limit: str | UnsetType = UNSET
    offset: str | UnsetType = UNSET


# Answers ------------------------------------------------------------------------------------------


class MetadataAnswer(Answer, kw_only=True):
    """What is known of a document besides its spec and status."""

    id: str
    name: str
    slug: str
    org: str
    visibility: VisibilityName
    labels: dict[str, str]
    annotations: dict[str, str]
    tags: list[str]
    resource_version: int
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str


class DocumentAnswer(Answer, kw_only=True):
    """A document; secret values are never part of it."""

    api_version: str
    kind: str
    metadata: MetadataAnswer
    spec: dict[str, Any]
    status: dict[str, Any]


class DocumentPage(Page, kw_only=True):
    """One page of documents, newest first."""

    items: list[DocumentAnswer]


class VersionAnswer(Answer, kw_only=True):
    """One version; `snapshot` is the whole document as it was."""

    version_hash: str
    tag: str | None
    archived_at: str
    archived_by: str
    snapshot: dict[str, Any]


class VersionPage(Page, kw_only=True):
    """One page of versions, newest first."""

    items: list[VersionAnswer]


class HitAnswer(Answer, kw_only=True):
    """One thing that was found."""

    kind: str
    id: str
    name: str
    slug: str
    org: str
    score: float


class SearchAnswer(Answer, kw_only=True):
    """One page of what was found; the counts are of everything that matches."""

    items: list[HitAnswer]
    total_count: int
    counts_by_kind: dict[str, int]
    schema_version: str = STIGMER_V1


def document_answer(document: Document) -> DocumentAnswer:
    shown = as_json(document)
    return DocumentAnswer(**{**shown, "metadata": MetadataAnswer(**shown["metadata"])})


def version_answer(version: Version) -> VersionAnswer:
    return VersionAnswer(
        version_hash=version.version_hash,
        tag=version.tag,
        archived_at=stamp(version.archived_at),
        archived_by=version.archived_by,
        snapshot=version.snapshot,
    )


def search_answer(found: Results) -> SearchAnswer:
    return SearchAnswer(
        items=[_hit(hit) for hit in found.items],
        total_count=found.total_count,
        counts_by_kind=found.counts_by_kind,
    )


def _hit(hit: Hit) -> HitAnswer:
    return HitAnswer(
        kind=hit.kind, id=hit.id, name=hit.name, slug=hit.slug, org=hit.org, score=hit.score
    )
