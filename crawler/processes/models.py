from __future__ import annotations

from django.db import models

from crawler.foundation.ids import new_id


class Process(models.Model):
    """A running server, scheduler or worker. It signs in, beats, and signs out."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=20)
    host = models.CharField(max_length=255)
    pid = models.IntegerField()
    version = models.CharField(max_length=30)
    # Both by the database's clock.
    started_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "processes"
        ordering = ("kind", "started_at")

    def __str__(self) -> str:
        return f"{self.kind} {self.host}:{self.pid}"


class PeriodicTask(models.Model):
    """When a periodic task runs next, how it ended last, and who runs it now (a lease)."""

    name = models.CharField(max_length=100, primary_key=True)
    next_run_at = models.DateTimeField()
    last_finished_at = models.DateTimeField(null=True)
    last_outcome = models.TextField(blank=True)
    failures_in_a_row = models.IntegerField(default=0)
    claimed_by = models.CharField(max_length=255, null=True)
    claim_expires_at = models.DateTimeField(null=True)
    version = models.IntegerField(default=0)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
