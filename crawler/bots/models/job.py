from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from crawler.bots.hash_field import HashField
from crawler.bots.models.lock_end import LockEnd
from crawler.bots.models.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY, CrawlPolicy
from crawler.bots.models.product import ProductURL
from crawler.bots.states import CLOSED, LOST, OPEN, JobState, next_retry
from crawler.domains.models import Domain
from crawler.foundation.clock import database_now
from crawler.foundation.ids import new_id

UNLOCKED = {"locked_by": None, "locked_at": None, "lock_extension_seconds": 0}


class InvalidTransition(Exception):
    """The job is not in a state from which it could become that; somebody else may have been faster."""


class CrawlJob(models.Model):
    """One visit to one product URL. A lock on it is a lease: `locked_by` until `locked_until`, proved by `fence`.

    The methods write at once, and only when the row in the database still is in the state they start from.
    """

    STATE_PENDING = JobState.PENDING.value
    STATE_LOCKED = JobState.LOCKED.value
    STATE_DONE = JobState.DONE.value
    STATE_FAILED = JobState.FAILED.value
    STATE_EXPIRED = JobState.EXPIRED.value

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Neither policy, domain nor URL is a constraint in the database: a million jobs are made in one go.
    policy = models.ForeignKey(
        CrawlPolicy, on_delete=models.SET_NULL, null=True, db_constraint=False, db_index=False, related_name="jobs"
    )
    domain = models.ForeignKey(Domain, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False)
    product_url_hash = HashField()
    status = models.CharField(
        max_length=10, default=JobState.PENDING, db_default=JobState.PENDING, choices=[(s, s) for s in JobState]
    )
    # What a new job is not given it takes from its policy.
    priority = models.PositiveSmallIntegerField(default=None)
    max_retries = models.PositiveSmallIntegerField(default=None)
    lock_ttl_seconds = models.PositiveIntegerField(default=None)
    host_limited = models.BooleanField(default=None)

    retry_count = models.PositiveSmallIntegerField(default=0, db_default=0)
    locked_by = models.CharField(max_length=100, null=True)
    locked_at = models.DateTimeField(null=True)
    lock_extension_seconds = models.PositiveIntegerField(default=0, db_default=0)  # by heartbeats
    locked_until = models.GeneratedField(
        expression=LockEnd(), output_field=models.DateTimeField(null=True), db_persist=True
    )
    fence = models.PositiveIntegerField(default=0, db_default=0)
    last_locked_by = models.CharField(max_length=100, null=True)
    last_error = models.TextField(blank=True, default="", db_default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "bot_jobs"
        verbose_name = "crawl job"
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(name="bot_jobs_status", condition=Q(status__in=list(JobState))),
            models.CheckConstraint(
                name="bot_jobs_lock",
                condition=Q(status=JobState.LOCKED, locked_by__isnull=False, locked_at__isnull=False)
                | (~Q(status=JobState.LOCKED) & Q(locked_by=None, locked_at=None)),
            ),
            models.CheckConstraint(
                name="bot_jobs_numbers",
                condition=Q(
                    priority__gte=LOWEST_PRIORITY,
                    priority__lte=HIGHEST_PRIORITY,
                    lock_ttl_seconds__gte=1,
                    retry_count__lte=F("max_retries"),
                ),
            ),
            models.UniqueConstraint(
                name="bot_jobs_one_open", fields=["product_url_hash"], condition=Q(status__in=list(OPEN))
            ),
        ]
        indexes = [
            models.Index(
                name="bot_jobs_queue",
                fields=["-priority", "created_at"],
                condition=Q(status=JobState.PENDING),
            ),
            models.Index(
                name="bot_jobs_host_queue",
                fields=["domain", "host_limited", "-priority", "created_at"],
                condition=Q(status=JobState.PENDING),
            ),
            models.Index(
                name="bot_jobs_locks", fields=["locked_by", "locked_until"], condition=Q(status=JobState.LOCKED)
            ),
            # What people look for. Of jobs that are over, or were tried: pulls have nothing to do with these. Not by
            # id, which sorts the same way: the planner would rather walk through the primary key, past all others.
            models.Index(name="bot_jobs_closed", fields=["status", "-created_at"], condition=Q(status__in=CLOSED)),
            models.Index(
                name="bot_jobs_closed_domain", fields=["domain", "-created_at"], condition=Q(status__in=CLOSED)
            ),
            models.Index(
                name="bot_jobs_closed_bot", fields=["last_locked_by", "-created_at"], condition=Q(status__in=CLOSED)
            ),
            models.Index(
                name="bot_jobs_tried",
                fields=["last_locked_by"],
                condition=Q(status=JobState.PENDING, last_locked_by__isnull=False),
            ),
            models.Index(name="bot_jobs_lost_url", fields=["product_url_hash"], condition=Q(status__in=LOST)),
            models.Index(
                name="bot_jobs_failed_bot",
                fields=["last_locked_by", "finished_at"],
                condition=Q(status=JobState.FAILED),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.status})"

    def save(self, *args: Any, **options: Any) -> None:
        if self._state.adding:
            self._inherit()
        super().save(*args, **options)

    def _inherit(self) -> None:
        policy = self.policy or CrawlPolicy()
        if self.domain_id is None:
            self.domain_id = policy.domain_id or ProductURL.objects.get(pk=self.product_url_hash).domain_id
        for name, source in INHERITED.items():
            if getattr(self, name) is None:
                setattr(self, name, getattr(policy, source))

    @property
    def product_url(self) -> ProductURL:
        return ProductURL.objects.get(pk=self.product_url_hash)

    @property
    def url(self) -> str:
        return self.product_url.url

    def is_lock_expired(self) -> bool:
        """True when it is locked and the lock's time is over, by the database's clock."""
        return CrawlJob.objects.filter(pk=self.pk, status=JobState.LOCKED, locked_until__lte=database_now()).exists()

    def can_retry(self) -> bool:
        return self.retry_count < self.max_retries

    def lock_for_bot(self, bot_id: str) -> bool:
        """False when it is not pending any more."""
        locked = {"locked_by": bot_id, "last_locked_by": bot_id, "locked_at": database_now()}
        return self._become(JobState.LOCKED, JobState.PENDING, **locked, lock_extension_seconds=0, fence=F("fence") + 1)

    def mark_done(self) -> None:
        """Also makes its URL due again."""
        self._must_become(JobState.DONE, finished_at=database_now())
        self._reschedule(success=True)

    def mark_failed(self, message: str = "", auto_retry: bool = True) -> None:
        """Pending again while attempts are left, unless `auto_retry` is off; else it is over and its URL backs off."""
        state, retry_count = next_retry(self.retry_count, self.max_retries)
        if not auto_retry:
            state, retry_count = JobState.FAILED, self.max_retries
        over = database_now() if state == JobState.FAILED else None
        self._must_become(state, retry_count=retry_count, last_error=message, finished_at=over)
        if over:
            self._reschedule(success=False)

    def mark_expired(self) -> None:
        self._must_become(JobState.EXPIRED, last_error="Lock TTL exceeded")

    def _must_become(self, state: JobState, **changes: Any) -> None:
        if not self._become(state, JobState.LOCKED, **UNLOCKED, **changes):
            raise InvalidTransition(f"Job {self.pk} is {self.status}, not locked: it cannot become {state.value}")

    def _become(self, state: JobState, old: JobState, **changes: Any) -> bool:
        same = CrawlJob.objects.filter(pk=self.pk, status=old, fence=self.fence)
        changed = same.update(status=state, **changes)
        self.refresh_from_db()
        return bool(changed)

    def _reschedule(self, *, success: bool) -> None:
        if self.policy:
            self.policy.schedule_next_run(success=success, product_url=self.product_url)


INHERITED = {
    "priority": "priority",
    "max_retries": "max_retries",
    "lock_ttl_seconds": "timeout_seconds",
    "host_limited": "respect_host_limits",
}
