"""Holding a live organization while something is written into it."""

from django.db import connection

_HOLD = "SELECT 1 FROM organizations_organization WHERE slug = %s FOR KEY SHARE"


def hold(slug: str) -> bool:
    """Keep this organization from being deleted until the transaction ends; false when it is gone.

    Holders do not wait for each other, only for a delete, which locks the row FOR UPDATE.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [slug])
        return cursor.fetchone() is not None
