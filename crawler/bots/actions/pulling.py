"""A bot asks for work."""

from __future__ import annotations

import time
from typing import Any

from django.db import connection

from crawler.bots import waiting
from crawler.bots.actions import claim_postgresql, claim_sqlite
from crawler.bots.actions.bots import note_seen
from crawler.bots.actions.claim_postgresql import MOST_SKIPPED, Way
from crawler.bots.answers import Credentials, Pull, Pulled, bot_disabled, wrong_credentials
from crawler.bots.models.bot import MOST_JOBS_PER_PULL
from crawler.bots.values import as_uuid

CLAIMS = {"postgresql": claim_postgresql.claim, "sqlite": claim_sqlite.claim}
# Of a claim's rows.
CREATED_AT, JOB_ID, URL, PRIORITY = range(6, 10)
QUIET_SECONDS = 0.25
COUNT_SECONDS = 0.25
MOST_REMEMBERED = 10_000


def pull_jobs(credentials: Credentials, max_jobs: int = 10, domain: str | None = None) -> Pull:
    """Lock up to `max_jobs` pending jobs for the bot, highest priority first, then oldest. `domain`: only of domains
    whose name contains it. No job goes to two bots, and no host gets more than it may be asked for in the lock's time.
    """
    most = min(max_jobs, MOST_JOBS_PER_PULL)
    got = _claim(credentials, most, domain.lower()) if domain else _claim_anywhere(credentials, most)
    note_seen(credentials.digest)
    return Pull(got.jobs, got.skipped)


class Claimed:
    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            raise wrong_credentials()
        bot_id, enabled, self.most, self.looked_at, self.out_of_time, others = rows[0][:6]
        if not enabled:
            raise bot_disabled(bot_id)
        self.skipped: int = others or 0
        rows = [row for row in rows if row[URL] is not None]
        rows.sort(key=lambda row: (-row[PRIORITY], row[CREATED_AT]))
        self.jobs = [Pulled(as_uuid(row[JOB_ID]), *row[URL:]) for row in rows]

    @property
    def is_blocked(self) -> bool:
        """There were jobs, but none whose host was free at that moment."""
        return bool(self.looked_at) and not self.jobs


def _claim_anywhere(credentials: Credentials, most: int) -> Claimed:
    known = CROWD.recall(credentials.digest)
    got = _take(credentials, most, None, Way.QUEUE, count_others=known is None)
    if known is None:
        CROWD.remember(credentials.digest, got.skipped)
    else:
        got.skipped = known
    if (got.out_of_time or got.is_blocked) and not QUIET.is_on():
        # Other hosts may wait behind those that have no time left.
        more = _claim(credentials, got.most - len(got.jobs), None, count_others=False)
        got.jobs = sorted(got.jobs + more.jobs, key=lambda job: -job.priority)
        if not more.looked_at:
            QUIET.begin()
    return got


def _claim(credentials: Credentials, most: int, domain: str | None, count_others: bool = True) -> Claimed:
    got = _take(credentials, most, domain, Way.HOSTS, count_others)
    return _take(credentials, most, domain, Way.BUSY_HOSTS, count_others) if got.is_blocked else got


def _take(credentials: Credentials, most: int, domain: str | None, way: Way, count_others: bool) -> Claimed:
    claim = CLAIMS[connection.vendor]
    return Claimed(claim(credentials.bot_id, credentials.digest, most, domain, way, count_others))


class Crowd:
    """That others hold a thousand jobs or more, which is as far as we count. It costs as much as the rest of a pull, so
    it is believed for a quarter of a second."""

    def __init__(self) -> None:
        self.counts: dict[str, tuple[int, float, int]] = {}

    def remember(self, digest: str, others: int) -> None:
        if others >= MOST_SKIPPED:
            if len(self.counts) >= MOST_REMEMBERED:
                self.counts.clear()
            self.counts[digest] = (others, time.monotonic() + COUNT_SECONDS, waiting.WAITING.round)

    def recall(self, digest: str) -> int | None:
        """None when it has to be counted: also when this process gave jobs back since."""
        others, until, round_then = self.counts.get(digest, (0, 0.0, 0))
        return others if round_then == waiting.WAITING.round and time.monotonic() < until else None


CROWD = Crowd()


class Quiet:
    """When no host has time left, looking through all of them again and again is no use: for a moment this process
    looks at the head of the queue only, unless it makes jobs itself."""

    def __init__(self) -> None:
        self.until = 0.0
        self.round = -1

    def begin(self) -> None:
        self.until, self.round = time.monotonic() + QUIET_SECONDS, waiting.WAITING.round

    def is_on(self) -> bool:
        return self.round == waiting.WAITING.round and time.monotonic() < self.until


QUIET = Quiet()
