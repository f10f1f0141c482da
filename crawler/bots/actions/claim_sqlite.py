"""The pull in SQLite: the same choice as in claim_postgresql, step by step. One writer at a time, and that is us."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.db import connection, transaction

from crawler.bots.actions.claim_postgresql import MOST_SKIPPED, Way
from crawler.bots.values import as_moment
from crawler.foundation.clock import clock_of
from crawler.frontier.bulk import seconds_of, timestamp

HEAD = (
    "SELECT id, domain_id, host_limited, lock_ttl_seconds, priority, created_at FROM bot_jobs WHERE status = 'pending'"
)
ORDER = "ORDER BY priority DESC, created_at LIMIT %s"
NEXT_QUEUE = (
    "SELECT domain_id, host_limited FROM bot_jobs WHERE status = 'pending'"
    " AND (domain_id, host_limited) > (%s, %s) ORDER BY domain_id, host_limited LIMIT 1"
)
TAKE = (
    "UPDATE bot_jobs SET status = 'locked', locked_by = %s, last_locked_by = %s, locked_at = {now},"
    " lock_extension_seconds = 0, fence = fence + 1 WHERE id = %s"
)
TAKEN = (
    "SELECT bot_jobs.created_at, id, url, priority, max_retries, lock_ttl_seconds, retry_count, locked_until, fence"
    " FROM bot_jobs JOIN product_urls ON url_hash = product_url_hash"
    " WHERE id IN (SELECT value FROM json_each(%s)) ORDER BY priority DESC, bot_jobs.created_at, bot_jobs.rowid"
)


class Job(NamedTuple):
    id: str
    domain_id: str
    host_limited: bool
    lock_ttl_seconds: int
    priority: int
    created_at: Any

    @property
    def place(self) -> tuple[Any, ...]:
        return (-self.priority, self.created_at)


class HostClock:
    """When a host may be asked next. `grant` takes the next moment if it lies within the lock's time."""

    def __init__(self, delay_ms: int, next_request_at: Any, is_crawled: bool, now: float) -> None:
        self.delay = delay_ms / 1000
        self.free_at = max(seconds_of(next_request_at) or 0.0, now)
        self.is_crawled = is_crawled
        self.now = now
        self.moved = False

    def grant(self, lock_seconds: int) -> bool:
        soon = self.free_at <= self.now or self.free_at + self.delay <= self.now + lock_seconds
        if self.is_crawled or not soon:
            return False
        self.free_at += self.delay
        self.moved = True
        return True


@transaction.atomic
def claim(
    bot_id: str | None, digest: str, most: int, domain: str | None, way: Way, count_others: bool
) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        bot = _bot(cursor, bot_id, digest)
        if bot is None:
            return []
        name, enabled, cap = bot
        most = min(most, cap) if enabled else 0
        choice = Choice(cursor, most)
        looked_at = choice.from_queue() if way == Way.QUEUE else choice.from_hosts(domain)
        skipped = _skipped(cursor, name, domain) if count_others else None
        jobs = _take(cursor, name, choice.granted)
        choice.keep_clocks()
    about = (name, bool(enabled), most, looked_at, looked_at - len(jobs), skipped)
    return [(*about, *job) for job in jobs] or [(*about, *[None] * 9)]


class Choice:
    """Which jobs are handed out."""

    def __init__(self, cursor: Any, most: int) -> None:
        self.cursor, self.most = cursor, most
        self.granted: list[str] = []
        self.clocks: dict[str, HostClock] = {}
        cursor.execute(f"SELECT {clock_of().epoch}", [])
        (self.now,) = cursor.fetchone()

    def from_queue(self) -> int:
        self.cursor.execute(f"{HEAD} {ORDER}", [self.most])
        head = [Job(*row) for row in self.cursor.fetchall()]
        self.grant(head)
        return len(head)

    def from_hosts(self, domain: str | None) -> int:
        head: list[Job] = []
        for domain_id, host_limited in list(self.queues(domain)):
            where = "AND domain_id = %s AND host_limited = %s"
            self.cursor.execute(f"{HEAD} {where} {ORDER}", [domain_id, host_limited, self.most])
            head += [Job(*row) for row in self.cursor.fetchall()]
        head.sort(key=lambda job: job.place)
        self.grant(head)
        return min(len(head), self.most)

    def queues(self, domain: str | None) -> Iterator[tuple[str, bool]]:
        """Hosts with pending jobs, their limited ones and the others apart."""
        at: tuple[str, bool] = ("", False)
        while True:
            self.cursor.execute(NEXT_QUEUE, at)
            at = self.cursor.fetchone()
            if at is None:
                return
            if domain is None or domain in self.name_of(at[0]):
                yield at

    def name_of(self, domain_id: str) -> str:
        self.cursor.execute("SELECT domain FROM domains WHERE id = %s", [domain_id])
        return str((self.cursor.fetchone() or [""])[0])

    def grant(self, head: Iterable[Job]) -> None:
        for job in head:
            if len(self.granted) == self.most:
                return
            if not job.host_limited or self.clock(job.domain_id).grant(job.lock_ttl_seconds):
                self.granted.append(job.id)

    def clock(self, domain_id: str) -> HostClock:
        if domain_id not in self.clocks:
            self.cursor.execute(
                "SELECT crawl_delay_ms, next_request_at, claimed_by IS NOT NULL AND claim_expires_at >"
                f" {clock_of().now} FROM domains WHERE id = %s",
                [domain_id],
            )
            delay_ms, next_request_at, is_crawled = self.cursor.fetchone()
            self.clocks[domain_id] = HostClock(delay_ms, next_request_at, is_crawled, self.now)
        return self.clocks[domain_id]

    def keep_clocks(self) -> None:
        moved = [(timestamp(clock.free_at), key) for key, clock in self.clocks.items() if clock.moved]
        self.cursor.executemany("UPDATE domains SET next_request_at = %s WHERE id = %s", moved)


def _bot(cursor: Any, bot_id: str | None, digest: str) -> tuple[str, bool, int] | None:
    cursor.execute(
        "SELECT bot_id, enabled, max_jobs_per_pull FROM bot_configs"
        " WHERE token_hash = %s AND bot_id = coalesce(%s, bot_id)",
        [digest, bot_id],
    )
    found: tuple[str, bool, int] | None = cursor.fetchone()
    return found


def _skipped(cursor: Any, bot_id: str, domain: str | None) -> int:
    where = "AND instr(domains.domain, %s) > 0" if domain else ""
    cursor.execute(
        "SELECT count(*) FROM (SELECT 1 FROM bot_jobs JOIN domains ON domains.id = domain_id"
        f" WHERE bot_jobs.status = 'locked' AND locked_until > {clock_of().now} AND locked_by <> %s {where} LIMIT %s)",
        [bot_id, *([domain] if domain else []), MOST_SKIPPED],
    )
    return int(cursor.fetchone()[0])


def _take(cursor: Any, bot_id: str, ids: list[str]) -> list[tuple[Any, ...]]:
    if not ids:
        return []
    cursor.executemany(TAKE.format(now=clock_of().now), [(bot_id, bot_id, job_id) for job_id in ids])
    cursor.execute(TAKEN, [json.dumps(ids)])
    return [(*row[:7], as_moment(row[7]), row[8]) for row in cursor.fetchall()]
