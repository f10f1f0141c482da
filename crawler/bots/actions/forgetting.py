"""What is over and old is deleted, a batch at a time, oldest first. Results are price history and stay."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from crawler.bots.models import CrawlJob, WebhookDelivery
from crawler.bots.states import JobState
from crawler.foundation.clock import database_now

BATCH, MOST_BATCHES = 5_000, 20
DELIVERIES_KEPT = timedelta(days=30)


def forget_old_jobs(keep_days: int, *, most_batches: int = MOST_BATCHES) -> int:
    """Delete jobs that were done or failed so many days ago; 0 keeps all of them. How many went.

    Jobs that are open, or expired and wait for a person, stay however old they are.
    """
    if not keep_days:
        return 0
    before = database_now() - timedelta(days=keep_days)
    over = CrawlJob.objects.filter(
        pk__lt=first_id_after(before), status__in=[JobState.DONE, JobState.FAILED], finished_at__lt=before
    )
    return _delete(over.order_by("pk"), most_batches)


def forget_old_deliveries(*, most_batches: int = MOST_BATCHES) -> int:
    """Delete deliveries of webhooks that were made a month ago."""
    before = database_now() - DELIVERIES_KEPT
    return _delete(WebhookDelivery.objects.filter(pk__lt=first_id_after(before)).order_by("pk"), most_batches)


def first_id_after(moment: datetime) -> UUID:
    """Ids begin with the time they were made, so the primary key finds what is old; no other index is needed."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


def _delete(rows: object, most_batches: int) -> int:
    total = 0
    for _ in range(most_batches):
        count = _delete_batch(rows)
        total += count
        if count < BATCH:
            break
    return total


@transaction.atomic
def _delete_batch(rows: object) -> int:
    """Without Django's look at what points to them: results keep the job's id as a plain value."""
    found = list(rows.values_list("pk", flat=True)[:BATCH])  # type: ignore[attr-defined]
    if not found:
        return 0
    return int(rows.model.objects.filter(pk__in=found)._raw_delete(connection.alias))  # type: ignore[attr-defined]
