"""What the doors of this app share: pages, tags of answers, filters of a query."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from django.db.models import Model, QuerySet
from django.http import HttpResponse

from organizations.authorization import Permission
from organizations.queries import admit
from resources.api.schemas import document_answer, version_answer
from resources.documents import Document
from resources.queries.documents import Filters
from resources.queries.versions import Version
from stigmer.core.errors import InvalidRequest
from stigmer.http import etags
from stigmer.http.fields import UNSET
from stigmer.http.pagination import cursor_for, limit_from, position_of
from stigmer.http.schemas import Page
from stigmer.http.views import Call, reply

Row = TypeVar("Row", bound=Model)
Shown = TypeVar("Shown")
Position = tuple[datetime, Any]


def page(
    call: Call,
    after: Callable[[Any], QuerySet[Row]],
    rows: Callable[[QuerySet[Row]], list[Shown]],
    show: Callable[[Shown], Any],
    position: Callable[[Shown], Position],
    bound: dict[str, Any],
    shape: Any,
) -> HttpResponse:
    """The page that `limit` and `cursor` name; the cursor is bound to the filters in `bound`."""
    limit = limit_from(call.query.limit or None)
    cursor = call.query.cursor or None
    begin = None if cursor is None else position_of(cursor, bound, shape)
    found = rows(after(begin)[: limit + 1])
    shown = found[:limit]
    more = cursor_for(position(shown[-1]), bound) if len(found) > limit else None
    return reply(Page(items=[show(one) for one in shown], next_cursor=more))


def answer(document: Document, status: int = 200) -> HttpResponse:
    """The document with the tag of its answer."""
    shown = document_answer(document)
    return reply(shown, status, ETag=etags.etag_of(msgspec.json.encode(shown)))


def unchanged_for(call: Call) -> Callable[[Document], bool] | None:
    """Whether `If-Match` allows a change of a document; None without that header."""
    tags = etags.wanted(call.request)
    if tags is None:
        return None
    return lambda document: etags.holds(tags, msgspec.json.encode(document_answer(document)))


def holder_for(call: Call) -> Callable[[Version | None], bool] | None:
    """Whether `If-Match` names the version that holds a tag now; None without that header."""
    tags = etags.wanted(call.request)
    if tags is None:
        return None
    return lambda held: (
        held is not None and etags.holds(tags, msgspec.json.encode(version_answer(held)))
    )


def filters_of(call: Call) -> Filters:
    """What narrows a list. Raises InvalidRequest; OrganizationNotFound for a platform admin."""
    query = call.query
    org = query.org or None
    if org is not None and call.caller.sees_all:
        admit(call.caller, Permission.READ, org)
    return Filters(
        org=org,
        parent=query.parent or None,
        labels=tuple(_label(raw) for raw in query.label or ()),
        visibility=None if query.visibility is UNSET else query.visibility,
    )


def _label(raw: str) -> tuple[str, str]:
    key, found, value = raw.partition("=")
    if not found or not key:
        raise InvalidRequest("label must be key=value", pointer="label", fault="pattern")
    return key, value


def bound_to(call: Call, **more: str) -> dict[str, Any]:
    """What a cursor is bound to: every filter, not where the page begins or how long it is."""
    found: dict[str, Any] = msgspec.to_builtins(call.query)
    return {k: v for k, v in found.items() if k not in ("cursor", "limit")} | more
