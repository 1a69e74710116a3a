"""Documents that hold the words of a search."""

from __future__ import annotations

from typing import Any

from django.db import connection

from organizations.authorization import scope_clause
from resources.models import Resource
from resources.states import Visibility
from stigmer.core.search import Found, Hit, Question

SCOPE = "resource"
Clause = tuple[str, list[Any]]
_FROM = "resources_resource doc"
_LIVE = """EXISTS (SELECT 1 FROM organizations_organizationslug ledger
    WHERE ledger.slug = doc.organization AND ledger.retired_at IS NULL)"""
_PUBLIC = f"doc.visibility = '{Visibility.PUBLIC.value}'"
_TERMS = "doc.terms"


def found(question: Question, kinds: frozenset[str]) -> Found:
    """The best documents of these kinds, best first, and how many there are of each kind."""
    wanted = sorted(kind for kind in kinds if question.may_hold(kind))
    if not wanted:
        return Found([], {})
    where, params = _all(_kinds(question, wanted), _words(question), _scope(question))
    counted = f"SELECT doc.kind, count(*) FROM {_FROM} WHERE {where} GROUP BY doc.kind"
    counts = dict(_rows(counted, params))
    if not counts:
        return Found([], {})
    score, ranked = question.score(_TERMS)
    order = "score DESC, doc.created_at DESC, doc.id DESC"
    page = f"""
        SELECT doc.kind, doc.id, doc.name, doc.slug, doc.organization, {score} AS score,
            doc.created_at
        FROM {_FROM} WHERE {where}
        ORDER BY {order if question.words else order.removeprefix("score DESC, ")} LIMIT %s
    """
    best = _rows(page, [*ranked, *params, question.first])
    return Found([Hit._make(row) for row in best], counts)


def _scope(question: Question) -> Clause:
    """What the viewer may find: its organizations' documents and public ones."""
    mine, params = scope_clause(question.viewer, SCOPE, Resource, "doc")
    if question.org is None:
        scope = f"({mine} OR {_PUBLIC})"
    elif question.include_public:
        scope = f"(({mine} AND doc.organization = %s) OR {_PUBLIC})"
        params = [*params, question.org]
    else:
        scope = f"(({mine} OR {_PUBLIC}) AND doc.organization = %s)"
        params = [*params, question.org]
    if question.exclude_public:
        scope += f" AND NOT ({_PUBLIC})"
    return f"{_LIVE} AND {scope}", params


def _kinds(question: Question, wanted: list[str]) -> Clause:
    narrowed = [kind for kind in wanted if kind in question.ids_by_kind]
    sql = ["doc.kind = ANY(%s)"]
    params: list[Any] = [[kind for kind in wanted if kind not in narrowed]]
    for kind in narrowed:
        sql.append("(doc.kind = %s AND doc.id = ANY(%s))")
        params += [kind, sorted(question.ids_by_kind[kind])]
    return f"({' OR '.join(sql)})", params


def _words(question: Question) -> Clause:
    return question.held(_TERMS) if question.words else ("TRUE", [])


def _all(*clauses: Clause) -> Clause:
    sql = " AND ".join(f"({clause})" for clause, _ in clauses)
    return sql, [value for _, params in clauses for value in params]


def _rows(sql: str, params: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
