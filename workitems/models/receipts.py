"""Tables of idempotency keys."""

from __future__ import annotations

from django.db import models

from stigmer.core.constraints import byte_length
from stigmer.core.models import Receipt, actor_key
from workitems.models.items import WorkItem, item_key


class CreateRequest(Receipt):
    """One row is one create's idempotency key and the item it resolved to."""

    pk = models.CompositePrimaryKey("organization", "idempotency_key")
    organization = models.ForeignKey(
        "organizations.OrganizationSlug",
        on_delete=models.PROTECT,
        db_column="organization",
        db_index=False,
        related_name="+",
    )
    actor = actor_key(db_column="actor")
    work_item = models.ForeignKey(
        WorkItem,
        on_delete=models.DO_NOTHING,
        db_column="work_item",
        related_name="+",
    )

    class Meta:
        constraints = [byte_length("create_request_key_bytes", "idempotency_key", 512)]


class ItemRequest(Receipt):
    """One row is one idempotency key of a mutation of an item and what it made."""

    pk = models.CompositePrimaryKey("work_item", "idempotency_key")
    work_item = item_key()
    actor = actor_key(db_column="actor")
    result_id = models.TextField(default="")

    class Meta:
        constraints = [byte_length("item_request_key_bytes", "idempotency_key", 512)]
