"""The addresses of executions, under /api/v1."""

from django.urls import path

from executions.api.views import agents, live, runners, workflows

COMMANDS = ("cancel", "terminate", "pause", "resume", "recover")

urlpatterns = [
    path("workflow-executions", workflows.WorkflowExecutions.as_view()),
    path("workflow-executions/summary", workflows.WorkflowSummary.as_view()),
    path("workflow-executions/pending-approvals", workflows.PendingApprovals.as_view()),
    path("workflow-executions/<str:execution>", workflows.WorkflowExecution.as_view()),
    path("workflow-executions/<str:execution>/status", workflows.WorkflowStatus.as_view()),
    path("workflow-executions/<str:execution>/events", workflows.WorkflowEvents.as_view()),
    path("workflow-executions/<str:execution>/events/stream", live.EventStream.as_view()),
    path("workflow-executions/<str:execution>/stream", live.WorkflowStream.as_view()),
    path("workflow-executions/<str:execution>/signals", workflows.Signals.as_view()),
    path(
        "workflow-executions/<str:execution>/tasks/<path:task>/approval",
        workflows.TaskApproval.as_view(),
    ),
    *(
        path(
            f"workflow-executions/<str:execution>/{name}",
            workflows.WorkflowCommand.as_view(command=name),
        )
        for name in COMMANDS
    ),
    path("agent-executions", agents.AgentExecutions.as_view()),
    path("agent-executions/summary", agents.AgentSummary.as_view()),
    path("agent-executions/<str:execution>", agents.AgentExecution.as_view()),
    path("agent-executions/<str:execution>/stream", live.AgentStream.as_view()),
    path("agent-executions/<str:execution>/status", agents.AgentStatus.as_view()),
    *(
        path(f"agent-executions/<str:execution>/{name}", agents.AgentCommand.as_view(command=name))
        for name in COMMANDS
    ),
    path("runner/claim", runners.Claims.as_view()),
    path("runner/executions/<str:id>/heartbeat", runners.Heartbeats.as_view()),
    path("runner/executions/<str:id>/signals", runners.Inboxes.as_view()),
]
