"""List pages by keyset: a page is found by index, and nothing is ever counted."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.db import DataError
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.views import ChangeList

AFTER, BEFORE = "after", "before"


def behind(keys: Sequence[str], values: Sequence[Any]) -> Q:
    """The rows behind this position in the order of one or two keys of one direction.

    The first condition alone narrows an index on the keys.
    """
    way = "lt" if keys[0].startswith("-") else "gt"
    names = [key.lstrip("-") for key in keys]
    if len(names) == 1:
        return Q(**{f"{names[0]}__{way}": values[0]})
    first, last = names
    tie = Q(**{f"{first}__{way}": values[0]}) | Q(**{f"{last}__{way}": values[1]})
    return Q(**{f"{first}__{way}e": values[0]}) & tie


def reversed_keys(keys: Sequence[str]) -> list[str]:
    """The same keys in the other direction."""
    return [key[1:] if key.startswith("-") else f"-{key}" for key in keys]


def position_of(row: Model, keys: Sequence[str]) -> list[Any]:
    """Where this row stands in the order of these keys."""
    return [getattr(row, key.lstrip("-")) for key in keys]


def _written(values: Sequence[Any]) -> str:
    text = json.dumps([v.isoformat() if hasattr(v, "isoformat") else str(v) for v in values])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


class LookAheadPaginator(Paginator):  # type: ignore[type-arg]
    """Pages that know from one row more whether another page follows, without a count."""

    @cached_property
    def count(self) -> int:
        return 1_000_000_000

    def page(self, number: Any) -> Page[Any]:
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        rows = list(self.object_list[start : start + self.per_page + 1])
        page = Page(rows[: self.per_page], number, self)
        page.has_next = lambda: len(rows) > self.per_page  # type: ignore[method-assign]
        return page


class KeysetChangeList(ChangeList):  # type: ignore[misc]
    """One page of rows behind (`after`) or before a position in the admin's `keyset`."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        query = request.GET.copy()
        self._after = query.pop(AFTER, [""])[-1]
        self._before = query.pop(BEFORE, [""])[-1]
        # The rest of the admin takes every other parameter for a filter.
        request.GET = query  # type: ignore[assignment]
        super().__init__(request, *args, **kwargs)

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        return list(self.model_admin.keyset)

    def url_for_result(self, result: Model) -> str:
        return str(self.model_admin.address("change", result.pk))

    def get_results(self, request: HttpRequest) -> None:
        rows, more = self._page()
        self.result_list = rows
        self.result_count = len(rows)
        self.full_result_count = self.result_count
        self.show_full_result_count = False
        self.can_show_all, self.multi_page = False, False
        self.paginator = self.model_admin.get_paginator(request, self.queryset, self.list_per_page)
        back = bool(self._before)
        self.next_url = self._turn(AFTER, rows[-1:]) if more or back else ""
        self.previous_url = self._turn(BEFORE, rows[:1]) if self._after or (back and more) else ""

    def _page(self) -> tuple[list[Any], bool]:
        keys = list(self.model_admin.keyset)
        found = self.queryset
        if self._before:
            keys = reversed_keys(keys)
            found = found.order_by(*keys)
        if self._before or self._after:
            found = found.filter(behind(keys, self._read(self._before or self._after)))
        try:
            rows = list(found[: self.list_per_page + 1])
        except (ValueError, DataError) as cause:
            raise IncorrectLookupParameters(cause) from cause
        more = len(rows) > self.list_per_page
        rows = rows[: self.list_per_page]
        return (rows[::-1] if self._before else rows), more

    def _turn(self, parameter: str, edge: list[Any]) -> str:
        if not edge:
            return ""
        written = _written(position_of(edge[0], self.model_admin.keyset))
        return str(self.get_query_string({parameter: written}))

    def _read(self, written: str) -> list[Any]:
        names = [key.lstrip("-") for key in self.model_admin.keyset]
        try:
            values = json.loads(base64.urlsafe_b64decode(written + "=" * (-len(written) % 4)))
            fields = [self.opts.pk if n == "pk" else self.opts.get_field(n) for n in names]
            return [f.to_python(v) for f, v in zip(fields, values, strict=True)]
        except (ValueError, TypeError, ValidationError, binascii.Error) as cause:
            raise IncorrectLookupParameters(cause) from cause
