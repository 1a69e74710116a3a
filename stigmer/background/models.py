"""The proof that background processes run."""

from typing import ClassVar

from django.db import models

from stigmer.core.models import Record


class BackgroundProcess(models.TextChoices):
    WORKER = "worker", "worker"
    BEAT = "beat", "beat"


class Heartbeat(models.Model):
    """One row is one kind of background process and when it last proved itself."""

    process = models.TextField(primary_key=True, choices=BackgroundProcess.choices)
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="heartbeat_process_known",
                condition=models.Q(process__in=BackgroundProcess.values),
            )
        ]
        verbose_name = "heartbeat"
        verbose_name_plural = "heartbeats"

    def __str__(self) -> str:
        return f"{self.process} at {self.seen_at.isoformat()}"


class SweepRun(Record):
    """One row is one run of a sweep; without an end it still runs, or was killed."""

    name = models.TextField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    cutoff = models.DateTimeField()
    counts = models.JSONField(default=dict)
    error = models.TextField(default="")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["name", "-started_at"], name="sweep_run_of_name")]
