"""What is remembered about API requests: answers to repeat, and how many there were."""

from __future__ import annotations

from django.db import models


class IdempotentRequest(models.Model):
    """One answer per token, route and Idempotency-Key, for 24 hours. Leased while the first request runs."""

    id = models.BigAutoField(primary_key=True)
    owner = models.CharField(max_length=120)
    route = models.CharField(max_length=500)
    key = models.CharField(max_length=255)
    body_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    status = models.SmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, blank=True)
    body = models.BinaryField(null=True)
    claimed_by = models.CharField(max_length=80, null=True)
    claim_expires_at = models.DateTimeField(null=True)
    version = models.IntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("owner", "route", "key"), name="accounts_idempotent_request_once"),
        )
        indexes = (models.Index(fields=("created_at",), name="accounts_idempotent_age"),)

    def __str__(self) -> str:
        return f"{self.route} {self.key}"


class RateWindow(models.Model):
    """How often one subject asked for one class of endpoint since its minute began."""

    id = models.BigAutoField(primary_key=True)
    subject = models.CharField(max_length=120)
    endpoint_class = models.CharField(max_length=20)
    used = models.IntegerField()
    # Seconds since 1970 by the database's clock.
    ends_at = models.FloatField(db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("subject", "endpoint_class"), name="accounts_rate_window_once"),)

    def __str__(self) -> str:
        return f"{self.subject} {self.endpoint_class}: {self.used}"
