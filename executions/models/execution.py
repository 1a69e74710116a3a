"""Executions: what workflows and agents ran."""

from __future__ import annotations

from typing import Any, ClassVar

import pgtrigger
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q

from executions.models.fields import JsonText, microseconds_between, path_all, path_exists
from executions.states import ENDED, LIVE, Phase, TaskStatus, Visibility
from stigmer.core.constraints import PURGING, byte_length, frozen, one_of, refuse
from stigmer.core.models import ByteText, IdField, Record, actor_key

RECOVERING = "current_setting('stigmer.recover', true) = 'on'"


def _sql(values: tuple[str, ...]) -> str:
    return ", ".join(f"'{value}'" for value in values)


class Execution(Record):
    """One row is one run of a workflow or an agent, with the claim of the runner that has it.

    `target` is what runs, `instance` the configuration it runs with. `updated_at` moves with the
    phase alone, `ended_at` is set exactly while the phase is terminal (`completed_at` is what the
    runner says). `claimable_at` is when the next runner may have it: the creation, or the end of
    the lease. `has_events` until retention took the log. `gates` holds, by task that waits for
    approval, since when and what was decided.
    """

    organization = models.ForeignKey(
        "organizations.OrganizationSlug",
        on_delete=models.PROTECT,
        db_column="organization",
        db_index=False,
        related_name="+",
    )
    name = models.TextField()
    labels = JsonText(default=dict)
    target = ByteText()
    target_slug = ByteText()
    target_name = models.TextField()
    instance = ByteText()
    session = ByteText(default="")
    visibility = models.TextField()
    created_by = actor_key(db_column="created_by")
    message = models.TextField(default="")
    input = JsonText(null=True)
    execution_target = JsonText(null=True)
    phase = models.TextField()
    tasks = JsonText(default=list)
    output = JsonText(null=True)
    error = models.TextField(default="")
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    cost_micros = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    pending_approvals = JsonText(default=list)
    pending_file_reviews = JsonText(default=list)
    gates = JsonText(default=dict)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    engine = models.TextField()
    engine_ref = models.TextField(default="")
    claimed_by = actor_key(db_column="claimed_by", null=True)
    claim_id = ByteText(default="")
    claim_digest = ByteText(default="")
    claim_attempt = models.IntegerField(default=0)
    claimable_at = models.DateTimeField()
    last_inbox = models.IntegerField(default=0)
    has_events = models.BooleanField(default=False)

    duration_us = models.GeneratedField(
        expression=microseconds_between("started_at", "completed_at"),
        output_field=models.BigIntegerField(null=True),
        db_persist=True,
    )
    failed_tasks = models.GeneratedField(
        expression=path_all("tasks", f'$[*] ? (@.status == "{TaskStatus.FAILED}").name'),
        output_field=JsonText(),
        db_persist=True,
    )
    has_retries = models.GeneratedField(
        expression=path_exists("tasks", "$[*] ? (@.retry_count > 0)"),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    awaits_approval = models.GeneratedField(
        expression=path_exists("tasks", f'$[*] ? (@.status == "{TaskStatus.WAITING_APPROVAL}")'),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        abstract = True


def _constraints(noun: str, phases: list[Phase]) -> list[models.BaseConstraint]:
    return [
        one_of(f"{noun}_phase_known", "phase", phases),
        one_of(f"{noun}_visibility_known", "visibility", Visibility),
        byte_length(f"{noun}_name_bytes", "name", 256),
        byte_length(f"{noun}_engine_ref_bytes", "engine_ref", 256, least=0),
        byte_length(f"{noun}_claim_id_bytes", "claim_id", 128, least=0),
        models.CheckConstraint(
            name=f"{noun}_ended_exactly_when_terminal",
            condition=Q(phase__in=ENDED, ended_at__isnull=False)
            | Q(phase__in=LIVE, ended_at__isnull=True),
        ),
        models.CheckConstraint(
            name=f"{noun}_totals_not_negative",
            condition=Q(cost_micros__gte=0, input_tokens__gte=0, output_tokens__gte=0),
        ),
        models.CheckConstraint(
            name=f"{noun}_counters_not_negative",
            condition=Q(claim_attempt__gte=0, last_inbox__gte=0),
        ),
    ]


def _lists(noun: str) -> list[models.Index]:
    """An index for every list that is read at any size, and for what narrows one."""
    return [
        # Serves the list by creation and, without a look at the table, the summary and the sorts
        # and bounds of duration and cost.
        models.Index(
            fields=["organization", "created_at", "id"],
            name=f"{noun}_created",
            include=[
                "phase", "started_at", "target_slug", "duration_us", "cost_micros", "input_tokens",
                "output_tokens", "visibility", "created_by",
            ],
        ),
        models.Index(fields=["created_at", "id"], name=f"{noun}_created_everywhere"),
        models.Index(fields=["organization", "started_at", "id"], name=f"{noun}_started"),
        models.Index(fields=["started_at", "id"], name=f"{noun}_started_everywhere"),
        models.Index(
            fields=["organization", "id"],
            name=f"{noun}_never_started",
            condition=Q(started_at__isnull=True),
        ),
        models.Index(fields=["target", "created_at", "id"], name=f"{noun}_of_target"),
        models.Index(fields=["instance", "created_at", "id"], name=f"{noun}_of_instance"),
        models.Index(
            fields=["organization", "phase", "started_at", "id"], name=f"{noun}_by_phase"
        ),
        models.Index(
            fields=["organization", "started_at", "id"],
            name=f"{noun}_with_failed_tasks",
            condition=~Q(failed_tasks=[]),
        ),
        models.Index(
            fields=["organization", "started_at", "id"],
            name=f"{noun}_with_retries",
            condition=Q(has_retries=True),
        ),
        GinIndex(
            OpClass("labels", "jsonb_path_ops"),
            name=f"{noun}_labels",
            condition=~Q(labels={}),
        ),
    ]  # fmt: skip


def _indexes(noun: str) -> list[models.Index]:
    return [
        *_lists(noun),
        models.Index(
            fields=["organization", "id"],
            name=f"{noun}_awaits_approval",
            condition=Q(awaits_approval=True),
        ),
        # In the order of claiming; what is leased is passed over without a look at the table.
        models.Index(
            fields=["created_at", "id", "claimable_at", "organization", "claim_attempt"],
            name=f"{noun}_claimable",
            condition=Q(phase__in=LIVE, engine="runner"),
        ),
        models.Index(
            fields=["claimed_by", "claim_id"],
            name=f"{noun}_claim",
            condition=Q(phase__in=LIVE) & ~Q(claim_id=""),
        ),
        models.Index(
            fields=["claimable_at", "id"],
            name=f"{noun}_lapsed",
            condition=Q(phase__in=LIVE, claimed_by__isnull=False),
        ),
        models.Index(
            fields=["ended_at", "id"],
            name=f"{noun}_event_retention",
            condition=Q(ended_at__isnull=False, has_events=True),
        ),
        models.Index(
            fields=["ended_at", "id"],
            name=f"{noun}_retention",
            condition=Q(ended_at__isnull=False),
        ),
    ]


def _triggers(noun: str) -> list[pgtrigger.Trigger]:
    return [
        frozen(
            f"{noun}_end_is_final",
            "phase",
            when=f"OLD.phase IN ({_sql(ENDED)}) AND NOT coalesce({RECOVERING}, false)",
        ),
        frozen(
            f"{noun}_origin_is_kept",
            "id", "organization", "target", "instance", "session", "visibility", "created_by",
            "created_at",
        ),
        pgtrigger.Trigger(
            name=f"{noun}_is_deleted_after_its_end",
            when=pgtrigger.Before,
            operation=pgtrigger.Delete,
            func=f"""
                IF OLD.phase IN ({_sql(LIVE)}) AND NOT coalesce({PURGING}, false) THEN
                    {refuse(f"{noun}_is_deleted_after_its_end", "it has not ended")}
                END IF;
                RETURN OLD;
            """,
        ),
    ]  # fmt: skip


class WorkflowExecution(Execution):
    """One row is one run of a workflow."""

    id = IdField("wfe")

    class Meta:
        constraints: ClassVar[Any] = [
            *_constraints(
                "workflow_execution", [p for p in Phase if p is not Phase.WAITING_FOR_APPROVAL]
            ),
            models.CheckConstraint(
                name="workflow_execution_has_no_session", condition=Q(session="")
            ),
        ]
        indexes = _indexes("wfe")
        triggers = _triggers("wfe")


class AgentExecution(Execution):
    """One row is one run of an agent."""

    id = IdField("aex")

    class Meta:
        constraints = _constraints("agent_execution", list(Phase))
        indexes = _indexes("aex")
        triggers = _triggers("aex")
