"""Submits as one statement: who asks, which locks still stand, results and what changed by them, job states, when the
URLs are due again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection

from crawler.bots.percent import MOST_MICRO_PERCENT
from crawler.bots.values import as_moment

# Each answer brings its bot: the token's digest, and the bot_id that was shown with it, if any.
COLUMNS = {
    "digest": "text",
    "shown_bot_id": "text",
    "result_id": "uuid",
    "job_id": "uuid",
    "fence": "int",
    "success": "bool",
    "price": "numeric",
    "currency": "text",
    "title": "text",
    "in_stock": "bool",
    "parsed_data": "text",
    "storage_path": "text",
    "error_msg": "text",
}

RESULT_ID = list(COLUMNS).index("result_id")

BACKOFF = """(
    SELECT statement_timestamp() + CASE WHEN held.success THEN frequency_hours * interval '1 hour'
        ELSE retry_backoff_minutes * (1 << least(url.failure_streak, 3)) * interval '1 minute' END
    FROM crawl_policies WHERE id = url.policy_id)"""

IS_BOT = "token_hash = sent.digest AND bot.bot_id = coalesce(sent.shown_bot_id, bot.bot_id)"

# The first result of a product is no change: there was no price before.
DIFFERS = "({new}price <> {old}price OR {new}currency <> {old}currency OR {new}in_stock <> {old}in_stock)"
IS_CHANGE = DIFFERS.format(new="", old="previous_")
CHANGES_URL = DIFFERS.format(new="held.", old="url.last_")
KINDS = """(VALUES
    (CASE WHEN currency <> previous_currency THEN 'currency_changed' WHEN price > previous_price THEN 'price_up'
          WHEN price < previous_price THEN 'price_down' END),
    (CASE WHEN in_stock AND NOT previous_in_stock THEN 'back_in_stock'
          WHEN previous_in_stock AND NOT in_stock THEN 'out_of_stock' END)) AS found(kind)"""
# percent.py's, in whole numbers: a quotient of decimals would be rounded somewhere.
PERCENT = f"""CASE WHEN found.kind IN ('price_up', 'price_down') THEN least({MOST_MICRO_PERCENT}, CASE previous_price
    WHEN 0 THEN {MOST_MICRO_PERCENT} ELSE div(abs(price - previous_price) * 1e14 + previous_price * 1e6 - 1,
    previous_price * 1e6) END) / 1e6 END"""

# The condition on the lock is checked again on the row's newest version after a wait for it. That a job with a holder
# is locked is a constraint of the table; said here as well it would tempt the planner to read all locked jobs. It takes
# what is sent for a hundred rows and looks up each of them; a list (= ANY) as well would be gone through for each.
FINISH = f"""
WITH sent AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%s::json) AS sent({", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())})
), bot AS MATERIALIZED (
    SELECT bot_id, enabled, token_hash FROM bot_configs WHERE token_hash = ANY(ARRAY(SELECT digest FROM sent))
), held AS MATERIALIZED (
    SELECT sent.*, bot.bot_id, job.product_url_hash, job.max_retries,
        CASE WHEN success THEN 'done' WHEN retry_count < max_retries - 1 THEN 'pending' ELSE 'failed' END AS new_status,
        CASE WHEN success THEN retry_count WHEN retry_count < max_retries - 1 THEN retry_count + 1
             ELSE max_retries END AS new_retry_count
    FROM sent JOIN bot ON {IS_BOT} JOIN bot_jobs AS job ON job.id = sent.job_id
    WHERE bot.enabled AND job.locked_by = bot.bot_id
      AND job.fence = coalesce(sent.fence, job.fence) AND job.locked_until > clock_timestamp()
    ORDER BY job.id FOR NO KEY UPDATE OF job
), stored AS (
    INSERT INTO crawl_results (id, job_id, product_url_hash, bot_id, price, currency, title, in_stock, parsed_data,
        storage_path, previous_price, previous_currency, previous_in_stock, created_at)
    SELECT result_id, job_id, product_url_hash, bot_id, price, currency, title, in_stock, parsed_data::jsonb,
        storage_path, last_price, last_currency, last_in_stock, statement_timestamp()
    FROM held LEFT JOIN product_urls ON url_hash = product_url_hash WHERE success
    RETURNING id, product_url_hash, price, currency, title, in_stock, previous_price, previous_currency,
        previous_in_stock
), changed AS (
    INSERT INTO product_changes (kind, product_url_hash, domain_id, url, result_id, title, price, currency, in_stock,
        previous_price, previous_currency, previous_in_stock, percent_at_most, created_at)
    SELECT found.kind, product_url_hash, (SELECT domain_id FROM product_urls WHERE url_hash = product_url_hash),
        (SELECT url FROM product_urls WHERE url_hash = product_url_hash), id, title, price, currency, in_stock,
        previous_price, previous_currency, previous_in_stock, {PERCENT}, statement_timestamp()
    FROM stored CROSS JOIN LATERAL {KINDS} WHERE {IS_CHANGE} AND found.kind IS NOT NULL
), due AS (
    UPDATE product_urls AS url SET
        next_due_at = {BACKOFF},
        failure_streak = CASE WHEN held.success THEN 0 ELSE least(url.failure_streak + 1, 1000) END,
        last_price = CASE WHEN held.success THEN held.price ELSE url.last_price END,
        last_currency = CASE WHEN held.success THEN held.currency ELSE url.last_currency END,
        last_in_stock = CASE WHEN held.success THEN held.in_stock ELSE url.last_in_stock END,
        last_title = CASE WHEN held.success THEN held.title ELSE url.last_title END,
        last_result_at = CASE WHEN held.success THEN statement_timestamp() ELSE url.last_result_at END,
        last_changed_at = CASE WHEN held.success AND {CHANGES_URL} THEN statement_timestamp()
            ELSE url.last_changed_at END
    FROM held WHERE url.url_hash = held.product_url_hash AND new_status <> 'pending'
    RETURNING url.url_hash, url.next_due_at, (SELECT enabled FROM crawl_policies WHERE id = url.policy_id) AS runs
), finished AS (
    UPDATE bot_jobs AS job SET status = held.new_status, retry_count = held.new_retry_count, locked_by = NULL,
        locked_at = NULL, lock_extension_seconds = 0,
        last_error = CASE WHEN held.success THEN job.last_error ELSE held.error_msg END,
        finished_at = CASE WHEN held.new_status = 'pending' THEN NULL ELSE statement_timestamp() END
    FROM held WHERE job.id = held.job_id
)
SELECT sent.result_id, bot.bot_id, bot.enabled, held.job_id, held.new_status, held.new_retry_count, held.max_retries,
    CASE WHEN held.success THEN held.result_id END,
    CASE WHEN due.runs THEN extract(epoch FROM due.next_due_at)::float8 END
FROM sent LEFT JOIN bot ON {IS_BOT} LEFT JOIN held ON held.result_id = sent.result_id
    LEFT JOIN due ON due.url_hash = held.product_url_hash
"""


def finish(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """For each row, of different jobs: its bot and whether that is enabled (None for a stranger), and what became of
    the job (None when its lock did not stand)."""
    text = json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in rows], default=str)
    with connection.cursor() as cursor:
        cursor.execute(FINISH, [text])
        found = {row[0]: (*row[1:-1], row[-1] and as_moment(row[-1])) for row in cursor.fetchall()}
    return [found[row[RESULT_ID]] for row in rows]
