"""Executions whose name holds the words of a search."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, FloatField
from django.db.models.expressions import RawSQL

from executions.kinds import KINDS, Kind
from executions.queries.rows import MODELS
from organizations.authorization import restrict
from stigmer.core.search import PARTED, Found, Hit, Question

# As the indexes of the migration `searched_names` have it, to the letter.
NAME_TERMS = "setweight(to_tsvector('simple', {text}), 'A')".format(
    text=PARTED.format(text="lower(normalize({table}.name, NFKC))")
)
_SHOWN: Any = ("id", "name", "organization", "score", "created_at")


def found(question: Question) -> Found:
    """The executions of both kinds that the viewer sees and whose name has the words."""
    parts = [_of(question, kind) for kind in KINDS.values() if question.may_hold(kind.noun)]
    hits = [hit for part in parts for hit in part.hits]
    hits.sort(key=lambda hit: (hit.score, hit.at, hit.id), reverse=True)
    return Found(
        hits[: question.first],
        {kind: number for part in parts for kind, number in part.counts.items()},
    )


def _of(question: Question, kind: Kind) -> Found:
    terms = NAME_TERMS.replace("{table}", kind.table)
    live = MODELS[kind.noun].objects.filter(organization__retired_at__isnull=True)
    rows = restrict(live, question.viewer, kind.noun)
    if question.org is not None:
        rows = rows.filter(organization=question.org)
    if kind.noun in question.ids_by_kind:
        rows = rows.filter(pk__in=sorted(question.ids_by_kind[kind.noun]))
    if question.words:
        sql, params = question.held(terms)
        rows = rows.filter(RawSQL(sql, params, output_field=BooleanField()))
    count = rows.count()
    sql, params = question.score(terms)
    score = RawSQL(sql, params, output_field=FloatField())
    best = rows.annotate(score=score).order_by("-score", "-created_at", "-id")
    hits = [
        Hit(kind.noun, id, name, id, org, score, at)
        for id, name, org, score, at in best.values_list(*_SHOWN)[: question.first]
    ]
    return Found(hits, {kind.noun: count})
