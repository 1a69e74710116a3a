"""What bodies, queries and answers are made of."""

from __future__ import annotations

from typing import Any

import msgspec

from stigmer.http.fields import UNSET, Key, UnsetType

STIGMER_V1 = "stigmer/v1"

# Who acts is the authenticated principal; a body that names somebody is refused by this list.
ACTOR_FIELDS = (
    "actor", "actor_principal", "owner", "owner_principal", "created_by", "on_behalf_of",
    "subject", "delegated_actor", "user", "user_id", "requested_by", "decided_by",
)  # fmt: skip


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A request body: strict types, no unknown fields."""


class KeyedBody(Body, kw_only=True):
    """A body of a mutation: the idempotency key may travel in it instead of the header."""

    idempotency_key: Key | UnsetType = UNSET


class Query(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Query parameters: a list field repeats, any other comes once."""


class Answer(msgspec.Struct, kw_only=True):
    """A response body."""


class Page(Answer, kw_only=True):
    """One page of a list; `next_cursor` is null on the last page."""

    items: list[Any]
    next_cursor: str | None
    schema_version: str = STIGMER_V1
