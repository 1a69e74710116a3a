"""Organizations that hold the words of a search, by name, slug and description."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, FloatField
from django.db.models.expressions import RawSQL

from organizations.authorization import restrict
from organizations.models import Organization
from stigmer.core.search import PARTED, Found, Hit, Question

KIND = "organization"
_PARTS = (("name", "A"), ("slug", "B"), ("description", "C"))
# Few rows that change by name: computed, not kept.
_TERMS = " || ".join(
    f"setweight(to_tsvector('simple', {PARTED.format(text=text)}), '{weight}')"
    for text, weight in (
        (f"lower(normalize(organizations_organization.{column}, NFKC))", weight)
        for column, weight in _PARTS
    )
)
_SHOWN: Any = ("slug", "name", "score", "created_at")


def found(question: Question) -> Found:
    """The organizations that the viewer sees and that have the words, best first."""
    if not question.may_hold(KIND):
        return Found([], {})
    rows = restrict(Organization.objects.all(), question.viewer, KIND)
    if question.org is not None:
        rows = rows.filter(slug=question.org)
    if KIND in question.ids_by_kind:
        rows = rows.filter(slug__in=sorted(question.ids_by_kind[KIND]))
    if question.words:
        sql, params = question.held(f"({_TERMS})")
        rows = rows.filter(RawSQL(sql, params, output_field=BooleanField()))
    count = rows.count()
    sql, params = question.score(f"({_TERMS})")
    score = RawSQL(sql, params, output_field=FloatField())
    best = rows.annotate(score=score).order_by("-score", "-created_at", "-slug")
    hits = [
        Hit(KIND, slug, name, slug, slug, score, at)
        for slug, name, score, at in best.values_list(*_SHOWN)[: question.first]
    ]
    return Found(hits, {KIND: count})
