"""The pull as one statement: who asks, what may be handed out, the hosts' clocks, the locks, and what others hold.

The rows of the head are locked as they are read, so that concurrent pulls take different ones (SKIP LOCKED). Hosts
whose clock another pull is moving at that moment are passed over as well; nobody waits, except when asked to.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from django.db import connection

from crawler.bots.models.bot import MOST_JOBS_PER_PULL
from crawler.bots.values import as_moment


class Way(Enum):
    """How jobs are chosen."""

    QUEUE = "the head of the queue"
    HOSTS = "the queues of the hosts that may be asked, merged: for a domain, or behind hosts that have no time left"
    BUSY_HOSTS = "the same in spite of other pulls: more jobs are looked at, and hosts are waited for"


# How many times the jobs asked for are looked at by host, as other pulls may be taking the first of them.
SPARE = {Way.HOSTS: 5, Way.BUSY_HOSTS: 50}
# A number in a LIMIT tells the planner how few rows there will be; a parameter does not.
MOST_LOOKED_AT = 500


MOST_SKIPPED = 1000
# Of the columns that come back.
LOCKED_UNTIL, FENCE = 13, 14

BOT = """
bot AS MATERIALIZED (
    SELECT bot_id, enabled, CASE WHEN enabled THEN least(max_jobs_per_pull, %(most)s::int) ELSE 0 END AS most
    FROM bot_configs WHERE token_hash = %(digest)s AND bot_id = coalesce(%(bot_id)s::text, bot_id)
)"""

# No more rows are read, and locked, than the outer limit lets through.
QUEUE = f"""
head AS MATERIALIZED (
    SELECT * FROM (
        SELECT id, domain_id, host_limited, lock_ttl_seconds, priority, created_at FROM bot_jobs
        WHERE status = 'pending' ORDER BY priority DESC, created_at LIMIT {MOST_JOBS_PER_PULL}
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS few LIMIT coalesce((SELECT most FROM bot), 0)
)"""

# A queue is a host's limited or its other jobs. The first job of each is found by jumping through the index; the jobs
# to be handed out are among the queues whose first jobs come first, a few more because others may be taking them.
# (Said as "pending", the state of the candidates would tempt the planner to search them in the whole queue.)
BY_HOST = f"""
queues AS (
    (SELECT domain_id, host_limited, priority, created_at, lock_ttl_seconds FROM bot_jobs
     WHERE status = 'pending' ORDER BY domain_id, host_limited, priority DESC, created_at LIMIT 1)
    UNION ALL
    SELECT further.* FROM queues, LATERAL (
        SELECT domain_id, host_limited, priority, created_at, lock_ttl_seconds FROM bot_jobs
        WHERE status = 'pending' AND (domain_id, host_limited) > (queues.domain_id, queues.host_limited)
        ORDER BY domain_id, host_limited, priority DESC, created_at LIMIT 1
    ) AS further
), open_queues AS MATERIALIZED (
    SELECT queues.domain_id, queues.host_limited,
           CASE WHEN queues.host_limited AND crawl_delay_ms > 0 THEN greatest(1, least(%(looked_at)s::int,
                extract(epoch FROM statement_timestamp() + lock_ttl_seconds * interval '1 second'
                        - greatest(next_request_at, statement_timestamp())) * 1000 / crawl_delay_ms))
                ELSE %(looked_at)s::int END AS room
    FROM queues JOIN domains ON domains.id = queues.domain_id
    WHERE (%(domain)s::text IS NULL OR position(%(domain)s::text in domains.domain) > 0)
      AND (NOT queues.host_limited OR (domains.claimed_by IS NULL OR claim_expires_at <= statement_timestamp())
           AND coalesce(next_request_at <= statement_timestamp() OR next_request_at
               + crawl_delay_ms * interval '1 millisecond'
               <= statement_timestamp() + lock_ttl_seconds * interval '1 second', TRUE))
    ORDER BY queues.priority DESC, queues.created_at LIMIT %(looked_at)s::int
), candidates AS MATERIALIZED (
    SELECT first.id FROM open_queues, LATERAL (
        SELECT * FROM (
            SELECT id, priority, created_at FROM bot_jobs
            WHERE status = 'pending' AND domain_id = open_queues.domain_id AND host_limited = open_queues.host_limited
            ORDER BY priority DESC, created_at LIMIT {MOST_LOOKED_AT}
        ) AS few LIMIT open_queues.room::int
    ) AS first ORDER BY first.priority DESC, first.created_at LIMIT %(looked_at)s::int
), head AS MATERIALIZED (
    SELECT id, domain_id, host_limited, lock_ttl_seconds, priority, created_at FROM bot_jobs
    WHERE id = ANY(ARRAY(SELECT id FROM candidates)) AND NOT status IN ('locked', 'done', 'failed', 'expired')
    ORDER BY priority DESC, created_at LIMIT coalesce((SELECT most FROM bot), 0) FOR NO KEY UPDATE SKIP LOCKED
)"""

# Each limited job takes the host's next free moment, `delay` after the one before; it must lie within the lock's time.
# The planner cannot know how few rows a CTE has and would read whole tables to join it; of an array it assumes that it
# is short, and of a LIMIT with a number that there are so few. Every step here costs something even when it finds
# nothing to do, so there is no sorting (the caller does it) and no row is looked up by a join. The others' jobs are
# only counted when asked for: a thousand of them cost as much as the rest. Times come as seconds: psycopg takes as long
# to prepare for reading times as for everything else.
CLAIM = """
WITH RECURSIVE {bot}, {head}, hosts AS MATERIALIZED (
    SELECT id, crawl_delay_ms * interval '1 millisecond' AS delay,
           greatest(next_request_at, statement_timestamp()) AS free_at
    FROM domains WHERE id = ANY(ARRAY(SELECT domain_id FROM head WHERE host_limited))
      AND (claimed_by IS NULL OR claim_expires_at <= statement_timestamp())
    {lock_hosts}
), in_line AS MATERIALIZED (
    SELECT head.*, free_at, delay, row_number() OVER (
               PARTITION BY domain_id, host_limited ORDER BY priority DESC, created_at, head.id) AS place
    FROM head LEFT JOIN hosts ON hosts.id = head.domain_id AND head.host_limited
), granted AS MATERIALIZED (
    SELECT id, domain_id, host_limited, free_at, free_at + place * delay AS next_free_at FROM in_line
    WHERE NOT host_limited OR (place = 1 AND free_at <= statement_timestamp())
       OR free_at + place * delay <= statement_timestamp() + lock_ttl_seconds * interval '1 second'
), clocks AS (
    UPDATE domains SET next_request_at = slots.next_free_at
    FROM (SELECT domain_id, max(next_free_at) AS next_free_at FROM granted WHERE host_limited GROUP BY domain_id)
        AS slots
    WHERE domains.id = slots.domain_id
), taken AS (
    UPDATE bot_jobs AS job SET status = 'locked', locked_by = (SELECT bot_id FROM bot),
        last_locked_by = (SELECT bot_id FROM bot), locked_at = clock_timestamp(), lock_extension_seconds = 0,
        fence = fence + 1
    WHERE id = ANY(ARRAY(SELECT id FROM granted))
    RETURNING extract(epoch FROM created_at)::float8, id,
        (SELECT url FROM product_urls WHERE url_hash = job.product_url_hash) AS url, priority,
        max_retries, lock_ttl_seconds, retry_count, extract(epoch FROM locked_until)::float8, fence
)
SELECT bot.bot_id, bot.enabled, bot.most, (SELECT count(*) FROM {seen}),
    (SELECT count(free_at) FROM in_line) - (SELECT count(free_at) FROM granted),
    CASE WHEN %(count_others)s::bool THEN (SELECT count(*) FROM (
        (SELECT FROM bot_jobs AS held {join} WHERE held.status = 'locked' AND held.locked_by < (SELECT bot_id FROM bot)
            AND held.locked_until > statement_timestamp() {filter})
        UNION ALL
        (SELECT FROM bot_jobs AS held {join} WHERE held.status = 'locked' AND held.locked_by > (SELECT bot_id FROM bot)
            AND held.locked_until > statement_timestamp() {filter})
        LIMIT {most_skipped}) AS others) END,
    taken.*
FROM bot LEFT JOIN taken ON TRUE
"""

ANYWHERE = {"join": "", "filter": "", "most_skipped": MOST_SKIPPED}
IN_DOMAIN = {
    "join": "JOIN domains ON domains.id = held.domain_id",
    "filter": "AND position(%(domain)s::text in domains.domain) > 0",
    "most_skipped": MOST_SKIPPED,
}

# Crawl workers lock domains in the order of their names, so we do where we wait for them.
PASS_OVER = {"lock_hosts": "FOR NO KEY UPDATE SKIP LOCKED"}
WAIT_FOR = {"lock_hosts": "ORDER BY domain FOR NO KEY UPDATE"}
PARTS = {"bot": BOT, "head": BY_HOST, "seen": "candidates"}
FROM_QUEUE = CLAIM.format(bot=BOT, head=QUEUE, seen="in_line", **PASS_OVER, **ANYWHERE)
FROM_HOSTS = CLAIM.format(**PARTS, **PASS_OVER, **ANYWHERE)
FROM_DOMAIN = CLAIM.format(**PARTS, **PASS_OVER, **IN_DOMAIN)
FROM_BUSY_HOSTS = CLAIM.format(**PARTS, **WAIT_FOR, **ANYWHERE)
FROM_BUSY_DOMAIN = CLAIM.format(**PARTS, **WAIT_FOR, **IN_DOMAIN)
STATEMENTS = {
    (Way.QUEUE, False): FROM_QUEUE,
    (Way.HOSTS, False): FROM_HOSTS,
    (Way.HOSTS, True): FROM_DOMAIN,
    (Way.BUSY_HOSTS, False): FROM_BUSY_HOSTS,
    (Way.BUSY_HOSTS, True): FROM_BUSY_DOMAIN,
}


def claim(
    bot_id: str | None, digest: str, most: int, domain: str | None, way: Way, count_others: bool
) -> list[tuple[Any, ...]]:
    """Rows of bot, enabled, cap, how many jobs were looked at, how many of them had hosts without time, how many jobs
    others hold (None when not asked for), and the job's creation and its columns (None when there is none)."""
    values: dict[str, Any] = {"bot_id": bot_id, "digest": digest, "most": most, "count_others": count_others}
    if way in SPARE:
        values |= {"domain": domain, "looked_at": min(SPARE[way] * most, MOST_LOOKED_AT)}
    with connection.cursor() as cursor:
        cursor.execute(STATEMENTS[way, domain is not None], values)
        rows = cursor.fetchall()
    return [(*row[:LOCKED_UNTIL], as_moment(row[LOCKED_UNTIL]), row[FENCE]) if row[FENCE] else row for row in rows]
