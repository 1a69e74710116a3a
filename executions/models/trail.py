"""What hangs on an execution: events, inbox, signal claims, idempotency keys."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from executions.models.execution import AgentExecution, WorkflowExecution
from executions.models.fields import JsonText
from executions.states import ClaimStatus, InboxKind
from stigmer.core.constraints import append_only, byte_length, one_of
from stigmer.core.models import ByteText, Receipt, Record, actor_key


def execution_key(model: type[models.Model], **options: Any) -> models.ForeignKey[Any, Any]:
    """A foreign key to the execution a row hangs on; the database deletes the row with it."""
    chosen: dict[str, Any] = {"db_column": "execution", "db_index": False} | options
    return models.ForeignKey(model, on_delete=models.DO_NOTHING, related_name="+", **chosen)


class WorkflowExecutionEvent(Record):
    """One row is one thing that a workflow execution did; its runner numbers them from 1."""

    pk = models.CompositePrimaryKey("execution", "sequence_number")
    execution = execution_key(WorkflowExecution)
    sequence_number = models.BigIntegerField()
    event_id = models.TextField(default="")
    event_type = models.TextField()
    task_name = models.TextField(default="")
    occurred_at = models.DateTimeField(null=True)
    data = JsonText(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="wfe_event_sequence_positive", condition=Q(sequence_number__gte=1)
            ),
            byte_length("wfe_event_type_bytes", "event_type", 128),
            byte_length("wfe_event_id_bytes", "event_id", 256, least=0),
            byte_length("wfe_event_task_bytes", "task_name", 256, least=0),
        ]
        triggers = [append_only("wfe_event_is_history")]


class InboxEntry(Record):
    """One row is one thing that the runner of an execution must be told, in order."""

    sequence = models.IntegerField()
    kind = models.TextField()
    channel = models.TextField(null=True)
    envelope = JsonText(null=True)
    reason = models.TextField(default="")
    created_at = models.DateTimeField()
    acknowledged_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


def _inbox_constraints(noun: str) -> list[models.BaseConstraint]:
    relayed = Q(kind__in=[InboxKind.SIGNAL.value, InboxKind.APPROVAL.value])
    return [
        one_of(f"{noun}_inbox_kind_known", "kind", InboxKind),
        models.CheckConstraint(
            name=f"{noun}_inbox_channel_when_relayed",
            condition=(relayed & Q(channel__isnull=False, envelope__isnull=False))
            | (~relayed & Q(channel__isnull=True, envelope__isnull=True)),
        ),
        models.CheckConstraint(
            name=f"{noun}_inbox_sequence_positive", condition=Q(sequence__gte=1)
        ),
    ]


def _inbox_indexes(noun: str) -> list[models.Index]:
    return [
        models.Index(
            fields=["acknowledged_at"],
            name=f"{noun}_inbox_retention",
            condition=Q(acknowledged_at__isnull=False),
        )
    ]


class WorkflowInboxEntry(InboxEntry):
    """One row is one thing that the runner of a workflow execution must be told."""

    pk = models.CompositePrimaryKey("execution", "sequence")
    execution = execution_key(WorkflowExecution)

    class Meta:
        constraints = _inbox_constraints("wfe")
        indexes = _inbox_indexes("wfe")
        verbose_name_plural = "workflow inbox entries"


class AgentInboxEntry(InboxEntry):
    """One row is one thing that the runner of an agent execution must be told."""

    pk = models.CompositePrimaryKey("execution", "sequence")
    execution = execution_key(AgentExecution)

    class Meta:
        constraints = _inbox_constraints("aex")
        indexes = _inbox_indexes("aex")
        verbose_name_plural = "agent inbox entries"


class SignalClaim(Record):
    """One row is one signal's key while it is delivered and for a day after.

    `fence` names the claim that holds the row: a late mark never marks a takeover's.
    """

    pk = models.CompositePrimaryKey("organization", "idempotency_key")
    organization = models.ForeignKey(
        "organizations.OrganizationSlug",
        on_delete=models.PROTECT,
        db_column="organization",
        db_index=False,
        related_name="+",
    )
    idempotency_key = ByteText()
    execution = execution_key(WorkflowExecution, db_index=True)
    signal_name = models.TextField()
    status = models.TextField()
    fence = ByteText()
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            one_of("signal_claim_status_known", "status", ClaimStatus),
            byte_length("signal_claim_key_bytes", "idempotency_key", 512),
            models.CheckConstraint(
                name="signal_claim_delivered_exactly_when_marked",
                condition=Q(status="DELIVERED", delivered_at__isnull=False)
                | Q(status="CLAIMED", delivered_at__isnull=True),
            ),
        ]
        indexes = [models.Index(fields=["expires_at"], name="signal_claim_expiry")]


class ExecutionRequest(Receipt):
    """One row is one create's idempotency key and the execution it made."""

    pk = models.CompositePrimaryKey("organization", "idempotency_key")
    organization = models.ForeignKey(
        "organizations.OrganizationSlug",
        on_delete=models.PROTECT,
        db_column="organization",
        db_index=False,
        related_name="+",
    )
    actor = actor_key(db_column="actor")
    workflow_execution = execution_key(
        WorkflowExecution, db_column="workflow_execution", null=True, db_index=True
    )
    agent_execution = execution_key(
        AgentExecution, db_column="agent_execution", null=True, db_index=True
    )

    class Meta:
        constraints = [
            byte_length("execution_request_key_bytes", "idempotency_key", 512),
            models.CheckConstraint(
                name="execution_request_made_one",
                condition=Q(workflow_execution__isnull=False, agent_execution__isnull=True)
                | Q(workflow_execution__isnull=True, agent_execution__isnull=False),
            ),
        ]
