"""What happens to locks: extended, given back, ended because their time is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from crawler.bots import queries, waiting
from crawler.bots.actions.rescheduling import reschedule
from crawler.bots.answers import Credentials, Extended
from crawler.bots.models import CrawlJob
from crawler.bots.states import JobState, next_retry
from crawler.bots.values import as_moment, as_uuid, uuid_list
from crawler.foundation.clock import clock_of
from crawler.frontier.bulk import members, update_many

EXPIRE_BATCH = 2000
OVERDUE = "Lock TTL exceeded"
# Locked in the order of their ids, as submits do, so that two requests of a bot do not wait for each other in a circle.
MINE = {
    "postgresql": "id IN (SELECT id FROM bot_jobs WHERE {mine} ORDER BY id FOR NO KEY UPDATE)",
    "sqlite": "{mine}",
}
STANDS = "status = 'locked' AND locked_by = %s AND locked_until > {now} AND id {ids}"
# As much that the lock ends its whole time from now; what a person gave it beyond that it keeps.
EXTEND = {
    "postgresql": "lock_extension_seconds = greatest(lock_extension_seconds,"
    " ceil(extract(epoch FROM clock_timestamp() - locked_at))::int)",
    "sqlite": "lock_extension_seconds = max(lock_extension_seconds,"
    " CAST((julianday('now') - julianday(locked_at)) * 86400 AS integer) + 1)",
}
UNLOCKED = "locked_by = NULL, locked_at = NULL, lock_extension_seconds = 0"
RELEASE = f"status = 'pending', {UNLOCKED}"


def extend_locks(credentials: Credentials, job_ids: Sequence[UUID]) -> list[Extended]:
    """The locks that still stand, each with its whole time before it again."""
    bot_id = queries.authenticated(credentials)
    rows = _change_mine(EXTEND[connection.vendor], bot_id, job_ids)
    return [Extended(as_uuid(key), as_moment(until)) for key, until in rows]


def release_jobs(credentials: Credentials, job_ids: Sequence[UUID]) -> list[UUID]:
    """Back to pending, unharmed: it does not count as an attempt. Gives those whose lock still stood.

    The host's clock is not turned back: nobody knows whether it was asked.
    """
    bot_id = queries.authenticated(credentials)
    released = [as_uuid(key) for key, _ in _change_mine(RELEASE, bot_id, job_ids)]
    if released:
        waiting.wake()
    return released


def _change_mine(set_sql: str, bot_id: str, job_ids: Sequence[UUID]) -> list[tuple[Any, ...]]:
    stands = STANDS.format(now=clock_of().now_exact, ids=members(connection.vendor, "uuid"))
    mine = MINE[connection.vendor].format(mine=stands)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE bot_jobs SET {set_sql} WHERE {mine} RETURNING id, locked_until",
            [bot_id, uuid_list(job_ids)],
        )
        return list(cursor.fetchall())


def expire_overdue(job_ids: Sequence[UUID] | None = None) -> int:
    """End the locks whose time is over, of these jobs or of all. How many there were.

    The job waits as expired for a person, unless its policy has requeue_expired: then it was a failed attempt.
    """
    total = 0
    while count := _expire_batch(job_ids):
        total += count
    if total:
        waiting.wake()
    return total


ENDED = {"id": "uuid", "status": "text", "retry_count": "smallint"}


@transaction.atomic
def _expire_batch(job_ids: Sequence[UUID] | None) -> int:
    clock, vendor = clock_of(), connection.vendor
    which = f"AND job.id {members(vendor, 'uuid')}" if job_ids is not None else ""
    lock = "FOR NO KEY UPDATE OF job SKIP LOCKED" if vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT job.id, job.product_url_hash, job.retry_count, job.max_retries, policy.requeue_expired"
            " FROM bot_jobs AS job LEFT JOIN crawl_policies AS policy ON policy.id = job.policy_id"
            f" WHERE job.status = 'locked' AND job.locked_until <= {clock.now} {which} LIMIT %s {lock}",
            [*([uuid_list(job_ids)] if job_ids is not None else []), EXPIRE_BATCH],
        )
        overdue = cursor.fetchall()
        ended = [(row[0], *_after(*row[2:])) for row in overdue]
        update_many(cursor, vendor, "bot_jobs", ENDED, ended, also=f"{UNLOCKED}, last_error = '{OVERDUE}'")
    failed = [row for row, (_, state, _) in zip(overdue, ended, strict=True) if state == JobState.FAILED]
    CrawlJob.objects.filter(pk__in=[row[0] for row in failed]).update(finished_at=Now())
    reschedule([row[1] for row in failed], success=False)
    return len(overdue)


def _after(retry_count: int, max_retries: int, requeue: bool | None) -> tuple[str, int]:
    if not requeue:
        return JobState.EXPIRED.value, retry_count
    state, attempts = next_retry(retry_count, max_retries)
    return state.value, attempts
