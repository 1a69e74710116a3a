"""/healthz, /readyz, /metrics."""

from datetime import UTC, datetime

import pytest
from django.db import OperationalError
from django.test import Client
from django.test.utils import override_settings
from pytest_django import DjangoAssertNumQueries

from stigmer.background import operations
from stigmer.core.ready import NotReadyError
from stigmer.core.registries import readiness
from stigmer.http import health


@pytest.fixture
def heartbeats(db: None) -> None:
    now = datetime.now(UTC)
    operations.record_heartbeat(sent_at=now, now=now)


def test_healthz_asks_nobody_else(
    client: Client, db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        response = client.get("/healthz")

    assert response.status_code == 200
    assert response.json() == {"status": "ok"}


def test_readyz_names_every_part(client: Client, heartbeats: None) -> None:
    response = client.get("/readyz")

    assert response.status_code == 200
    names = ["database", "migrations", "broker", "worker", "beat"]
    assert response.json() == {
        "status": "ok",
        "checks": {name: {"status": "ok"} for name in names},
    }


def test_readyz_fails_with_one_failed_part(client: Client, db: None) -> None:
    response = client.get("/readyz")

    assert response.status_code == 503
    checks = response.json()["checks"]
    assert response.json()["status"] == "failed"
    assert checks["worker"] == {"status": "failed", "detail": "no heartbeat yet"}
    assert checks["database"] == {"status": "ok"}


def test_readyz_tells_no_more_than_the_kind_of_a_foreign_failure(
    client: Client, heartbeats: None
) -> None:
    def fail() -> None:
        raise OperationalError("password of amy@db.example is wrong")

    readiness.add("extra", fail)
    try:
        checks = client.get("/readyz").json()["checks"]
    finally:
        readiness.remove("extra")

    assert checks["extra"] == {"status": "failed", "detail": "failed with OperationalError"}


def test_a_pending_migration_is_not_ready(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    health.check_migrations.cache_clear()
    monkeypatch.setattr(health.MigrationExecutor, "migration_plan", lambda *_: [("a", False)])

    with pytest.raises(NotReadyError, match="1 migrations are not applied"):
        health.check_migrations()


def test_metrics_count_requests_by_route(client: Client) -> None:
    client.get("/healthz")
    client.get("/nothing/wi_123")

    text = client.get("/metrics").content.decode()

    assert 'stigmer_http_requests_total{method="GET",route="/healthz",status="200"}' in text
    assert 'stigmer_http_request_duration_seconds_count{method="GET",route="/healthz"}' in text
    assert 'route="none",status="404"' in text
    assert "wi_123" not in text


@override_settings(STIGMER_METRICS="closed")
def test_metrics_can_be_closed(client: Client) -> None:
    assert client.get("/metrics").status_code == 404
