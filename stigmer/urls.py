"""Every route of the web process."""

from django.urls import URLPattern, URLResolver, include, path

from stigmer.http import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("api/v1/", include("organizations.api.urls")),
    path("api/v1/", include("workitems.api.urls")),
]
