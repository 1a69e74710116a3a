"""Tests of the rate limits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stigmer.http import throttling
from stigmer.http.errors import TooManyRequests
from tests.factories import Api


@pytest.fixture
def limited(settings: Any) -> Iterator[Any]:
    """Five reads and one write a minute, counted in memory."""
    settings.STIGMER_THROTTLE = True
    settings.REDIS_URL = ""
    settings.STIGMER_RATES = {"reads": "5/minute", "writes": "1/minute", "claims": "1/minute"}
    throttling.forget()
    yield settings
    throttling.forget()


def passes(kind: str, principal: str) -> bool:
    try:
        throttling.spend(kind, principal)
    except TooManyRequests:
        return False
    return True


def passed_of_16(principal: str) -> int:
    """How many of 16 requests at once pass."""
    barrier = threading.Barrier(16)
    passed: list[bool] = []

    def ask() -> None:
        barrier.wait(timeout=10)
        passed.append(passes("reads", principal))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(passed) == 16
    return sum(passed)


def test_parallel_requests_do_not_slip_through(limited: Any) -> None:
    assert [passed_of_16(f"racer {turn}") for turn in range(20)] == [5] * 20


@pytest.mark.redis
def test_parallel_requests_do_not_slip_through_redis(limited: Any) -> None:
    limited.REDIS_URL = os.environ["REDIS_URL"]

    assert passed_of_16(f"racer {os.urandom(8).hex()}") == 5


def test_counts_each_principal_and_class_for_itself(limited: Any) -> None:
    assert passes("writes", "alice")
    assert not passes("writes", "alice")

    assert passes("writes", "bob")
    assert passes("reads", "alice")


def test_tells_how_long_to_wait(limited: Any) -> None:
    throttling.spend("writes", "alice")

    with pytest.raises(TooManyRequests) as raised:
        throttling.spend("writes", "alice")

    assert 1 <= int(raised.value.facts["headers"]["Retry-After"]) <= 60


def test_the_switch_turns_limits_off(limited: Any) -> None:
    limited.STIGMER_THROTTLE = False

    assert all(passes("writes", "alice") for _ in range(10))


def test_a_counter_that_is_away_stops_nobody(limited: Any) -> None:
    limited.REDIS_URL = "redis://127.0.0.1:1/0"

    assert all(passes("writes", "alice") for _ in range(10))
    assert throttling.counter().away_until > 0


@pytest.mark.django_db
def test_the_api_answers_429_with_retry_after(
    limited: Any, as_: Callable[[str | None], Api]
) -> None:
    alice = as_("alice")
    answers = [alice.get("/whoami") for _ in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].json()["code"] == "throttled"
    assert answers[-1].headers["Retry-After"].isdigit()
    assert "details" not in answers[-1].json()
    assert as_("bob").get("/whoami").status_code == 200
