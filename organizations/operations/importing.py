"""Importing history: every organization that another installation's rows name is recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from django.db import connection, transaction

from organizations import naming
from organizations.operations import audit
from stigmer.core.callers import Act

# The kinds that belong to an organization, frozen: what was written once stays readable.
KINDS = (
    "iam_policy", "invitation", "identity_provider", "oauth_app", "platform_client", "team",
    "agent", "session", "skill", "mcp_server", "agent_instance", "agent_share", "agent_channel",
    "channel_app", "workflow", "workflow_instance", "workflow_execution", "environment",
    "artifact", "schedule", "memory", "plugin", "subscription",
)  # fmt: skip

# A live organization has an entry, so whatever is new here belongs to none.
_RECORD = """
    INSERT INTO organizations_organizationslug (slug, claimed_at, retired_at)
    VALUES (%s, %s, %s) ON CONFLICT (slug) DO NOTHING
"""


class UnreadableRow(Exception):
    """A row that cannot be read for the organization it names; nothing of its run is kept."""


class Imported(NamedTuple):
    """How many rows were read, and how many slugs were new."""

    rows: int
    recorded: int


@transaction.atomic
def import_slugs(*, lines: Iterable[bytes], by: Act, now: datetime) -> Imported:
    """Record each organization that a line `{kind, id, org}` names, retired unless it is known.

    Raises UnreadableRow at the first row it cannot read, having kept nothing.
    """
    rows = recorded = 0
    seen: set[str] = set()
    with connection.cursor() as cursor:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            rows += 1
            slug = organization_of(line, number)
            if slug and slug not in seen:
                seen.add(slug)
                cursor.execute(_RECORD, [slug, now, now])
                recorded += cursor.rowcount
    audit.record("slugs_imported", by=by, rows=str(rows), recorded=str(recorded))
    return Imported(rows, recorded)


def organization_of(line: bytes, number: int) -> str:
    """The organization that a row names, or "" when it names none. Raises UnreadableRow."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as cause:
        _refuse("line", number, f"not JSON: {cause}")
    if not isinstance(row, dict):
        _refuse("line", number, "not an object")
    kind, id = row.get("kind"), row.get("id")
    if not isinstance(kind, str) or not isinstance(id, str):
        _refuse("line", number, "kind and id must be texts")
    if kind not in KINDS:
        _refuse(kind, id, "unknown kind")
    if strange := sorted(row.keys() - {"kind", "id", "org"}):
        _refuse(kind, id, f"unknown field {strange[0]!r}")
    org = row.get("org")
    if org is None or org == "":
        return ""
    if not isinstance(org, str):
        _refuse(kind, id, "org must be a text")
    if not naming.is_slug(org):
        _refuse(kind, id, f"{org!r} is not a slug")
    return org


def _refuse(kind: str, id: Any, cause: str) -> NoReturn:
    raise UnreadableRow(f"{kind} '{id}' cannot be read for the organization it names: {cause}")
