"""The addresses of work items, under /api/v1/work-items."""

from django.urls import path

from workitems.api import live, views

urlpatterns = [
    path("", views.WorkItems.as_view()),
    path("/<str:item>", views.WorkItem.as_view()),
    path("/<str:item>/resume", views.Resume.as_view()),
    path("/<str:item>/executions", views.Executions.as_view()),
    path("/<str:item>/intents", views.Intents.as_view()),
    path("/<str:item>/intents/<str:intent>", views.Intent.as_view()),
    path("/<str:item>/events", views.Events.as_view()),
    path("/<str:item>/events/stream", live.EventStream.as_view()),
    path("/<str:item>/surface-refs", views.SurfaceRefs.as_view()),
]
