"""The audit log: who did what to which ids, once it is committed."""

import structlog
from django.db import transaction

from stigmer.core.callers import Act

log = structlog.get_logger("stigmer.audit")


def record(event: str, *, by: Act, **ids: str) -> None:
    """Log this write after the transaction commits: ids and names, never content."""
    facts = {"actor": by.actor, "surface": by.surface, "request_id": by.request_id, **ids}
    transaction.on_commit(lambda: log.info(event, **facts))
