"""Who holds the claim on an execution: the fencing token, shown with every report."""

from __future__ import annotations

import secrets
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest

from executions.errors import ClaimLost
from executions.queries.rows import ExecutionRow
from executions.states import PHASES
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidRequest

TOKEN_PREFIX = "claim_"  # noqa: S105 the part that is no secret


def new_token() -> str:
    """A fresh fencing token: 256 random bits."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """What is stored of a token."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def need_claim(
    row: ExecutionRow,
    token: str | None,
    *,
    pointer: str = "/claim_token",
    by: Act,
    now: datetime,
) -> None:
    """Let the holder of the current claim pass; after the end the last token stays good.

    An execution of a push engine has no claim: a service of its organization is enough. Raises
    InvalidRequest without a token, ClaimLost for a stale or lapsed one and for another's.
    """
    if row.engine != "runner":
        return
    if not token:
        raise InvalidRequest("claim_token is required", pointer=pointer, fault="missing")
    mine = row.claimed_by == by.actor and compare_digest(row.claim_digest, digest_of(token))
    lapsed = row.phase not in PHASES.terminal and row.claimable_at <= now
    if not mine or lapsed:
        raise ClaimLost(phase=row.phase)
