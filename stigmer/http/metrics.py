"""Numbers for Prometheus: requests by route and status, and the process itself."""

import os
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST
REQUESTS = Counter(
    "stigmer_http_requests_total", "Requests answered.", ("method", "route", "status")
)
DURATION = Histogram(
    "stigmer_http_request_duration_seconds",
    "Time from the first middleware to the response.",
    ("method", "route"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
STREAMS = Gauge(
    "stigmer_streams_open", "Event streams that are open now.", multiprocess_mode="livesum"
)
disable_created_metrics()
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class MetricsMiddleware:
    """Counts and times every request; routes are patterns, so that ids make no new series."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        # A stream or a long poll that goes on is observed by whoever ends it.
        if not getattr(response, "goes_on", False):
            observe(request, response.status_code, time.perf_counter() - began)
        return response


def observe(request: HttpRequest, status: int, seconds: float) -> None:
    """Count a request and its time."""
    match = request.resolver_match
    route = f"/{match.route}" if match else "none"
    method = request.method if request.method in METHODS else "other"
    REQUESTS.labels(method, route, str(status)).inc()
    DURATION.labels(method, route).observe(seconds)


def exposition() -> bytes:
    """The text form; with PROMETHEUS_MULTIPROC_DIR set, of all web processes together."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return generate_latest(registry)
