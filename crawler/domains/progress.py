"""What commits say about domains: counters, error rows, politeness clock, size of the frontier. No lock is taken here;
callers hold the rows (claims.lock_held)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection

from crawler.engine.contract import DomainNews, RobotsFile
from crawler.foundation.ids import new_id
from crawler.frontier.bulk import insert_many, timestamp, update_many, uuid_key
from crawler.web.hosts import registrable_domain

NEW = {
    "id": "uuid",
    "domain": "text",
    "parent_domain": "text",
    "source": "text",
    "first_seen_at": "timestamptz",
    "updated_at": "timestamptz",
}


def remember(names: Iterable[str], source: str, now: float) -> None:
    """A row for every domain that has none yet."""
    moment = timestamp(now)
    rows = [
        (uuid_key(connection.vendor, new_id()), name, _parent(name), source, moment, moment)
        for name in sorted(set(names))
    ]
    with connection.cursor() as cursor:
        insert_many(cursor, connection.vendor, "domains", NEW, rows, "ON CONFLICT (domain) DO NOTHING")


@lru_cache(8192)
def _parent(name: str) -> str:
    return registrable_domain(name) or name


GROWN = {"domain": "text", "frontier_size": "integer", "pages_discovered": "bigint"}


def grow(added_by_domain: Mapping[str, int], now: float) -> None:
    """New URLs to fetch. A domain that was done has work again; a blocked one waits for its cooldown."""
    rows = [(name, count, count) for name, count in sorted(added_by_domain.items()) if count]
    moment = timestamp(now)
    with connection.cursor() as cursor:
        update_many(
            cursor, connection.vendor, "domains", GROWN, rows,
            how={"frontier_size": "frontier_size + {new}", "pages_discovered": "pages_discovered + {new}"},
            also="status = CASE WHEN status = 'exhausted' THEN 'pending' ELSE status END,"
            " next_crawl_after = CASE WHEN status = 'exhausted' THEN NULL ELSE next_crawl_after END,"
            f" frontier_updated_at = '{moment}', updated_at = '{moment}'",
        )  # fmt: skip


@dataclass(slots=True)
class Tally:
    """Sums over the pages of one domain in a batch."""

    pages: int = 0
    failed: int = 0
    bytes: int = 0
    images: int = 0
    settled: int = 0  # no longer to be fetched
    depth: int = 0
    seconds: float = 0.0
    attempts: int = 0
    run_id: str | None = None


TALLIED = {
    "domain": "text",
    "pages_crawled": "bigint",
    "pages_failed": "bigint",
    "total_error_count": "integer",
    "bytes_downloaded": "bigint",
    "images_found": "bigint",
    "frontier_size": "integer",
    "crawl_depth_reached": "integer",
    "consecutive_error_count": "integer",
    "next_request_at": "timestamptz",
    "backoff_level": "smallint",
    "avg_response_time_ms": "integer",
    "crawl_delay_ms": "integer",
    "last_crawl_run_id": "uuid",
}


def advance(tallies: Mapping[str, Tally], news: Mapping[str, DomainNews], now: float) -> None:
    """Add a batch to its domains."""
    most = "max" if connection.vendor == "sqlite" else "greatest"
    moment = timestamp(now)
    plus = ("pages_crawled", "pages_failed", "total_error_count", "bytes_downloaded", "images_found")
    how = {name: f"{name} + {{new}}" for name in plus}
    how |= {
        "frontier_size": "frontier_size - {new}",
        "crawl_depth_reached": f"{most}(crawl_depth_reached, {{new}})",
        "avg_response_time_ms": "coalesce({new}, avg_response_time_ms)",
        "crawl_delay_ms": "coalesce({new}, crawl_delay_ms)",
        "last_crawl_run_id": "coalesce({new}, last_crawl_run_id)",
    }
    rows = [_advanced(name, tally, news[name]) for name, tally in sorted(tallies.items())]
    with connection.cursor() as cursor:
        update_many(
            cursor, connection.vendor, "domains", TALLIED, rows, how=how,
            also=f"status = 'active', last_crawled_at = '{moment}', updated_at = '{moment}',"
            f" first_crawled_at = coalesce(first_crawled_at, '{moment}')",
        )  # fmt: skip


def _advanced(name: str, tally: Tally, news: DomainNews) -> tuple[Any, ...]:
    average = round(1000 * tally.seconds / tally.attempts) if tally.attempts else None
    return (
        name, tally.pages, tally.failed, tally.failed, tally.bytes, tally.images, tally.settled, tally.depth,
        news.consecutive_errors, timestamp(news.next_request_at), news.backoff_level, average, news.crawl_delay_ms,
        uuid_key(connection.vendor, tally.run_id) if tally.run_id else None,
    )  # fmt: skip


def keep_robots(domain: str, file: RobotsFile, body_hash: str) -> None:
    """A new row where the file changed; the newest row's times move where it did not."""
    fetched, expires = timestamp(file.fetched_at), timestamp(file.expires_at)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE robots_records SET fetched_at = %s, expires_at = %s, checked_count = checked_count + 1 WHERE id ="
            " (SELECT max(id) FROM robots_records WHERE domain = %s AND origin = %s)"
            " AND body_hash = %s AND http_status IS NOT DISTINCT FROM %s AND error = %s",
            [fetched, expires, domain, file.origin, body_hash, file.status, file.error],
        )
        if cursor.rowcount == 0:
            cursor.execute(
                "INSERT INTO robots_records (domain, origin, first_fetched_at, fetched_at, expires_at, http_status,"
                " error, body, body_hash, checked_count) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 1)",
                [domain, file.origin, fetched, fetched, expires, file.status, file.error, file.body, body_hash],
            )
        cursor.execute(
            "UPDATE domains SET robots_txt_fetched_at = %s, robots_txt_hash = %s WHERE domain = %s",
            [fetched, body_hash, domain],
        )
