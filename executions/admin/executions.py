"""Executions: the lists, and the page of one with what its phase allows now."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin import display
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from executions.admin import trail
from executions.admin.filters import PhaseFilter, TargetFilter
from executions.errors import FailedPrecondition
from executions.kinds import AGENT, WORKFLOW, Kind
from executions.models import (
    AgentExecution,
    AgentInboxEntry,
    WorkflowExecution,
    WorkflowInboxEntry,
)
from executions.models.execution import Execution
from executions.operations import command_execution
from executions.states import COMMANDS, Command, Phase, Visibility
from organizations.authorization import Permission, Resource, permitted
from stigmer.console.base import (
    ActionAdmin,
    OneOfManyFilter,
    RowAction,
    Table,
    badge,
    code,
    linked,
    minute,
    moment,
    prose,
)
from stigmer.console.base.reading import viewer_of
from stigmer.core.callers import Act

DANGEROUS = (Command.CANCEL, Command.TERMINATE)
CHANGED = "the execution has changed since the page was opened"


def _commanding(kind: Kind, command: Command) -> RowAction:
    move = COMMANDS[command]

    def run(row: Execution, version: str, by: Act, now: datetime) -> None:
        if version != row.phase:
            raise FailedPrecondition(CHANGED, phase=row.phase)
        command_execution(kind=kind, id=str(row.pk), command=command, by=by, now=now)

    return RowAction(
        name=command.value,
        label=command.value.capitalize(),
        done=move.past,
        permission=f"executions.change_{kind.noun.replace('_', '')}",
        run=run,
        offered=lambda row: row.phase in move.sources,
        danger=command in DANGEROUS,
    )


class ExecutionAdmin(ActionAdmin):
    """Executions, newest first; other people's private ones are for platform admins."""

    kind: ClassVar[Kind]
    inbox: ClassVar[type[WorkflowInboxEntry | AgentInboxEntry]]
    keyset = ("-created_at", "-id")
    list_display = ("id", "name_text", "organization_id", "phase_badge", "cost", "created")
    list_filter = (PhaseFilter, ("organization", OneOfManyFilter), TargetFilter)
    export_columns = (
        "id", "organization_id", "name", "target", "instance", "phase", "created_by_id",
        "created_at", "started_at", "completed_at", "cost_micros", "input_tokens",
        "output_tokens", "error",
    )  # fmt: skip
    search_fields = ("id",)
    search_help_text = "Id of an execution, a workflow, an agent or an instance"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        found = found.filter(organization__retired_at__isnull=True)
        if getattr(request.user, "is_superuser", False):
            return found
        mine = Q(created_by=request.user.get_username())
        return found.filter(mine | Q(visibility=Visibility.ORG.value))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        return queryset.filter(Q(id=term) | Q(target=term) | Q(instance=term)), False

    @display(description="Name")
    def name_text(self, row: Execution) -> object:
        return prose(row.name)

    @display(description="Phase")
    def phase_badge(self, row: Execution) -> object:
        short = Phase(row.phase).short.lower()
        return badge(short.replace("_", " "), short)

    @display(description="Cost")
    def cost(self, row: Execution) -> object:
        return f"{row.cost_micros / 1_000_000:.4f} USD"

    @display(description="Created")
    def created(self, row: Execution) -> object:
        return minute(row.created_at)

    def heading(self, row: Execution) -> str:
        return str(row.name)

    def version(self, row: Execution) -> str:
        return str(row.phase)

    def may_act(self, request: HttpRequest, row: Any) -> bool:
        private = row.created_by_id if row.visibility == Visibility.PRIVATE else None
        resource = Resource(self.kind.noun, row.pk, row.organization_id, private)
        return permitted(viewer_of(request), Permission.WRITE, resource)

    def facts(self, request: HttpRequest, row: Any) -> list[tuple[str, object]]:
        organization = reverse(
            "admin:organizations_organizationslug_change", args=[row.organization_id]
        )
        return [
            ("Phase", self.phase_badge(row)),
            ("Organization", linked(organization, row.organization_id)),
            ("Runs", code(row.target)),
            ("Instance", code(row.instance)),
            ("Started by", prose(row.created_by_id)),
            ("Visibility", badge(row.visibility.removeprefix("visibility_"))),
            ("Message", prose(row.message or "–")),
            ("Error", prose(row.error or "–")),
            ("Cost", self.cost(row)),
            ("Tokens", f"{row.input_tokens:,} in, {row.output_tokens:,} out"),
            ("Created", moment(row.created_at)),
            ("Started", moment(row.started_at)),
            ("Completed", moment(row.completed_at)),
            *self._claim(row),
        ]

    def _claim(self, row: Any) -> list[tuple[str, object]]:
        if row.claimed_by_id is None:
            return [("Engine", row.engine), ("Claimed by", "–")]
        return [
            ("Engine", row.engine),
            ("Claimed by", prose(row.claimed_by_id)),
            ("Attempt", row.claim_attempt),
            ("Lease ends", moment(row.claimable_at)),
        ]

    def tables(self, request: HttpRequest, row: Any) -> list[Table]:
        return [trail.tasks(row), trail.gates(row), trail.inbox(self.inbox, row.pk)]


@admin.register(WorkflowExecution)
class WorkflowExecutionAdmin(ExecutionAdmin):
    """Workflow executions."""

    kind = WORKFLOW
    inbox = WorkflowInboxEntry
    row_actions = tuple(_commanding(WORKFLOW, command) for command in Command)

    def tables(self, request: HttpRequest, row: Any) -> list[Table]:
        return [*super().tables(request, row), trail.signals(row.pk), trail.events(row.pk)]


@admin.register(AgentExecution)
class AgentExecutionAdmin(ExecutionAdmin):
    """Agent executions."""

    kind = AGENT
    inbox = AgentInboxEntry
    row_actions = tuple(_commanding(AGENT, command) for command in Command)
