"""Filters of list pages: exact values only, so that an index serves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter, TextFilter


class ExactFilter(TextFilter):  # type: ignore[misc]
    """A text field; rows whose `column` equals what is typed."""

    column = ""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        typed = self.value()
        return queryset.filter(**{self.column: typed}) if typed else queryset


class ChoiceFilter(SimpleListFilter):
    """One of a few values; `standard` is what holds when nothing is chosen."""

    options: tuple[tuple[str, str], ...] = ()
    standard = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> tuple[tuple[str, str], ...]:
        return self.options

    def chosen(self) -> str:
        """The value that holds now."""
        known = dict(self.options)
        found = self.value() or ""
        return found if found in known else self.standard

    @property
    def lookup_kwarg(self) -> str:
        """What the theme's template keeps, with `lookup_val`, when other filters are applied."""
        return self.parameter_name or ""

    @property
    def lookup_val(self) -> list[str]:
        return [self.chosen() if self.chosen() != self.standard else ""]

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        for value, display in self.options:
            chosen = None if value == self.standard else value
            yield {
                "selected": value == self.chosen(),
                "query_string": changelist.get_query_string({self.parameter_name: chosen}),
                "display": display,
            }


class OneOfManyFilter(AutocompleteSelectFilter):  # type: ignore[misc]
    """A relation, found by typing."""
