"""A database whose frontier is full already: millions of URLs of one crawl, put there in bulk.

A fifth of them are pending URLs of the domain that will be crawled, behind everything that the crawl finds (priority
9). The others are spread over hosts of about a thousand URLs, half pending, the rest fetched or refused; these hosts
rest for centuries, so that a worker has them before its eyes but has nothing to ask them for.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from crawler.foundation.ids import new_id
from crawler.web.urls import url_hash

URLS_PER_HOST = 1000
OWN_SHARE = 5  # one in so many is of the crawled domain
STATUSES = ("pending",) * 5 + ("completed",) * 4 + ("blocked",)
COLUMNS = (
    "crawl_id", "url_hash", "url", "domain", "priority", "depth", "discovered_at", "discovered_from", "status",
    "refusal", "refusal_detail", "crawl_count", "last_status_code", "last_crawl_attempt",
)  # fmt: skip
MOMENT = "2026-01-02 03:04:05.678901"
REST_UNTIL = "2999-01-01 00:00:00"
SLUGS = ("annual-report", "how-to-choose", "release-notes", "the-long-read", "questions-and-answers", "gallery")


def rows(crawl_id: int, own_domain: str, size: int) -> Iterator[tuple[Any, ...]]:
    """Hosts take turns as they do in a crawl, so that neighbours in the table belong to different ones."""
    rng = random.Random(6)
    hosts = max(1, size // URLS_PER_HOST)
    before = url_hash(f"http://{own_domain}/index.html")
    for number in range(size):
        depth, slug = rng.randrange(1, 12), SLUGS[number % len(SLUGS)]
        if number % OWN_SHARE == 0:
            url = f"http://{own_domain}/elsewhere/{number % 97}/{slug}-{number}.html"
            domain, priority, status = own_domain, 9, "pending"
        else:
            domain, priority = f"www.site-{rng.randrange(hosts):05}.example", 5
            url = f"https://{domain}/articles/{number % 89}/{slug}-{number}.html"
            status = rng.choice(STATUSES)
        refusal = ("trap", "too many of one kind") if status == "blocked" else (None, None)
        visit = (1, 200, MOMENT) if status == "completed" else (0, None, None)
        own = url_hash(url)
        yield (crawl_id, own, url, domain, priority, depth, MOMENT, before, status, *refusal, *visit)
        if number % 50 == 0:
            before = own


class Tally:
    """Passes rows on and counts what waits where."""

    def __init__(self, source: Iterator[tuple[Any, ...]]) -> None:
        self.source = source
        self.pending: Counter[str] = Counter()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        at_domain, at_status = COLUMNS.index("domain"), COLUMNS.index("status")
        for row in self.source:
            if row[at_status] == "pending":
                self.pending[row[at_domain]] += 1
            yield row


def fill_sqlite(file: str, crawl_id: int, own_domain: str, size: int) -> None:
    """Indexes that can be made afterwards are."""
    counted = Tally(rows(crawl_id, own_domain, size))
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -2000000", "temp_store = MEMORY"):
            database.execute(f"PRAGMA {pragma}")
        indexes = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'url_frontier' AND sql IS NOT NULL"
        ).fetchall()
        database.execute("BEGIN")
        for name, _ in indexes:
            database.execute(f'DROP INDEX "{name}"')
        marks = ", ".join("?" * len(COLUMNS))
        database.executemany(f"INSERT INTO url_frontier ({', '.join(COLUMNS)}) VALUES ({marks})", counted)
        for _, statement in indexes:
            database.execute(statement)
        for statement, values in _rest(counted.pending, crawl_id, own_domain):
            database.executemany(statement.replace("%s", "?"), values)
        database.execute("COMMIT")
        database.execute("PRAGMA journal_mode = WAL")


def fill_postgresql(database_url: str, crawl_id: int, own_domain: str, size: int) -> None:
    """COPY, with the secondary indexes made afterwards."""
    import psycopg

    counted = Tally(rows(crawl_id, own_domain, size))
    with psycopg.connect(database_url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes"
            " WHERE tablename = 'url_frontier' AND indexdef NOT LIKE '%UNIQUE%'"
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        with cursor.copy(f"COPY url_frontier ({', '.join(COLUMNS)}) FROM STDIN") as copy:
            for row in counted:
                copy.write_row(row)
        for _, statement in indexes:
            cursor.execute(statement)
        for statement, values in _rest(counted.pending, crawl_id, own_domain):
            cursor.executemany(statement, values)
        cursor.execute("VACUUM ANALYZE")


def _rest(pending: Counter[str], crawl_id: int, own: str) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """The rows of the domains, and the counters that say how much waits."""
    others = [(new_id().hex, name, name, count, count, REST_UNTIL) for name, count in pending.items() if name != own]
    yield (
        "INSERT INTO domains (id, domain, parent_domain, status, frontier_size, pages_discovered, next_crawl_after)"
        " VALUES (%s, %s, %s, 'active', %s, %s, %s)",
        others,
    )
    yield "UPDATE domains SET frontier_size = frontier_size + %s WHERE domain = %s", [(pending[own], own)]
    waiting = pending.total()
    yield "UPDATE crawl_jobs SET pages_queued = pages_queued + %s WHERE id = %s", [(waiting, crawl_id)]
