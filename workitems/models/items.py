"""Tables of work items."""

from __future__ import annotations

from typing import Any

import pgtrigger
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from stigmer.core.constraints import PURGING, byte_length, frozen, one_of, refuse
from stigmer.core.grams import Grams
from stigmer.core.models import ByteText, IdField, Record, actor_key
from workitems.states import LIFECYCLE, Visibility, WorkItemState

OPEN = sorted(state.value for state in LIFECYCLE.open)
TERMINAL = sorted(state.value for state in LIFECYCLE.terminal)


def sql_list(values: list[str]) -> str:
    """These names as an SQL list."""
    return ", ".join(f"'{value}'" for value in values)


def surface_form(name: str, field: str) -> models.CheckConstraint:
    """A CHECK that this is the name of a surface."""
    return models.CheckConstraint(
        name=name, condition=Q(**{f"{field}__regex": r"^[a-z][a-z0-9_-]{0,31}$"})
    )


class WorkItem(Record):
    """One row is one piece of work that somebody asked for."""

    id = IdField("wi")
    organization = models.ForeignKey(
        "organizations.OrganizationSlug",
        on_delete=models.PROTECT,
        db_column="organization",
        db_index=False,
        related_name="+",
    )
    owner = actor_key(db_column="owner")
    visibility = models.TextField()
    origin_surface = models.TextField()
    title = models.TextField()
    external_key = ByteText(default="")
    state = models.TextField()
    waiting_reason = models.TextField(default="")
    # No constraint: history may outlive its successor (then it reads null).
    superseded_by = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        null=True,
        db_column="superseded_by",
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    state_version = models.IntegerField(default=1)
    created_by = actor_key(db_column="created_by")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)
    last_event_seq = models.IntegerField(default=0)

    class Meta:
        constraints = [
            one_of("work_item_state_known", "state", WorkItemState),
            one_of("work_item_visibility_known", "visibility", Visibility),
            byte_length("work_item_title_bytes", "title", 256),
            byte_length("work_item_external_key_bytes", "external_key", 512, least=0),
            surface_form("work_item_origin_surface_form", "origin_surface"),
            models.CheckConstraint(
                name="work_item_reason_exactly_when_waiting",
                condition=(Q(state="waiting") & Q(waiting_reason__in=["input", "approval"]))
                | (~Q(state="waiting") & Q(waiting_reason="")),
            ),
            models.CheckConstraint(
                name="work_item_successor_exactly_when_superseded",
                condition=(Q(state="superseded") & Q(superseded_by__isnull=False))
                | (~Q(state="superseded") & Q(superseded_by__isnull=True)),
            ),
            models.CheckConstraint(
                name="work_item_never_supersedes_itself", condition=~Q(superseded_by=F("id"))
            ),
            models.CheckConstraint(
                name="work_item_completed_at_exactly_when_terminal",
                condition=(Q(state__in=TERMINAL) & Q(completed_at__isnull=False))
                | (Q(state__in=OPEN) & Q(completed_at__isnull=True)),
            ),
            models.CheckConstraint(
                name="work_item_version_positive",
                condition=Q(state_version__gte=1, last_event_seq__gte=0),
            ),
            models.UniqueConstraint(
                fields=["organization", "external_key"],
                name="work_item_external_key_open",
                condition=Q(state__in=OPEN) & ~Q(external_key=""),
            ),
        ]
        indexes = [
            models.Index(
                "organization",
                F("updated_at").desc(),
                F("id").desc(),
                name="work_item_open_list",
                condition=Q(state__in=OPEN),
            ),
            models.Index(
                "organization",
                "state",
                F("updated_at").desc(),
                F("id").desc(),
                name="work_item_state_list",
            ),
            models.Index(
                F("updated_at").desc(),
                F("id").desc(),
                name="work_item_open_everywhere",
                condition=Q(state__in=OPEN),
            ),
            models.Index(F("updated_at").desc(), F("id").desc(), name="work_item_everywhere"),
            models.Index(
                "owner", F("updated_at").desc(), F("id").desc(), name="work_item_owner_list"
            ),
            models.Index(
                fields=["organization", "external_key"],
                name="work_item_external_key",
                condition=~Q(external_key=""),
            ),
            models.Index(
                fields=["completed_at", "id"],
                name="work_item_retention",
                condition=Q(completed_at__isnull=False),
            ),
        ]
        triggers = [
            frozen(
                "work_item_terminal_is_final", "state", when=f"OLD.state IN ({sql_list(TERMINAL)})"
            ),
            frozen(
                "work_item_origin_is_kept",
                "id",
                "organization",
                "owner",
                "visibility",
                "origin_surface",
                "title",
                "external_key",
                "created_by",
                "created_at",
            ),
            pgtrigger.Trigger(
                name="work_item_is_never_deleted",
                when=pgtrigger.Before,
                operation=pgtrigger.Delete,
                func=f"""
                    IF NOT ({PURGING}) THEN
                        {refuse("work_item_is_never_deleted", "only retention deletes work items")}
                    END IF;
                    RETURN OLD;
                """,
            ),
        ]


def item_key(**options: Any) -> models.ForeignKey[Any, Any]:
    """A foreign key to the item a row hangs on; the database deletes the row with the item."""
    return models.ForeignKey(
        WorkItem,
        on_delete=models.DO_NOTHING,
        db_column="work_item",
        db_index=False,
        related_name="+",
        **options,
    )


class WorkItemTitle(Record):
    """One row is one item's title folded for search; apart, so that no transition indexes it again.

    Folded by the application: what PostgreSQL folds depends on its collation.
    """

    work_item = models.OneToOneField(
        WorkItem,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        db_column="work_item",
        related_name="searchable",
    )
    organization = ByteText()  # the item's own: a search in one tenant reads no other's items
    folded = ByteText()

    class Meta:
        indexes = [GinIndex(Grams("folded"), name="work_item_title_grams5")]
