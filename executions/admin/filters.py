"""Filters of the lists of executions."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import QuerySet
from django.http import HttpRequest

from executions.states import LIVE, Phase
from stigmer.console.base import ChoiceFilter, ExactFilter

ANY, OPEN = "any", "live"


class PhaseFilter(ChoiceFilter):
    """What has not ended unless something else is asked for; a search looks everywhere."""

    title = "phase"
    parameter_name = "phase"
    options = (
        (OPEN, "Live"),
        *((phase.value, phase.short.replace("_", " ").capitalize()) for phase in Phase),
        (ANY, "Any"),
    )

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        self.standard = ANY if request.GET.get(SEARCH_VAR) else OPEN
        super().__init__(request, *args)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.chosen()
        if chosen == ANY:
            return queryset
        return queryset.filter(phase__in=LIVE if chosen == OPEN else [chosen])


class TargetFilter(ExactFilter):
    """The workflow or agent that runs, by its id."""

    title = "workflow or agent"
    parameter_name = "target"
    column = "target"
