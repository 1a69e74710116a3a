"""Rate limits per principal and class of route, counted atomically (`limits`)."""

from __future__ import annotations

import math
import time
from functools import cache

from django.conf import settings
from limits import RateLimitItem, parse
from limits.storage import Storage, storage_from_string
from limits.strategies import FixedWindowRateLimiter

from stigmer.http.errors import TooManyRequests


@cache
def _limiter() -> FixedWindowRateLimiter:
    storage = storage_from_string(settings.REDIS_URL or "memory://")
    assert isinstance(storage, Storage)
    return FixedWindowRateLimiter(storage)


@cache
def _rate(kind: str) -> RateLimitItem:
    return parse(settings.STIGMER_RATES[kind])


def spend(kind: str, principal: str) -> None:
    """Count one request of this class for this principal.

    Raises TooManyRequests with the seconds to wait. A counter that cannot be reached limits
    nothing: a throttle protects the service, and a missing one must not stop it.
    """
    if not settings.STIGMER_THROTTLE:
        return
    limiter, rate = _limiter(), _rate(kind)
    try:
        if limiter.hit(rate, kind, principal):
            return
        wait = math.ceil(limiter.get_window_stats(rate, kind, principal).reset_time - time.time())
    except OSError:
        return
    raise TooManyRequests(
        "too many requests; see Retry-After", headers={"Retry-After": str(max(1, wait))}
    )
