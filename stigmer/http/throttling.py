"""Rate limits per principal and class of route, counted atomically (`limits`)."""

from __future__ import annotations

import math
import threading
import time
from functools import cache

import structlog
from django.conf import settings
from limits import RateLimitItem, parse
from limits.errors import StorageError
from limits.storage import Storage, storage_from_string
from limits.strategies import FixedWindowRateLimiter

from stigmer.http.errors import TooManyRequests

log = structlog.get_logger("stigmer.throttling")
# A counter that is away is left alone for a while, so that no request waits for it.
PAUSE = 5.0


class _Counter:
    """The limiter of this process, and until when its storage is left alone."""

    def __init__(self) -> None:
        address = settings.REDIS_URL or "memory://"
        options = {"socket_timeout": 1, "socket_connect_timeout": 1} if settings.REDIS_URL else {}
        if address.startswith("unix://"):
            address = f"redis+{address}"
        storage = storage_from_string(address, wrap_exceptions=True, **options)
        assert isinstance(storage, Storage)
        self.limiter = FixedWindowRateLimiter(storage)
        self.away_until = 0.0

    def wait_for(self, rate: RateLimitItem, kind: str, principal: str) -> int | None:
        """Count one request; the seconds to wait when it is one too many."""
        if time.monotonic() < self.away_until:
            return None
        try:
            if self.limiter.hit(rate, kind, principal):
                return None
            reset = self.limiter.get_window_stats(rate, kind, principal).reset_time
        except StorageError as cause:
            self.away_until = time.monotonic() + PAUSE
            log.warning("throttle_away", cause=type(cause.storage_error).__name__)
            return None
        return max(1, math.ceil(reset - time.time()))


_only_one = threading.Lock()
_counter = cache(_Counter)


def counter() -> _Counter:
    """One counter for the process."""
    # `cache` alone lets the first racing threads make one each, and count apart.
    with _only_one:
        return _counter()


def forget() -> None:
    """Make a new counter for the next request, from the settings of then."""
    _counter.cache_clear()


@cache
def _rate(limit: str) -> RateLimitItem:
    return parse(limit)


def spend(kind: str, principal: str) -> None:
    """Count one request of this class for this principal.

    Raises TooManyRequests with the seconds to wait. A counter that cannot be reached limits
    nothing: a throttle protects the service, and a missing one must not stop it.
    """
    if not settings.STIGMER_THROTTLE:
        return
    wait = counter().wait_for(_rate(settings.STIGMER_RATES[kind]), kind, principal)
    if wait is not None:
        raise TooManyRequests(
            "too many requests; see Retry-After", headers={"Retry-After": str(wait)}
        )
