"""Submits in SQLite: the same as in finish_postgresql, step by step. One writer at a time, and that is us."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from crawler.bots.actions.finish_postgresql import COLUMNS
from crawler.bots.actions.rescheduling import reschedule
from crawler.bots.exact import price_for
from crawler.bots.models.change import ChangeKind
from crawler.bots.percent import micro_percent_up
from crawler.bots.states import JobState, next_retry
from crawler.bots.values import as_moment
from crawler.foundation.clock import clock_of

HELD = (
    "SELECT product_url_hash, retry_count, max_retries FROM bot_jobs WHERE id = %s AND status = 'locked'"
    " AND locked_by = %s AND fence = coalesce(%s, fence) AND locked_until > {now}"
)
BEFORE = "SELECT last_price, last_currency, last_in_stock FROM product_urls WHERE url_hash = %s"
STORE = (
    "INSERT INTO crawl_results (id, job_id, product_url_hash, bot_id, price, currency, title, in_stock, parsed_data,"
    " storage_path, previous_price, previous_currency, previous_in_stock, created_at)"
    " SELECT %s, %s, url_hash, %s, %s, %s, %s, %s, %s, %s, last_price, last_currency, last_in_stock, {now}"
    " FROM product_urls WHERE url_hash = %s"
)
CHANGE = (
    "INSERT INTO product_changes (kind, percent_at_most, product_url_hash, domain_id, url, result_id, title, price,"
    " currency, in_stock, previous_price, previous_currency, previous_in_stock, created_at)"
    " SELECT %s, %s, url_hash, domain_id, url, crawl_results.id, title, price, currency, in_stock, previous_price,"
    " previous_currency, previous_in_stock, {now} FROM crawl_results"
    " JOIN product_urls ON url_hash = product_url_hash WHERE crawl_results.id = %s"
)
CHANGED = "UPDATE product_urls SET last_changed_at = {now} WHERE url_hash = %s"
NOTE = (
    "UPDATE product_urls SET last_price = %s, last_currency = %s, last_in_stock = %s, last_title = %s,"
    " last_result_at = {now} WHERE url_hash = %s"
)
NEXT = (
    "SELECT next_due_at FROM product_urls JOIN crawl_policies ON crawl_policies.id = policy_id"
    " WHERE url_hash = %s AND enabled"
)
END = (
    "UPDATE bot_jobs SET status = %s, retry_count = %s, locked_by = NULL, locked_at = NULL, lock_extension_seconds = 0,"
    " last_error = coalesce(%s, last_error), finished_at = CASE WHEN %s = 'pending' THEN NULL ELSE {now} END"
    " WHERE id = %s"
)


@transaction.atomic
def finish(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        return [_finish_one(cursor, dict(zip(COLUMNS, row, strict=True))) for row in rows]


def _finish_one(cursor: Any, sent: dict[str, Any]) -> tuple[Any, ...]:
    cursor.execute(
        "SELECT bot_id, enabled FROM bot_configs WHERE token_hash = %s AND bot_id = coalesce(%s, bot_id)",
        [sent["digest"], sent["shown_bot_id"]],
    )
    bot: tuple[Any, ...] = cursor.fetchone() or (None, None)
    done = _finish_if_held(cursor, bot[0], sent) if bot[1] else None
    return (*bot, *(done or [None] * 6))


def _finish_if_held(cursor: Any, bot_id: str, sent: dict[str, Any]) -> tuple[Any, ...] | None:
    job_id, now = sent["job_id"].hex, clock_of().now
    cursor.execute(HELD.format(now=now), [job_id, bot_id, sent["fence"]])
    held = cursor.fetchone()
    if held is None:
        return None
    url_hash, retry_count, max_retries = held
    if sent["success"]:
        state = JobState.DONE
        _store(cursor, bot_id, url_hash, sent)
    else:
        state, retry_count = next_retry(retry_count, max_retries)
    due = None if state == JobState.PENDING else _reschedule(cursor, url_hash, sent["success"])
    error = None if sent["success"] else sent["error_msg"]
    cursor.execute(END.format(now=now), [state.value, retry_count, error, state.value, job_id])
    return (sent["job_id"], state.value, retry_count, max_retries, sent["result_id"] if sent["success"] else None, due)


def _store(cursor: Any, bot_id: str, url_hash: str, sent: dict[str, Any]) -> None:
    now, price = clock_of().now, price_for("sqlite", sent["price"])
    found = [price, sent["currency"], sent["title"], sent["in_stock"], sent["parsed_data"], sent["storage_path"]]
    cursor.execute(BEFORE, [url_hash])
    before = cursor.fetchone()
    cursor.execute(STORE.format(now=now), [sent["result_id"].hex, sent["job_id"].hex, bot_id, *found, url_hash])
    cursor.execute(NOTE.format(now=now), [price, sent["currency"], sent["in_stock"], sent["title"], url_hash])
    changes = list(_changes(before, (price, sent["currency"], sent["in_stock"])) if before else ())
    for kind, percent in changes:
        cursor.execute(CHANGE.format(now=now), [kind.value, percent, sent["result_id"].hex])
    if changes:
        cursor.execute(CHANGED.format(now=now), [url_hash])


def _changes(before: tuple[Any, ...], after: tuple[Any, ...]) -> Iterator[tuple[ChangeKind, int | None]]:
    """What differs, with the percentage where it is a price."""
    (old_price, old_currency, was_in_stock), (price, currency, in_stock) = before, after
    if old_price is None:  # the first result
        return
    if currency != old_currency:
        yield ChangeKind.CURRENCY_CHANGED, None
    elif price != old_price:
        kind = ChangeKind.PRICE_UP if price > old_price else ChangeKind.PRICE_DOWN
        yield kind, micro_percent_up(old_price, price)
    if bool(in_stock) != bool(was_in_stock):
        yield (ChangeKind.BACK_IN_STOCK if in_stock else ChangeKind.OUT_OF_STOCK), None


def _reschedule(cursor: Any, url_hash: str, success: bool) -> datetime | None:
    reschedule([url_hash], success=success)
    cursor.execute(NEXT, [url_hash])
    found = cursor.fetchone()
    return as_moment(found[0]) if found and found[0] else None
