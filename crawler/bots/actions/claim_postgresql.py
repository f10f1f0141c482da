"""The pull as one statement: who asks, what may be handed out, the hosts' clocks, the locks, and what others hold.

Two ways to choose: `QUEUE` takes the head of the queue; `BY_HOST` merges the queues of those hosts that may be asked,
for a domain filter, or when hosts at the head of the queue have no time left. The rows of the head are locked as they
are read, so that concurrent pulls take different ones (SKIP LOCKED) and nobody waits.
"""

from __future__ import annotations

from typing import Any

from django.db import connection

MOST_SKIPPED = 1000
MOST_HOSTS = 2000  # that BY_HOST looks at
SPARE = 10  # how many times the jobs asked for BY_HOST looks at, as others may be taking the first of them

BOT = """
bot AS MATERIALIZED (
    SELECT bot_id, enabled, CASE WHEN enabled THEN least(max_jobs_per_pull, %(most)s::int) ELSE 0 END AS most
    FROM bot_configs WHERE token_hash = %(digest)s AND bot_id = coalesce(%(bot_id)s::text, bot_id)
)"""

QUEUE = """
head AS MATERIALIZED (
    SELECT id, domain_id, host_limited, lock_ttl_seconds, priority, created_at FROM bot_jobs
    WHERE status = 'pending'
    ORDER BY priority DESC, created_at, id LIMIT coalesce((SELECT most FROM bot), 0) FOR NO KEY UPDATE SKIP LOCKED
)"""

# A queue is a host's limited or its other jobs. The first job of each is found by jumping through the index.
BY_HOST = f"""
queues AS (
    (SELECT domain_id, host_limited, lock_ttl_seconds FROM bot_jobs
     WHERE status = 'pending' ORDER BY domain_id, host_limited LIMIT 1)
    UNION ALL
    SELECT further.* FROM queues, LATERAL (
        SELECT domain_id, host_limited, lock_ttl_seconds FROM bot_jobs
        WHERE status = 'pending' AND (domain_id, host_limited) > (queues.domain_id, queues.host_limited)
        ORDER BY domain_id, host_limited LIMIT 1
    ) AS further
), open_queues AS (
    SELECT queues.domain_id, queues.host_limited,
           CASE WHEN queues.host_limited AND crawl_delay_ms > 0 THEN greatest(1, least(%(most)s::int,
                extract(epoch FROM statement_timestamp() + lock_ttl_seconds * interval '1 second'
                        - greatest(next_request_at, statement_timestamp())) * 1000 / crawl_delay_ms))
                ELSE %(most)s::int END AS room
    FROM queues JOIN domains ON domains.id = queues.domain_id
    WHERE (%(domain)s::text IS NULL OR position(%(domain)s::text in domains.domain) > 0)
      AND (NOT queues.host_limited OR (domains.claimed_by IS NULL OR claim_expires_at <= statement_timestamp())
           AND coalesce(next_request_at <= statement_timestamp() OR next_request_at
               + crawl_delay_ms * interval '1 millisecond'
               <= statement_timestamp() + lock_ttl_seconds * interval '1 second', TRUE))
    LIMIT {MOST_HOSTS}
), candidates AS MATERIALIZED (
    SELECT first.id FROM open_queues, LATERAL (
        SELECT id, priority, created_at FROM bot_jobs
        WHERE status = 'pending' AND domain_id = open_queues.domain_id AND host_limited = open_queues.host_limited
        ORDER BY priority DESC, created_at, id LIMIT open_queues.room::int
    ) AS first ORDER BY first.priority DESC, first.created_at, first.id LIMIT {SPARE} * %(most)s::int
), head AS MATERIALIZED (
    SELECT id, domain_id, host_limited, lock_ttl_seconds, priority, created_at FROM bot_jobs
    WHERE id = ANY(ARRAY(SELECT id FROM candidates)) AND status = 'pending'
    ORDER BY priority DESC, created_at, id LIMIT coalesce((SELECT most FROM bot), 0) FOR NO KEY UPDATE SKIP LOCKED
)"""

# Each limited job takes the host's next free moment, `delay` after the one before; it must lie within the lock's time.
# Crawl workers lock domains in the order of their names, so we do where we wait for them.
CLAIM = """
WITH RECURSIVE {bot}, {head}, hosts AS MATERIALIZED (
    SELECT id, crawl_delay_ms * interval '1 millisecond' AS delay,
           greatest(next_request_at, statement_timestamp()) AS free_at
    FROM domains WHERE id = ANY(ARRAY(SELECT domain_id FROM head WHERE host_limited))
      AND (claimed_by IS NULL OR claim_expires_at <= statement_timestamp())
    ORDER BY domain FOR NO KEY UPDATE {waiting}
), in_line AS (
    SELECT head.*, free_at, delay, row_number() OVER (
               PARTITION BY domain_id, host_limited ORDER BY priority DESC, created_at, head.id) - 1 AS before
    FROM head LEFT JOIN hosts ON hosts.id = head.domain_id AND head.host_limited
), granted AS MATERIALIZED (
    SELECT id, domain_id, host_limited, free_at, delay FROM in_line
    WHERE NOT host_limited OR (before = 0 AND free_at <= statement_timestamp())
       OR free_at + (before + 1) * delay <= statement_timestamp() + lock_ttl_seconds * interval '1 second'
), clocks AS (
    UPDATE domains SET next_request_at = slots.free_at + slots.taken * slots.delay
    FROM (SELECT domain_id, free_at, delay, count(*) AS taken FROM granted WHERE host_limited
          GROUP BY domain_id, free_at, delay) AS slots
    WHERE domains.id = slots.domain_id
), seen AS (
    UPDATE bot_configs SET last_seen_at = statement_timestamp() FROM bot
    WHERE bot_configs.bot_id = bot.bot_id
      AND coalesce(last_seen_at < statement_timestamp() - interval '1 minute', TRUE)
), taken AS (
    UPDATE bot_jobs AS job SET status = 'locked', locked_by = bot.bot_id, last_locked_by = bot.bot_id,
        locked_at = clock_timestamp(), lock_extension_seconds = 0, fence = fence + 1
    FROM granted, bot WHERE job.id = granted.id
    RETURNING job.id, product_url_hash, priority, max_retries, lock_ttl_seconds, retry_count, locked_until, fence,
        job.created_at
)
SELECT bot.bot_id, bot.enabled, bot.most, (SELECT count(*) FROM head), {skipped},
    taken.id, url, priority, max_retries, lock_ttl_seconds, retry_count, locked_until, fence
FROM bot LEFT JOIN (taken JOIN product_urls ON url_hash = product_url_hash) ON TRUE
ORDER BY priority DESC, taken.created_at, taken.id
"""

SKIPPED = """(
    SELECT count(*) FROM (
        SELECT FROM bot_jobs AS held {join}
        WHERE held.status = 'locked' AND held.locked_until > statement_timestamp()
          AND held.locked_by <> bot.bot_id {filter} LIMIT {most}
    ) AS others)"""
SKIPPED_ANYWHERE = SKIPPED.format(join="", filter="", most=MOST_SKIPPED)
SKIPPED_IN_DOMAIN = SKIPPED.format(
    join="JOIN domains ON domains.id = held.domain_id",
    filter="AND position(%(domain)s::text in domains.domain) > 0",
    most=MOST_SKIPPED,
)

FROM_QUEUE = CLAIM.format(bot=BOT, head=QUEUE, waiting="SKIP LOCKED", skipped=SKIPPED_ANYWHERE)
FROM_HOSTS = CLAIM.format(bot=BOT, head=BY_HOST, waiting="", skipped=SKIPPED_ANYWHERE)
FROM_DOMAIN = CLAIM.format(bot=BOT, head=BY_HOST, waiting="", skipped=SKIPPED_IN_DOMAIN)


def claim(bot_id: str | None, digest: str, most: int, domain: str | None, *, by_host: bool) -> list[tuple[Any, ...]]:
    """Rows of bot, enabled, cap, length of the head, skipped and the job's columns (NULL when there is none)."""
    statement = FROM_DOMAIN if domain else FROM_HOSTS if by_host else FROM_QUEUE
    values: dict[str, Any] = {"bot_id": bot_id, "digest": digest, "most": most}
    if by_host or domain:
        values["domain"] = domain
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
