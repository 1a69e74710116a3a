"""Filters of the list of work items."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import QuerySet
from django.http import HttpRequest

from stigmer.console.base import ChoiceFilter, ExactFilter
from workitems.states import LIFECYCLE, Visibility, WorkItemState

ANY, OPEN = "any", "open"


class StateFilter(ChoiceFilter):
    """Open work unless something else is asked for; a search looks everywhere."""

    title = "state"
    parameter_name = "state"
    options = (
        (OPEN, "Open"),
        *((state.value, state.value.capitalize()) for state in WorkItemState),
        (ANY, "Any"),
    )

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        self.standard = ANY if request.GET.get(SEARCH_VAR) else OPEN
        super().__init__(request, *args)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.chosen()
        if chosen == ANY:
            return queryset
        states = LIFECYCLE.open if chosen == OPEN else [chosen]
        return queryset.filter(state__in=sorted(str(state) for state in states))


class VisibilityFilter(ChoiceFilter):
    """Who sees it."""

    title = "visibility"
    parameter_name = "visibility"
    options = (("", "All"), *((v.value, v.value.capitalize()) for v in Visibility))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(visibility=self.chosen()) if self.chosen() else queryset


class SurfaceFilter(ExactFilter):
    """Where it was opened."""

    title = "surface"
    parameter_name = "surface"
    column = "origin_surface"


class ExternalKeyFilter(ExactFilter):
    """What the surface calls it."""

    title = "external key"
    parameter_name = "external_key"
    column = "external_key"
