"""Every route of the web process."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from stigmer.http import docs, health, pages

handler400 = handler403 = handler404 = handler500 = "stigmer.http.pages.refused"

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("problems", pages.problem_index),
    path("problems/<str:code>", pages.problem_page),
    path("console", RedirectView.as_view(pattern_name="admin:index")),
    path("console/", admin.site.urls),
    path("api/v1/schema", docs.schema),
    path("api/v1/docs", docs.swagger),
    path("api/v1/docs/start.js", docs.swagger_start),
    path("api/v1/work-items", include("workitems.api.urls")),
    path("api/v1/", include("executions.api.urls")),
    path("api/v1/", include("resources.api.urls")),
    path("api/v1/", include("organizations.api.urls")),
]
