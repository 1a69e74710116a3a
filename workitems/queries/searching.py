"""Work items whose title holds the words of a search."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, FloatField
from django.db.models.expressions import RawSQL

from organizations.authorization import restrict
from stigmer.core import grams
from stigmer.core.search import PARTED, Found, Hit, Question
from workitems.models import WorkItem

KIND = "work_item"
TITLE_BYTES = 256
# What the index looks for before titles are read as words.
_PROBES = 8
_FOLDED = "workitems_workitemtitle.folded"
_TERMS = f"setweight(to_tsvector('simple', {PARTED.format(text=_FOLDED)}), 'A')"
_SHOWN: Any = ("id", "title", "organization", "score", "created_at")


def found(question: Question) -> Found:
    """The work items that the viewer sees and whose title has the words, best first."""
    words = sorted(set(question.words.split()), key=len, reverse=True)
    if not question.may_hold(KIND) or sum(map(len, words)) > TITLE_BYTES:
        return Found([], {})
    rows = restrict(
        WorkItem.objects.filter(organization__retired_at__isnull=True), question.viewer, KIND
    )
    if question.org is not None:
        rows = rows.filter(organization=question.org)
    if KIND in question.ids_by_kind:
        rows = rows.filter(id__in=sorted(question.ids_by_kind[KIND]))
    if words:
        for word in words[:_PROBES]:
            rows = rows.filter(grams.contains("searchable__folded", word))
        sql, params = question.held(_TERMS)
        rows = rows.filter(RawSQL(sql, params, output_field=BooleanField()))
    count = rows.count()
    sql, params = question.score(_TERMS)
    score = RawSQL(sql, params, output_field=FloatField())
    best = rows.annotate(score=score).order_by("-score", "-created_at", "-id")
    hits = [
        Hit(KIND, id, title, "", org, score, at)
        for id, title, org, score, at in best.values_list(*_SHOWN)[: question.first]
    ]
    return Found(hits, {KIND: count})
