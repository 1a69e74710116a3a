"""Columns that PostgreSQL computes from the others."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Case, F, Func, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left

from resources.kinds import KINDS

PARENT_CHARACTERS = 64


class Words(Func):
    """The words of one weight, from the folded texts that the application keeps beside them."""

    template = (
        "setweight(to_tsvector('simple'::regconfig, "
        "COALESCE(%(expressions)s ->> '%(key)s', '')), '%(weight)s')"
    )
    output_field = SearchVectorField()


class Joined(Func):
    """Text vectors one behind the other."""

    template = "(%(expressions)s)"
    arg_joiner = " || "
    output_field = SearchVectorField()


class JsonType(Func):
    """`object`, `array`, `string`, …"""

    function = "jsonb_typeof"
    output_field = models.TextField()


def terms() -> Any:
    """Everything that search looks at: name before tags before description."""
    weights = (("name", "A"), ("tags", "B"), ("description", "C"))
    return Joined(*(Words(F("words"), key=key, weight=weight) for key, weight in weights))


def parent() -> Any:
    """The id of the parent, for kinds that have one; cut, so that any text fits an index."""
    by_kind = [
        When(
            kind=kind.name,
            then=Left(KeyTextTransform(kind.parent_field, "spec"), PARENT_CHARACTERS),
        )
        for kind in KINDS.values()
        if kind.parent_field
    ]
    return Case(*by_kind, default=None)
