from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from crawler.domains.states import DomainStatus
from crawler.foundation.ids import new_id


class Domain(models.Model):
    """A site, by its canonical name. What all crawling work knows of it, and who works on it now (a lease)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=255, unique=True, db_column="domain")
    parent_domain = models.CharField(max_length=255, blank=True, default="", db_default="")

    status = models.CharField(max_length=20, default=DomainStatus.PENDING, db_default=DomainStatus.PENDING)
    block_reason = models.TextField(null=True)
    block_reason_code = models.CharField(max_length=50, null=True)
    first_blocked_at = models.DateTimeField(null=True)
    block_retries = models.SmallIntegerField(default=0, db_default=0)

    claimed_by = models.CharField(max_length=255, null=True)
    claim_expires_at = models.DateTimeField(null=True)
    version = models.IntegerField(default=0, db_default=0)

    pages_discovered = models.BigIntegerField(default=0, db_default=0)
    pages_crawled = models.BigIntegerField(default=0, db_default=0)
    pages_failed = models.BigIntegerField(default=0, db_default=0)
    bytes_downloaded = models.BigIntegerField(default=0, db_default=0)
    images_found = models.BigIntegerField(default=0, db_default=0)
    images_stored = models.BigIntegerField(default=0, db_default=0)

    max_pages_per_run = models.IntegerField(null=True, default=1000, db_default=1000)
    crawl_depth_reached = models.IntegerField(default=0, db_default=0)

    image_yield_rate = models.FloatField(null=True)
    avg_images_per_page = models.FloatField(null=True)
    error_rate = models.FloatField(null=True)
    avg_response_time_ms = models.IntegerField(null=True)
    total_error_count = models.IntegerField(default=0, db_default=0)
    consecutive_error_count = models.IntegerField(default=0, db_default=0)

    priority_score = models.IntegerField(default=0, db_default=0)
    priority_computed_at = models.DateTimeField(null=True)
    seed_rank = models.IntegerField(null=True)
    source = models.CharField(max_length=100, blank=True, default="", db_default="")

    first_seen_at = models.DateTimeField(db_default=Now())
    first_crawled_at = models.DateTimeField(null=True)
    last_crawled_at = models.DateTimeField(null=True)
    next_crawl_after = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(db_default=Now())

    # The politeness clock: it outlives the worker that keeps it.
    next_request_at = models.DateTimeField(null=True)
    backoff_level = models.SmallIntegerField(default=0, db_default=0)
    crawl_delay_ms = models.IntegerField(default=1000, db_default=1000)
    robots_txt_fetched_at = models.DateTimeField(null=True)
    robots_txt_hash = models.CharField(max_length=64, null=True)

    last_crawl_run_id = models.UUIDField(null=True)
    frontier_checkpoint_id = models.CharField(max_length=100, null=True)
    frontier_size = models.IntegerField(default=0, db_default=0)
    frontier_updated_at = models.DateTimeField(null=True)
    frontier_step = models.BigIntegerField(default=0, db_default=0)  # changes of its frontier so far

    class Meta:
        db_table = "domains"
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(name="domains_status", condition=Q(status__in=list(DomainStatus))),
            models.CheckConstraint(name="domains_frontier_size", condition=Q(frontier_size__gte=0)),
        ]
        indexes = [
            models.Index(
                name="domains_candidates",
                fields=["-priority_score", "last_crawled_at"],
                condition=Q(status__in=[DomainStatus.PENDING, DomainStatus.ACTIVE], frontier_size__gt=0),
            ),
            models.Index(name="domains_status", fields=["status", "next_crawl_after"]),
            models.Index(name="domains_yield", fields=["-image_yield_rate"]),
            models.Index(name="domains_last_crawled", fields=["last_crawled_at"]),
            models.Index(name="domains_parent", fields=["parent_domain"]),
            models.Index(
                name="domains_claims", fields=["claimed_by", "claim_expires_at"], condition=Q(claimed_by__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RobotsRecord(models.Model):
    """What an origin's robots.txt said at a time. The newest row of an origin counts; the others are its history."""

    id = models.BigAutoField(primary_key=True)
    domain = models.CharField(max_length=255)
    origin = models.CharField(max_length=300)  # scheme, host and port: rules hold for exactly these
    first_fetched_at = models.DateTimeField()
    fetched_at = models.DateTimeField()  # the last time it was asked and said the same
    expires_at = models.DateTimeField()
    http_status = models.SmallIntegerField(null=True)
    error = models.TextField(blank=True, default="")
    body = models.BinaryField(default=b"")
    body_hash = models.CharField(max_length=64, blank=True, default="")
    checked_count = models.IntegerField(default=1)  # asked so often without a change

    class Meta:
        db_table = "robots_records"
        ordering = ("-fetched_at",)
        indexes = [models.Index(name="robots_origin", fields=["domain", "origin", "-id"])]

    def __str__(self) -> str:
        return f"{self.origin} {self.http_status or self.error}"
