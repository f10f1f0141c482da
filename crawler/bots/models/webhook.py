from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from crawler.bots.exact import PriceField
from crawler.bots.models.change import ProductChange
from crawler.bots.models.policy import CrawlPolicy
from crawler.domains.models import Domain
from crawler.foundation.ids import new_id


class Webhook(models.Model):
    """An address that is told about changes. Empty `events` are all of them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    url = models.TextField()
    description = models.CharField(max_length=200, blank=True, default="", db_default="")
    events = models.JSONField(default=list)
    # Price events only when the price went further than so many percent; 0: any change of price.
    min_percent = PriceField(default=0)
    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, null=True, related_name="webhooks")
    policy = models.ForeignKey(CrawlPolicy, on_delete=models.CASCADE, null=True, related_name="webhooks")
    secret = models.CharField(max_length=200)  # needed to sign, so it cannot be a hash; shown once
    enabled = models.BooleanField(default=True, db_default=True)
    failing_since = models.DateTimeField(null=True, editable=False)  # no delivery succeeded since
    note = models.TextField(blank=True, default="", db_default="", editable=False)  # why we switched it off
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "webhooks"
        ordering = ("created_at", "id")
        constraints = [models.CheckConstraint(name="webhooks_min_percent", condition=Q(min_percent__gte=0))]

    def __str__(self) -> str:
        return self.url


class DeliveryStatus(models.TextChoices):
    PENDING = "pending", "is due at next_attempt_at"
    DELIVERED = "delivered", "was answered with 2xx"
    FAILED = "failed", "was given up"


class WebhookDelivery(models.Model):
    """One change, or one ping, for one webhook. While it is being sent somebody holds a lease on it."""

    PING = "ping"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    change = models.ForeignKey(
        ProductChange, on_delete=models.CASCADE, null=True, related_name="deliveries", db_index=False
    )
    event = models.CharField(max_length=16)
    status = models.CharField(
        max_length=10,
        default=DeliveryStatus.PENDING,
        db_default=DeliveryStatus.PENDING,
        choices=DeliveryStatus.choices,
    )
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    next_attempt_at = models.DateTimeField(db_default=Now(), null=True)
    claimed_by = models.CharField(max_length=255, null=True)
    claim_expires_at = models.DateTimeField(null=True)
    version = models.IntegerField(default=0, db_default=0)
    # What the last attempt brought.
    attempted_at = models.DateTimeField(null=True)
    response_status = models.PositiveSmallIntegerField(null=True)
    response_excerpt = models.TextField(blank=True, default="", db_default="")
    error = models.TextField(blank=True, default="", db_default="")
    milliseconds = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "webhook_deliveries"
        verbose_name = "webhook delivery"
        verbose_name_plural = "webhook deliveries"
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(name="webhook_deliveries_once", fields=["webhook", "change"]),
            models.CheckConstraint(
                name="webhook_deliveries_status", condition=Q(status__in=[status.value for status in DeliveryStatus])
            ),
        ]
        indexes = [
            models.Index(
                name="webhook_deliveries_due",
                fields=["webhook", "next_attempt_at"],
                condition=Q(status=DeliveryStatus.PENDING),
            ),
            models.Index(name="webhook_deliveries_newest", fields=["webhook", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id} ({self.status})"
