"""What operators ask: does the process live, is everything it needs there, what are the numbers."""

from collections.abc import Callable
from functools import cache

import structlog
from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from stigmer.core.ready import NotReadyError
from stigmer.core.registries import readiness
from stigmer.http.metrics import CONTENT_TYPE, exposition

log = structlog.get_logger("stigmer.readiness")


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """200 while the process answers; it asks nobody else."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """200 when every part is ready, else 503; each part is named."""
    checks = {name: outcome(name, check) for name, check in all_checks()}
    failed = any(check["status"] == "failed" for check in checks.values())
    body = {"status": "failed" if failed else "ok", "checks": checks}
    return JsonResponse(body, status=503 if failed else 200)


@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """The numbers in Prometheus' text form; 404 when the setting closes them."""
    if settings.STIGMER_METRICS == "closed":
        return HttpResponse(status=404)
    return HttpResponse(exposition(), content_type=CONTENT_TYPE)


def all_checks() -> list[tuple[str, Callable[[], None]]]:
    """This module's own checks, then the registered ones."""
    return [("database", check_database), ("migrations", check_migrations), *readiness]


def outcome(name: str, check: Callable[[], None]) -> dict[str, str]:
    """`{"status": "ok"}`, or failed with a short text; the whole cause goes to the log."""
    try:
        check()
    except Exception as cause:  # noqa: BLE001 whatever it is, the part is not ready
        log.warning("not_ready", check=name, cause=str(cause))
        return {"status": "failed", "detail": short(cause)}
    return {"status": "ok"}


def short(cause: Exception) -> str:
    """A sentence of ours, or no more than the kind of somebody else's failure."""
    return str(cause) if isinstance(cause, NotReadyError) else f"failed with {type(cause).__name__}"


def check_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@cache
def check_migrations() -> None:
    """Raises NotReadyError when the code is ahead of the database.

    A success is remembered: neither this process's code nor what is applied goes back.
    """
    try:
        executor = MigrationExecutor(connection)
    except Error as cause:
        raise NotReadyError("the database does not answer") from cause
    pending = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if pending:
        raise NotReadyError(f"{pending} migrations are not applied")
