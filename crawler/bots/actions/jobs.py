"""What people do to single jobs, each with its line in the audit log."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.bots import waiting
from crawler.bots.actions.recording import facts, record_change
from crawler.bots.actions.rescheduling import reschedule
from crawler.bots.models import CrawlJob, ProductURL
from crawler.bots.models.job import UNLOCKED
from crawler.bots.models.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY
from crawler.bots.states import ABANDONABLE, OPEN, RESETTABLE, JobState
from crawler.foundation.errors import Conflict, InvalidInput

CHANGEABLE = ("lock_ttl_seconds", "priority")
UNFINISHED = (*OPEN, JobState.EXPIRED)
LONGEST_LOCK_SECONDS = 30 * 24 * 3600


@transaction.atomic
def reset_job(by: Actor, job: CrawlJob, *, reason: str = "") -> CrawlJob:
    """Pending again, with all its attempts. A bot that still works on it is refused when it submits."""
    job = CrawlJob.objects.select_for_update().get(pk=job.pk)
    old = _check(job, RESETTABLE, "reset")
    if not ProductURL.objects.filter(pk=job.product_url_hash).update(next_due_at=None):
        raise Conflict("Its product was removed", field="status", reason="there is no URL any more")
    try:
        with transaction.atomic():
            CrawlJob.objects.filter(pk=job.pk).update(
                status=JobState.PENDING, retry_count=0, finished_at=None, fence=F("fence") + 1, **UNLOCKED
            )
    except IntegrityError:
        raise Conflict(
            "Its URL has another open job", field="status", reason="a URL has one open job at a time"
        ) from None
    waiting.wake()
    return _noted(by, "reset", job, old, reason)


@transaction.atomic
def force_fail_job(by: Actor, job: CrawlJob, *, reason: str = "") -> CrawlJob:
    """Failed for good; its URL is due again after the policy's backoff."""
    job = CrawlJob.objects.select_for_update().get(pk=job.pk)
    old = _check(job, ABANDONABLE, "failed")
    CrawlJob.objects.filter(pk=job.pk).update(
        status=JobState.FAILED,
        retry_count=F("max_retries"),
        last_error=reason or "Given up by a person",
        finished_at=Now(),
        **UNLOCKED,
    )
    if not CrawlJob.objects.filter(product_url_hash=job.product_url_hash, status__in=["pending", "locked"]).exists():
        reschedule([job.product_url_hash], success=False)
    return _noted(by, "failed", job, old, reason)


@transaction.atomic
def extend_lock(by: Actor, job: CrawlJob, seconds: int, *, reason: str = "") -> CrawlJob:
    """The bot has so many seconds more."""
    job = CrawlJob.objects.select_for_update().get(pk=job.pk)
    _check(job, (JobState.LOCKED,), "extended")
    CrawlJob.objects.filter(pk=job.pk).update(lock_extension_seconds=F("lock_extension_seconds") + seconds)
    old = {"locked_until": str(job.locked_until)}
    job.refresh_from_db()
    audit.record(by, "extended", job, reason=reason, before=old, after={"locked_until": str(job.locked_until)})
    return job


@transaction.atomic
def change_job(by: Actor, job: CrawlJob, changes: dict[str, Any], *, reason: str = "") -> CrawlJob:
    """Change lock_ttl_seconds or priority of a job that is not over. A lock that stands ends accordingly."""
    job = CrawlJob.objects.select_for_update().get(pk=job.pk)
    _check(job, UNFINISHED, "changed")
    before = facts(job, CHANGEABLE)
    for name, value in changes.items():
        setattr(job, name, value)
    check_numbers(job)
    job.save(update_fields=list(CHANGEABLE))
    record_change(by, job, before, facts(job, CHANGEABLE), reason)
    job.refresh_from_db()
    return job


def check_numbers(job: CrawlJob) -> None:
    if not 1 <= job.lock_ttl_seconds <= LONGEST_LOCK_SECONDS:
        reason = f"Ensure this value is from 1 to {LONGEST_LOCK_SECONDS}."
        raise InvalidInput(field="lock_ttl_seconds", reason=reason)
    if not LOWEST_PRIORITY <= job.priority <= HIGHEST_PRIORITY:
        reason = f"Ensure this value is from {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}."
        raise InvalidInput(field="priority", reason=reason)


def _check(job: CrawlJob, allowed: tuple[JobState, ...], verb: str) -> str:
    if job.status not in allowed:
        wanted = ", ".join(state.value for state in allowed)
        raise Conflict(
            f"A job that is {job.status} cannot be {verb}", field="status", reason=f"must be one of {wanted}"
        )
    return job.status


def _noted(by: Actor, verb: str, job: CrawlJob, old: str, reason: str) -> CrawlJob:
    job.refresh_from_db()
    audit.record(by, verb, job, reason=reason, before={"status": old}, after={"status": job.status})
    return job
