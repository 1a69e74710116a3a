"""The OpenAPI document and Swagger UI, both from this process alone."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from stigmer.http.openapi import document_bytes

# Swagger UI shows its icons as data: images and styles elements through the DOM alone.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
START = """window.ui = SwaggerUIBundle({
  url: document.currentScript.dataset.schema,
  dom_id: "#swagger-ui",
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
});
"""


@require_safe
def schema(_request: HttpRequest) -> HttpResponse:
    """`/api/v1/schema`."""
    return HttpResponse(document_bytes(), content_type="application/json")


@require_safe
def swagger(_request: HttpRequest) -> HttpResponse:
    """`/api/v1/docs`."""
    response = HttpResponse(render_to_string("docs/swagger.html"))
    response.headers["Content-Security-Policy"] = POLICY
    return response


@require_safe
def swagger_start(_request: HttpRequest) -> HttpResponse:
    """`/api/v1/docs/start.js`: what an inline script would say, which the policy forbids."""
    return HttpResponse(START, content_type="text/javascript; charset=utf-8")
