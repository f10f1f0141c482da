"""Rate limits: so many requests a minute for each token and class of endpoint.

A minute begins with the first request. Counts live in Redis when it is set, else in the database, so
they hold across server processes; when Redis is away the database counts.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.db import connection
from redis import Redis, RedisError

from crawler.foundation.clock import clock_of
from crawler.foundation.config import Config
from crawler.foundation.errors import RateLimited

log = logging.getLogger(__name__)

WINDOW_SECONDS = 60
JOBS, DATA, MONITORING = "jobs", "data", "monitoring"
BOTS, LOGINS = "bots", "logins"
FAILED_LOGINS = 100  # a minute and address
MONITORING_PATHS = ("/api/v1/processes", "/api/v1/frontier/stats")
READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Usage:
    """Where a subject stands in its minute."""

    endpoint_class: str
    limit: int
    used: int
    seconds_left: float

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    @property
    def exceeded(self) -> bool:
        return self.used > self.limit

    def headers(self) -> dict[str, str]:
        left = math.ceil(self.seconds_left)
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(math.ceil(time.time() + self.seconds_left)),
            "RateLimit-Policy": f'"{self.endpoint_class}";q={self.limit};w={WINDOW_SECONDS}',
            "RateLimit": f'"{self.endpoint_class}";r={self.remaining};t={left}',
        }

    def problem(self) -> RateLimited:
        wait = str(max(1, math.ceil(self.seconds_left)))
        reason = f"more than {self.limit} {self.endpoint_class} requests in a minute; wait {wait} s"
        return RateLimited(reason=reason, headers={"Retry-After": wait})


def endpoint_class(method: str, path: str) -> str:
    if method not in READING:
        return JOBS
    return MONITORING if path.startswith(MONITORING_PATHS) else DATA


def limit_of(name: str) -> int:
    config: Config = settings.CRAWLSPACE
    return {
        JOBS: config.rate_limit_jobs,
        DATA: config.rate_limit_data,
        MONITORING: config.rate_limit_monitoring,
        BOTS: config.rate_limit_bots,
        LOGINS: FAILED_LOGINS,
    }[name]


def count(subject: str, name: str) -> Usage | None:
    """Count one request. None where there is no limit."""
    limit = limit_of(name)
    if not limit:
        return None
    used, seconds_left = _count(subject, name)
    return Usage(name, limit, used, seconds_left)


def _count(subject: str, name: str, times: int = 1) -> tuple[int, float]:
    if url := settings.CRAWLSPACE.redis_url:
        try:
            return count_in_redis(redis_client(url), subject, name, times)
        except RedisError as error:
            log.warning("Redis cannot be reached; the database counts requests", extra={"error": str(error)})
    return count_in_database(subject, name, times)


class Tally:
    """Counts for those who ask so often that a write a request would cost too much.

    A process counts in memory and adds that to the shared count every five seconds, or sooner when a twentieth of the
    limit came together. So many processes may overshoot a limit by that much, once a minute.
    """

    REPORT_SECONDS = 5.0
    MOST_SUBJECTS = 10_000

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.minutes: dict[tuple[str, str], Minute] = {}

    def count(self, subject: str, name: str) -> Usage | None:
        """Count one request. None where there is no limit."""
        if not (limit := limit_of(name)):
            return None
        with self.lock:
            minute = self._minute(subject, name)
            minute.used += 1
            minute.unreported += 1
            now = time.monotonic()
            is_time = minute.unreported * 20 >= limit or now - minute.reported_at >= self.REPORT_SECONDS
            report = minute.unreported if is_time else 0
            if report:
                minute.unreported, minute.reported_at = 0, now
        if report:
            used, seconds_left = _count(subject, name, report)
            minute.used, minute.ends_at = max(minute.used, used), now + seconds_left
        return Usage(name, limit, minute.used, max(0.0, minute.ends_at - now))

    def is_exceeded(self, subject: str, name: str) -> bool:
        with self.lock:
            return self._minute(subject, name).used >= limit_of(name)

    def _minute(self, subject: str, name: str) -> Minute:
        now = time.monotonic()
        if len(self.minutes) > self.MOST_SUBJECTS:
            self.minutes = {key: minute for key, minute in self.minutes.items() if minute.ends_at > now}
        minute = self.minutes.get((subject, name))
        if minute is None or minute.ends_at <= now:
            minute = self.minutes[(subject, name)] = Minute(ends_at=now + WINDOW_SECONDS, reported_at=now)
        return minute


@dataclass
class Minute:
    ends_at: float
    reported_at: float
    used: int = 0
    unreported: int = 0


TALLY = Tally()


COUNT_SQL = """
    INSERT INTO accounts_ratewindow AS was (subject, endpoint_class, used, ends_at)
    VALUES (%s, %s, %s, {now} + %s)
    ON CONFLICT (subject, endpoint_class) DO UPDATE SET
        used = CASE WHEN was.ends_at > {now} THEN was.used + excluded.used ELSE excluded.used END,
        ends_at = CASE WHEN was.ends_at > {now} THEN was.ends_at ELSE excluded.ends_at END
    RETURNING used, ends_at - {now}
"""


def count_in_database(subject: str, name: str, times: int = 1) -> tuple[int, float]:
    with connection.cursor() as cursor:
        cursor.execute(COUNT_SQL.format(now=clock_of().epoch), [subject, name, times, WINDOW_SECONDS])
        used, seconds_left = cursor.fetchone()
    return used, max(0.0, seconds_left)


COUNT_LUA = """
local used = redis.call('INCRBY', KEYS[1], ARGV[2])
if used == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {used, redis.call('PTTL', KEYS[1])}
"""


def count_in_redis(client: Redis, subject: str, name: str, times: int = 1) -> tuple[int, float]:
    used, milliseconds = client.eval(COUNT_LUA, 1, f"rate:{subject}:{name}", WINDOW_SECONDS * 1000, times)
    return int(used), max(0, int(milliseconds)) / 1000


@lru_cache(maxsize=4)
def redis_client(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


def purge() -> int:
    """Forget minutes that ended long ago."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM accounts_ratewindow WHERE ends_at < {clock_of().epoch} - 3600", [])
        return int(cursor.rowcount)
