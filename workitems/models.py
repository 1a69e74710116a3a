"""Tables of work items and everything that hangs on one."""

from __future__ import annotations

from typing import Any

import pgtrigger
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from stigmer.core.constraints import PURGING, append_only, byte_length, frozen, one_of, refuse
from stigmer.core.grams import Grams
from stigmer.core.models import ByteText, IdField, Receipt, Record, actor_key
from workitems.states import LIFECYCLE, PHASES, Engine, Phase, Visibility, WorkItemState

OPEN = sorted(state.value for state in LIFECYCLE.open)
TERMINAL = sorted(state.value for state in LIFECYCLE.terminal)
ENDED = sorted(phase.value for phase in PHASES.terminal)


def _sql(values: list[Any]) -> str:
    return ", ".join(f"'{value}'" for value in values)


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
            models.CheckConstraint(
                name="work_item_origin_surface_form",
                condition=Q(origin_surface__regex=r"^[a-z][a-z0-9_-]{0,31}$"),
            ),
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
            frozen("work_item_terminal_is_final", "state", when=f"OLD.state IN ({_sql(TERMINAL)})"),
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
    folded = ByteText()

    class Meta:
        indexes = [GinIndex(Grams("folded"), name="work_item_title_grams")]


class WorkItemEvent(Record):
    """One row is one thing that happened to an item; `seq` counts from 1 without gaps."""

    pk = models.CompositePrimaryKey("work_item", "seq")
    work_item = item_key()
    seq = models.IntegerField()
    kind = models.TextField()
    from_state = models.TextField(null=True)
    to_state = models.TextField(null=True)
    actor = actor_key(db_column="actor")
    acting_principal = actor_key(db_column="acting_principal", null=True)
    surface = models.TextField()
    request_id = models.TextField(default="")
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="work_item_event_seq_positive", condition=Q(seq__gte=1)),
            byte_length("work_item_event_request_id_bytes", "request_id", 256, least=0),
        ]
        triggers = [append_only("work_item_event_is_history")]


class WorkItemIntent(Record):
    """One row is one thing that was asked for on an item; retention redacts text and params."""

    id = models.BigAutoField(primary_key=True)
    work_item = item_key()
    actor = actor_key(db_column="actor")
    surface = models.TextField()
    text = models.TextField(null=True)
    params = models.JSONField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [byte_length("work_item_intent_text_bytes", "text", 8192)]
        indexes = [
            models.Index(fields=["work_item", "id"], name="work_item_intent_of_item"),
            models.Index(
                fields=["created_at", "id"],
                name="work_item_intent_retention",
                condition=Q(text__isnull=False),
            ),
        ]


class WorkItemExecution(Record):
    """One row correlates an item with one run of an engine."""

    id = IdField("we")
    work_item = item_key()
    engine = models.TextField()
    engine_ref = ByteText()
    attempt = models.IntegerField()
    resumed_from = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        null=True,
        db_column="resumed_from",
        db_index=True,
        related_name="+",
    )
    phase = models.TextField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            one_of("work_item_execution_engine_known", "engine", Engine),
            one_of("work_item_execution_phase_known", "phase", Phase),
            byte_length("work_item_execution_ref_bytes", "engine_ref", 256),
            models.CheckConstraint(
                name="work_item_execution_attempt_positive", condition=Q(attempt__gte=1)
            ),
            models.CheckConstraint(
                name="work_item_execution_ended_exactly_when_terminal",
                condition=(Q(phase__in=ENDED) & Q(ended_at__isnull=False))
                | (~Q(phase__in=ENDED) & Q(ended_at__isnull=True)),
            ),
            models.UniqueConstraint(
                fields=["work_item", "engine", "engine_ref"], name="work_item_execution_once"
            ),
            models.UniqueConstraint(
                fields=["work_item", "attempt"], name="work_item_execution_attempt"
            ),
            models.UniqueConstraint(
                fields=["work_item"],
                name="work_item_execution_one_open",
                condition=~Q(phase__in=ENDED),
            ),
        ]
        triggers = [
            frozen(
                "work_item_execution_end_is_final", "phase", when=f"OLD.phase IN ({_sql(ENDED)})"
            )
        ]


class SurfaceRef(Record):
    """One row is one conversation of a surface about an item: where replies go, never identity."""

    pk = models.CompositePrimaryKey("work_item", "surface", "external_id")
    work_item = item_key()
    surface = ByteText()
    external_id = ByteText()
    actor_external_id = models.TextField(default="")
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            byte_length("surface_ref_external_id_bytes", "external_id", 256),
            byte_length("surface_ref_actor_bytes", "actor_external_id", 256, least=0),
        ]
        indexes = [models.Index(fields=["last_seen_at"], name="surface_ref_retention")]


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
