"""The addresses of executions, under /api/v1."""

from django.urls import URLPattern, include, path

from executions.api.views import agents, live, runners, workflows
from stigmer.http.views import Door

COMMANDS = ("cancel", "terminate", "pause", "resume", "recover")


def _commands(view: type[Door]) -> list[URLPattern]:
    return [path(f"/<str:execution>/{name}", view.as_view(command=name)) for name in COMMANDS]


# What many requests go through is found by few comparisons.
_WORKFLOWS = [
    path("", workflows.WorkflowExecutions.as_view()),
    path("/summary", workflows.WorkflowSummary.as_view()),
    path("/pending-approvals", workflows.PendingApprovals.as_view()),
    path("/<str:execution>", workflows.WorkflowExecution.as_view()),
    path("/<str:execution>/status", workflows.WorkflowStatus.as_view()),
    path("/<str:execution>/events", workflows.WorkflowEvents.as_view()),
    path("/<str:execution>/events/stream", live.EventStream.as_view()),
    path("/<str:execution>/stream", live.WorkflowStream.as_view()),
    path("/<str:execution>/signals", workflows.Signals.as_view()),
    path("/<str:execution>/tasks/<path:task>/approval", workflows.TaskApproval.as_view()),
    *_commands(workflows.WorkflowCommand),
]
_AGENTS = [
    path("", agents.AgentExecutions.as_view()),
    path("/summary", agents.AgentSummary.as_view()),
    path("/<str:execution>", agents.AgentExecution.as_view()),
    path("/<str:execution>/stream", live.AgentStream.as_view()),
    path("/<str:execution>/status", agents.AgentStatus.as_view()),
    *_commands(agents.AgentCommand),
]

urlpatterns = [
    path("workflow-executions", include(_WORKFLOWS)),
    path("agent-executions", include(_AGENTS)),
    path("runner/claim", runners.Claims.as_view()),
    path("runner/executions/<str:id>/heartbeat", runners.Heartbeats.as_view()),
    path("runner/executions/<str:id>/signals", runners.Inboxes.as_view()),
]
