"""The slug ledger: a slug is one organization's for good."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import IntegrityError, connection, transaction

_FIND = """
    SELECT slug, claimed_at, retired_at FROM organizations_organizationslug WHERE slug = %s
"""
_CLAIM = """
    INSERT INTO organizations_organizationslug (slug, claimed_at, retired_at)
    VALUES (%s, %s, NULL) ON CONFLICT (slug) DO NOTHING
"""
_RETIRE = """
    INSERT INTO organizations_organizationslug AS entry (slug, claimed_at, retired_at)
    VALUES (%s, %s, %s) ON CONFLICT (slug)
    DO UPDATE SET retired_at = EXCLUDED.retired_at WHERE entry.retired_at IS NULL
"""
_RELEASE = """
    DELETE FROM organizations_organizationslug
    WHERE slug = %s AND claimed_at = %s AND retired_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the ledger as it was read."""

    slug: str
    claimed_at: datetime
    retired_at: datetime | None = None

    @property
    def retired(self) -> bool:
        """Whether the slug's organization is gone; read from the row, never inferred."""
        return self.retired_at is not None


class Claim(NamedTuple):
    """The entry that holds a slug, and whether this claim made it."""

    entry: Entry
    won: bool


def find(slug: str) -> Entry | None:
    """The entry of this slug, or None."""
    with connection.cursor() as cursor:
        cursor.execute(_FIND, [slug])
        row = cursor.fetchone()
    return None if row is None else Entry(*row)


def claim(*, slug: str, now: datetime) -> Claim:
    """Take this slug; of any number of concurrent claims one wins and the others see its entry."""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, [slug, now])
            won = cursor.rowcount == 1
        if won:
            return Claim(Entry(slug, now), True)
        # The insert waited for the holder's transaction, so this statement sees its entry, unless
        # it was released in between: then the slug is free again.
        entry = find(slug)
        if entry is not None:
            return Claim(entry, False)


def retire(*, slug: str, now: datetime) -> None:
    """Mark this slug as gone for good; the first time is kept, an unknown slug is recorded so."""
    with connection.cursor() as cursor:
        cursor.execute(_RETIRE, [slug, now, now])


@transaction.atomic
def release(*, entry: Entry) -> bool:
    """Free a claim whose create failed; whether it was freed.

    Only exactly this claim, unretired and referenced by no row; anything else stays as it is.
    """
    with connection.cursor() as cursor:
        # The foreign keys onto the ledger are deferred: without this the delete of a referenced
        # entry would succeed here and break the commit.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        try:
            with transaction.atomic():
                cursor.execute(_RELEASE, [entry.slug, entry.claimed_at])
                freed = bool(cursor.rowcount)
        except IntegrityError:
            freed = False  # a row references it
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return freed
