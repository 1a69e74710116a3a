"""Redis as the broker."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from stigmer.background import readiness
from stigmer.celery import app as own_app
from tests.newcomer import Product, free_port

PROJECT = Path(__file__).parent.parent.parent.parent
pytestmark = pytest.mark.redis


@pytest.fixture
def away() -> Iterator[None]:
    """Celery's current application has a broker that is not there."""
    with Celery("away", broker=f"redis://127.0.0.1:{free_port()}/0", set_as_current=True):
        yield
    own_app.set_current()


def test_a_redis_that_answers_is_ready() -> None:
    readiness.check_broker()


def test_a_redis_that_is_away_is_not_ready(away: None) -> None:
    with pytest.raises(OperationalError):
        readiness.check_broker()


@pytest.mark.slow
def test_the_product_runs_on_redis(home: Path) -> None:
    command = [sys.executable, "-m", "stigmer.run"]
    with Product(command, PROJECT, home, REDIS_URL=os.environ["REDIS_URL"]) as product:
        checks = product.await_ready()

        assert checks["worker"] == {"status": "ok"}
        assert not (home / "broker").exists()
        product.stop()
