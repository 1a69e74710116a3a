"""Documents that hold the words of a search."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, Count, FloatField, Q, QuerySet
from django.db.models.expressions import RawSQL

from organizations.authorization import restrict
from resources.models import Resource
from resources.queries.documents import LIVE
from resources.states import Visibility
from stigmer.core.search import Found, Hit, Question

SCOPE = "resource"
_SHOWN: Any = ("kind", "id", "name", "slug", "organization", "score", "created_at")
_TERMS = "resources_resource.terms"


def found(question: Question, kinds: frozenset[str]) -> Found:
    """The best documents of these kinds, best first, and how many there are of each kind."""
    wanted = sorted(kind for kind in kinds if question.may_hold(kind))
    if not wanted:
        return Found([], {})
    matching = _narrowed(_scope(question), question, wanted)
    counts = matching.order_by().values_list("kind").annotate(Count("pk"))
    best = _scored(matching, question).values_list(*_SHOWN)
    return Found([Hit._make(row) for row in best[: question.first]], dict(counts))


def _scope(question: Question) -> QuerySet[Resource]:
    """What the viewer may find: its organizations' documents and public ones."""
    public = LIVE.filter(visibility=Visibility.PUBLIC)
    mine = restrict(LIVE.all(), question.viewer, SCOPE)
    if question.org is None:
        scope = mine | public
    elif question.include_public:
        scope = mine.filter(organization=question.org) | public
    else:
        scope = (mine | public).filter(organization=question.org)
    if question.exclude_public:
        scope = scope.exclude(visibility=Visibility.PUBLIC)
    return scope


def _narrowed(
    scope: QuerySet[Resource], question: Question, wanted: list[str]
) -> QuerySet[Resource]:
    free = [kind for kind in wanted if kind not in question.ids_by_kind]
    allowed = Q(kind__in=free)
    for kind in set(wanted) - set(free):
        allowed |= Q(kind=kind, id__in=sorted(question.ids_by_kind[kind]))
    scope = scope.filter(allowed)
    if not question.words:
        return scope
    sql, params = question.held(_TERMS)
    return scope.filter(RawSQL(sql, params, output_field=BooleanField()))  # noqa: S611


def _scored(matching: QuerySet[Resource], question: Question) -> QuerySet[Resource]:
    sql, params = question.score(_TERMS)
    score = RawSQL(sql, params, output_field=FloatField())  # noqa: S611 words are parameters
    order = ("-score", "-created_at", "-id") if question.words else ("-created_at", "-id")
    return matching.annotate(score=score).order_by(*order)
