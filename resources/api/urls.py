"""Routes of this app below /api/v1."""

from django.urls import path

from resources.api import documents, versions

urlpatterns = [
    path("search", versions.Search.as_view()),
    path("resources/<str:kind>", documents.Documents.as_view()),
    path("resources/<str:kind>/apply", documents.Apply.as_view()),
    path("resources/<str:kind>/by-slug/<str:org>/<str:slug>", documents.BySlug.as_view()),
    path("resources/workflow_instance/<str:id>/visibility", documents.InstanceVisibility.as_view()),
    path(
        "resources/workflow_instance/<str:id>/execution-visibility",
        documents.ExecutionVisibility.as_view(),
    ),
    path("resources/<str:kind>/<str:id>", documents.Document.as_view()),
    path("resources/<str:kind>/<str:id>/versions", versions.Versions.as_view()),
    path("resources/<str:kind>/<str:id>/versions/<str:version_hash>", versions.Version.as_view()),
    path("resources/<str:kind>/<str:id>/tags/<str:tag>", versions.Tag.as_view()),
    path("resources/<str:kind>/<str:id>/rollback", versions.Rollback.as_view()),
]
