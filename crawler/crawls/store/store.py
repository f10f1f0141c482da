"""What the engine asks for, answered from the database."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from email.utils import formatdate
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from crawler.crawls.frontiers import open_frontier
from crawler.crawls.models import Crawl
from crawler.crawls.states import CrawlStatus
from crawler.crawls.store import budget, runs, traps
from crawler.crawls.store.availability import Deadlock, available
from crawler.crawls.store.commit import commit
from crawler.crawls.store.rules import rules_of
from crawler.domains import claims
from crawler.engine.contract import Batch, Claimed, Committed, CrawlRules, Ending, StoreUnavailable, Validators
from crawler.foundation.clock import clock_of, database_now
from crawler.frontier.bulk import list_of, members, seconds_of
from crawler.frontier.contract import Entry

DEADLOCK_RETRIES = 5
# By the domain's index: the plus keeps SQLite from walking through all URLs of a crawl for every domain instead.
WANTED = (
    "EXISTS (SELECT 1 FROM url_frontier f WHERE f.domain = domains.domain AND f.status = 'pending'"
    " AND +f.crawl_id {crawls})"
)
CLOCK_NOISE_SECONDS = 1.0


class DatabaseStore:
    """`worker` is the name under which claims are made; `only` limits the work to some crawls."""

    def __init__(self, worker: str, only: Collection[int] | None = None) -> None:
        self.worker = worker
        self.only = only
        self.queued = 0
        self.frontier = open_frontier()
        self.clock_offset = database_now().timestamp() - time.monotonic()

    def now(self) -> float:
        return time.monotonic() + self.clock_offset

    def _follow_clock(self) -> None:
        """Small differences are the noise of asking. Following them would shorten a host's delay now and then."""
        offset = database_now().timestamp() - time.monotonic()
        if abs(offset - self.clock_offset) > CLOCK_NOISE_SECONDS:
            self.clock_offset = offset

    def running_crawls(self) -> dict[int, CrawlRules]:
        with available():
            self._follow_clock()
            agent, crawls = settings.CRAWLSPACE.user_agent, self._running()
            self.queued = sum(crawl.pages_queued for crawl in crawls)
            return {crawl.pk: rules_of(crawl, runs.run_of(crawl), agent) for crawl in crawls}

    def _running(self) -> list[Crawl]:
        rows = Crawl.objects.filter(status=CrawlStatus.RUNNING)
        return list(rows if self.only is None else rows.filter(pk__in=self.only))

    def claim(self, limit: int, crawls: Collection[int]) -> list[Claimed]:
        """Not those with URLs of paused crawls alone."""
        wanted = WANTED.format(crawls=members(connection.vendor, "bigint"))
        with available():
            claimed = claims.claim_due(self.worker, limit, wanted, [list_of(connection.vendor, crawls)])
            self.frontier.on_claim([one.name for one in claimed])
            traps.load(claimed)
            return claimed

    def renew(self, held: Sequence[Claimed]) -> list[str]:
        with available():
            lost = claims.renew(self.worker, held)
            budget.renew(self.worker)
            self.frontier.on_release(lost)
            return lost

    def take(self, domain: str, crawls: Collection[int], limit: int, *, skip: Collection[int] = ()) -> list[Entry]:
        with available():
            return self.frontier.take(domain, crawls, limit, self.now(), skip=skip)

    def next_due(self, domain: str, crawls: Collection[int]) -> float | None:
        with available():
            return self.frontier.next_due(domain, crawls)

    def validators(self, entries: Sequence[Entry]) -> dict[str, Validators]:
        again = [entry.url_hash for entry in entries if entry.crawl_count]
        if not again:
            return {}
        with available(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT url_hash, etag, last_modified, content_hash, storage_path, crawled_at FROM crawled_documents"
                f" WHERE url_hash {members(connection.vendor, 'text')}",
                [list_of(connection.vendor, again)],
            )
            return {row[0]: _validators(row) for row in cursor.fetchall()}

    def fingerprints(self, domain: str, limit: int) -> list[tuple[int, str]]:
        with available(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT simhash, url_hash FROM crawled_documents WHERE domain = %s AND simhash IS NOT NULL"
                " AND NOT is_duplicate ORDER BY crawled_at DESC LIMIT %s",
                [domain, limit],
            )
            return [(value, url_hash) for value, url_hash in cursor.fetchall()]

    def reserve(self, crawl_id: int, pages: int) -> int:
        with available():
            return budget.reserve(self.worker, crawl_id, pages)

    def commit(self, batch: Batch) -> Committed:
        """Once more when PostgreSQL broke a tie between two transactions against us."""
        for _ in range(DEADLOCK_RETRIES):
            with suppress(Deadlock), available():
                committed = commit(self.worker, batch, self.frontier, self.now())
                self.frontier.on_release(committed.lost)
                return committed
        raise StoreUnavailable("the database finds a deadlock again and again")

    def release(self, endings: Sequence[Ending]) -> None:
        with available(), transaction.atomic():
            held = claims.lock_held(self.worker, [one.claimed for one in endings])
            mine = [one for one in endings if one.claimed.name in held]
            traps.save(mine)
            claims.release(mine, self.now())
            self.frontier.on_release([one.claimed.name for one in endings])

    def others_at_work(self) -> bool:
        with available(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM domains WHERE claimed_by IS NOT NULL AND claimed_by <> %s"
                f" AND claim_expires_at > {clock_of().now} LIMIT 1",
                [self.worker],
            )
            return cursor.fetchone() is not None

    def finish_idle_crawls(self) -> list[int]:
        with available():
            return [crawl.pk for crawl in self._running() if runs.finish_if_idle(crawl)]

    def give_back(self) -> None:
        with available():
            budget.give_back(self.worker)


def _validators(row: tuple[Any, ...]) -> Validators:
    _, etag, modified, content_hash, storage_path, crawled_at = row
    seconds = seconds_of(modified)
    last_modified = None if seconds is None else formatdate(seconds, usegmt=True)
    return Validators(etag, last_modified, content_hash, storage_path, seconds_of(crawled_at))
