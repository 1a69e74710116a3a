"""Abstract models, fields and the one locking idiom."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from django.conf import settings
from django.db import models

from stigmer.core.ids import new_id

Row = TypeVar("Row", bound=models.Model)


class ByteText(models.TextField[Any, Any]):
    """Text compared byte by byte (collation C), so that its order is the same in every database."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["db_collation"] = "C"
        super().__init__(*args, **kwargs)

    def db_type(self, connection: Any) -> str:
        # Upper case keeps Django from adding a text_pattern_ops twin to every index: under
        # collation C the ordinary index serves prefixes already.
        return "TEXT"

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["db_collation"]
        return name, path, args, kwargs


class IdField(ByteText):
    """A TypeID primary key: `<prefix>_<26 characters>`, made in the application, time-ordered."""

    def __init__(self, prefix: str, **kwargs: Any) -> None:
        self.prefix = prefix
        super().__init__(
            **{"primary_key": True, "editable": False, "default": partial(new_id, prefix)} | kwargs
        )

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("default", None)
        return name, path, [self.prefix, *args], kwargs


class LockingQuerySet(models.QuerySet[Row]):
    """A queryset whose rows can be locked in one known order."""

    def locked(self) -> LockingQuerySet[Row]:
        """Lock these rows until the transaction ends, in primary-key order.

        `no_key`: child inserts, which only reference the key, do not wait.
        """
        return self.order_by("pk").select_for_update(of=("self",), no_key=True)


def actor_key(**options: Any) -> models.ForeignKey[Any, Any]:
    """A foreign key to a principal by its immutable unique name; history keeps it (PROTECT)."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        to_field="name",
        related_name="+",
        **({"db_index": False} | options),
    )


class Record(models.Model):
    """The base of every table of ours."""

    objects = LockingQuerySet.as_manager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.pk)


class Receipt(Record):
    """One row is one idempotency key and the request it belongs to (`stigmer.core.idempotency`)."""

    idempotency_key = ByteText(editable=False)
    operation = models.TextField(editable=False)
    request_hash = models.TextField(editable=False)
    created_at = models.DateTimeField(editable=False)

    class Meta:
        abstract = True
