"""Every route of the web process."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from stigmer.http import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("console", RedirectView.as_view(pattern_name="admin:index")),
    path("console/", admin.site.urls),
    path("api/v1/", include("organizations.api.urls")),
    path("api/v1/", include("resources.api.urls")),
    path("api/v1/", include("workitems.api.urls")),
]
