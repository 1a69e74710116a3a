"""Tables of what hangs on a work item: events, intents, executions, surface references."""

from __future__ import annotations

from django.db import models
from django.db.models import Q, Value
from django.db.models.lookups import Exact

from stigmer.core.constraints import append_only, byte_length, frozen, one_of
from stigmer.core.models import ByteText, IdField, Record, actor_key
from workitems.models.items import item_key, sql_list, surface_form
from workitems.states import PHASES, Engine, EventKind, Phase, WorkItemState

ENDED = sorted(phase.value for phase in PHASES.terminal)


def _object(name: str, field: str) -> models.CheckConstraint:
    """A CHECK that this JSON is an object; null passes."""
    kind = models.Func(field, function="jsonb_typeof", output_field=models.TextField())
    return models.CheckConstraint(name=name, condition=Q(Exact(kind, Value("object"))))


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
            one_of("work_item_event_kind_known", "kind", EventKind),
            one_of("work_item_event_from_state_known", "from_state", WorkItemState),
            one_of("work_item_event_to_state_known", "to_state", WorkItemState),
            surface_form("work_item_event_surface_form", "surface"),
            _object("work_item_event_detail_object", "detail"),
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
        constraints = [
            byte_length("work_item_intent_text_bytes", "text", 8192),
            surface_form("work_item_intent_surface_form", "surface"),
            _object("work_item_intent_params_object", "params"),
            models.CheckConstraint(
                name="work_item_intent_redacted_whole",
                condition=Q(text__isnull=False) | Q(params__isnull=True),
            ),
        ]
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
                "work_item_execution_end_is_final",
                "phase",
                when=f"OLD.phase IN ({sql_list(ENDED)})",
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
            surface_form("surface_ref_surface_form", "surface"),
            byte_length("surface_ref_external_id_bytes", "external_id", 256),
            byte_length("surface_ref_actor_bytes", "actor_external_id", 256, least=0),
        ]
        indexes = [models.Index(fields=["last_seen_at"], name="surface_ref_retention")]
