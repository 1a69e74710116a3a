"""Writes of what bootstrap remembers."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from resources.models import BootstrapState

_CLAIM = """
    INSERT INTO resources_bootstrapstate (key, value, updated_at) VALUES (%s, %s, %s)
    ON CONFLICT (key) DO NOTHING
"""


def set_state(*, key: str, value: str, now: datetime) -> None:
    """Remember this value, whatever there was before."""
    BootstrapState.objects.update_or_create(pk=key, defaults={"value": value, "updated_at": now})


def claim_state(*, key: str, value: str, now: datetime) -> bool:
    """Remember this value unless there is one; whether it was new.

    Waits for a transaction that claims the same key, and wins when that one rolls back.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [key, value, now])
        return bool(cursor.rowcount)


def delete_state(*, key: str) -> None:
    """Forget this key, if it is known."""
    BootstrapState.objects.filter(pk=key).delete()


def clear_states() -> None:
    """Forget everything."""
    BootstrapState.objects.all().delete()
