"""Wake-ups: who waits for a thing learns after the commit that it changed; a lost one costs time.

Readers always read the database; a wake-up only makes them look sooner. A topic is `kind:id`.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

log = structlog.get_logger("stigmer.wakeups")
PREFIX = "stigmer:wake:"
# A Redis that is away is left alone for a while, so that no request waits for it.
PAUSE = 1.0


class _Away:
    """Until when Redis is left alone."""

    until = 0.0


@cache
def _client(url: str) -> Any:
    from redis import Redis

    return Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


def wake(topic: str) -> None:
    """Tell whoever waits on this topic, once the surrounding transaction has committed.

    Without Redis they look by themselves.
    """
    if settings.REDIS_URL:
        transaction.on_commit(lambda: _publish(topic), robust=True)


def _publish(topic: str) -> None:
    from redis.exceptions import RedisError

    if time.monotonic() < _Away.until:
        return
    try:
        _client(settings.REDIS_URL).publish(PREFIX + topic, b"")
    except (RedisError, OSError) as cause:
        _Away.until = time.monotonic() + PAUSE
        log.warning("wake_lost", topic=topic, cause=type(cause).__name__)
