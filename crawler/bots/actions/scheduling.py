"""Due URLs become jobs, in bulk."""

from __future__ import annotations

import time
from typing import Any

from django.db import connection, transaction

from crawler.bots import waiting
from crawler.foundation.clock import clock_of

BATCH = 100_000

JOB = (
    "id, policy_id, domain_id, product_url_hash, status, priority, max_retries, lock_ttl_seconds, host_limited,"
    " retry_count, lock_extension_seconds, fence, last_error, created_at"
)
# While a job is under way its URL has no due time; the job's end sets it. Ids are UUIDv7: the time, the
# row's number in the batch and 48 random bits. The order of the hashes mixes hosts, which is what bots should get.
SCHEDULE = f"""
WITH due AS MATERIALIZED (
    SELECT url.place, policy.id, priority, max_retries, timeout_seconds, respect_host_limits
    FROM crawl_policies AS policy CROSS JOIN LATERAL (
        SELECT ctid AS place FROM product_urls WHERE policy_id = policy.id AND next_due_at <= statement_timestamp()
        ORDER BY next_due_at LIMIT %(batch)s::int
    ) AS url WHERE policy.enabled LIMIT %(batch)s::int
), marked AS (
    UPDATE product_urls AS url SET next_due_at = NULL FROM (SELECT * FROM due ORDER BY place) AS due
    WHERE url.ctid = due.place
    RETURNING url.url_hash, url.domain_id, due.id, priority, max_retries, timeout_seconds, respect_host_limits
), made AS (
    INSERT INTO bot_jobs ({JOB})
    SELECT (%(prefix)s || substr(place, 1, 3) || '-a' || substr(place, 4) || substr(gen_random_uuid()::text, 24))::uuid,
        id, domain_id, url_hash, 'pending', priority, max_retries, timeout_seconds, respect_host_limits, 0, 0, 0, '',
        statement_timestamp()
    FROM (SELECT *, lpad(to_hex(row_number() OVER (ORDER BY url_hash)), 6, '0') AS place FROM marked) AS mixed
    ON CONFLICT (product_url_hash) WHERE status IN ('pending', 'locked') DO NOTHING RETURNING 1
)
SELECT (SELECT count(*) FROM due), (SELECT count(*) FROM made)
"""

DUE = (
    "FROM product_urls JOIN crawl_policies AS policy ON policy.id = policy_id"
    " WHERE policy.enabled AND next_due_at <= %s ORDER BY next_due_at, url_hash LIMIT %s"
)


def schedule_due() -> int:
    """A pending job for every URL that is due and whose policy is enabled. How many were made.

    A URL never gets a second open job: the database's unique index sees to it, whoever else is at it.
    """
    total = 0
    while True:
        due, made = BATCHES[connection.vendor]()
        total += made
        if made:
            waiting.wake()
        if due < BATCH:
            return total


@transaction.atomic
def _schedule_postgresql() -> tuple[int, int]:
    with connection.cursor() as cursor:
        # Rows are found by their place; the planner would rather read the whole table for each batch.
        cursor.execute("SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL work_mem = '64MB'")
        cursor.execute(SCHEDULE, {"batch": BATCH, "prefix": _time_prefix()})
        found: tuple[int, int] = cursor.fetchone()
    return found


def _time_prefix() -> str:
    """The beginning of a UUIDv7 of now."""
    digits = f"{int(time.time() * 1000):012x}"
    return f"{digits[:8]}-{digits[8:]}-7"


@transaction.atomic
def _schedule_sqlite() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {clock_of().now}", [])
        (now,) = cursor.fetchone()
        made = _insert_sqlite(cursor, now)
        cursor.execute(
            f"UPDATE product_urls SET next_due_at = NULL WHERE url_hash IN (SELECT url_hash {DUE})", [now, BATCH]
        )
        return cursor.rowcount, made


def _insert_sqlite(cursor: Any, now: str) -> int:
    prefix = _time_prefix().replace("-", "")
    cursor.execute(
        f"INSERT INTO bot_jobs ({JOB}) SELECT %s || lower(substr(hex(randomblob(2)), 2)) || 'a' ||"
        " lower(substr(hex(randomblob(8)), 2)), policy.id, product_urls.domain_id, url_hash, 'pending', priority,"
        f" max_retries, timeout_seconds, respect_host_limits, 0, 0, 0, '', %s {DUE}"
        " ON CONFLICT (product_url_hash) WHERE status IN ('pending', 'locked') DO NOTHING",
        [prefix, now, now, BATCH],
    )
    return int(cursor.rowcount)


BATCHES = {"postgresql": _schedule_postgresql, "sqlite": _schedule_sqlite}
