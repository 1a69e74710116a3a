"""Search over everything that can be found: documents, and what other apps register."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from organizations.authorization import Permission
from organizations.queries import admit
from resources.kinds import KINDS, SEARCHABLE
from resources.queries import searching
from stigmer.core.callers import Caller
from stigmer.core.errors import InvalidRequest
from stigmer.core.registries import search_sources
from stigmer.core.search import Found, Hit, Question, fold

MAX_OFFSET = 10_000
OFFSET_TEXT = f"offset must be an integer from 0 to {MAX_OFFSET}"
# Kinds that are no resources are found too; whoever registers a source answers for its kinds.
FINDABLE = frozenset({*SEARCHABLE, "work_item"})
OWN = frozenset(kind for kind in SEARCHABLE if KINDS[kind].stored)


@dataclass(frozen=True, slots=True)
class Search:
    """What a caller asks; `authorized_ids_by_kind` comes from services, never from a request."""

    q: str = ""
    kinds: frozenset[str] = frozenset()
    org: str | None = None
    include_public: bool = False
    exclude_public: bool = False
    limit: int = 100
    offset: int = 0
    authorized_ids_by_kind: Mapping[str, Set[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Results:
    """One page of hits, best first; counts are of everything that matches."""

    items: list[Hit]
    total_count: int
    counts_by_kind: dict[str, int]


def search(viewer: Caller, asked: Search) -> Results:
    """Find what the viewer may see. Without `q` everything is listed, newest first, score 1.0.

    Raises InvalidRequest, OrganizationNotFound for a platform admin who names one that is none.
    """
    _check(asked)
    words = fold(asked.q)
    if asked.q and not words:
        return Results([], 0, {})
    if asked.org is not None and viewer.sees_all:
        admit(viewer, Permission.READ, asked.org)
    question = Question(
        viewer=viewer,
        words=words,
        kinds=asked.kinds or FINDABLE,
        first=asked.offset + asked.limit,
        org=asked.org,
        include_public=asked.include_public,
        exclude_public=asked.exclude_public,
        ids_by_kind={kind: frozenset(ids) for kind, ids in asked.authorized_ids_by_kind.items()},
    )
    return _merged([source(question) for _, source in search_sources], asked)


def documents(question: Question) -> Found:
    """The source of this app."""
    return searching.found(question, OWN)


def _check(asked: Search) -> None:
    unknown = sorted(asked.kinds - FINDABLE)
    if unknown:
        raise InvalidRequest(
            f"{unknown[0]} is not a searchable kind", pointer="kind", fault="unknown_kind"
        )
    if asked.include_public and asked.exclude_public:
        raise InvalidRequest(
            "include_public and exclude_public exclude each other",
            pointer="exclude_public",
            fault="contradiction",
        )
    if not 0 <= asked.offset <= MAX_OFFSET:
        raise InvalidRequest(OFFSET_TEXT, pointer="offset", fault="out_of_range")


def _merged(answers: list[Found], asked: Search) -> Results:
    counts: Counter[str] = Counter()
    hits: list[Hit] = []
    for answer in answers:
        counts.update(answer.counts)
        hits += answer.hits
    hits.sort(key=lambda hit: (hit.score, hit.at, hit.id), reverse=True)
    page = hits[asked.offset : asked.offset + asked.limit]
    found = {kind: count for kind, count in sorted(counts.items()) if count}
    return Results(page, sum(found.values()), found)
