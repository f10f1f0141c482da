"""Rate limits: so many requests a minute for each token and class of endpoint, so many failed logins in a while.

The time begins with the first request. Counts live in Redis when it is set, else in the database, so
they hold across server processes and restarts; when Redis is away the database counts.
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

from crawler.accounts.models import RateWindow
from crawler.foundation.clock import clock_of
from crawler.foundation.config import Config
from crawler.foundation.errors import RateLimited

log = logging.getLogger(__name__)

WINDOW_SECONDS = 60
JOBS, DATA, MONITORING = "jobs", "data", "monitoring"
BOTS, LOGINS = "bots", "logins"
FAILED_LOGINS = 100  # with a token, a minute and address
# Failed logins with a password; who is counted by which, and why these numbers: adr/0017.
LOGIN_PAIR, LOGIN_ADDRESS, LOGIN_ACCOUNT, LOGIN_DEVICE = "login-pair", "login-address", "login-account", "login-device"
PASSWORD_LIMITS = {LOGIN_PAIR: 10, LOGIN_DEVICE: 10, LOGIN_ADDRESS: 50, LOGIN_ACCOUNT: 100}
PASSWORD_WINDOWS = {LOGIN_PAIR: 900, LOGIN_DEVICE: 900, LOGIN_ADDRESS: 900, LOGIN_ACCOUNT: 3600}
MONITORING_PATHS = ("/api/v1/processes", "/api/v1/frontier/stats")
READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Usage:
    """Where a subject stands in its time."""

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
            "RateLimit-Policy": f'"{self.endpoint_class}";q={self.limit};w={window_of(self.endpoint_class)}',
            "RateLimit": f'"{self.endpoint_class}";r={self.remaining};t={left}',
        }

    def problem(self) -> RateLimited:
        wait = str(max(1, math.ceil(self.seconds_left)))
        what = "failed logins" if self.endpoint_class == LOGINS else f"{self.endpoint_class} requests"
        reason = f"more than {self.limit} {what} in a minute; wait {wait} s"
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
        **PASSWORD_LIMITS,
    }[name]


def window_of(name: str) -> int:
    """In how many seconds the limit holds."""
    return PASSWORD_WINDOWS.get(name, WINDOW_SECONDS)


def count(subject: str, name: str) -> Usage | None:
    """Count one request. None where there is no limit."""
    limit = limit_of(name)
    if not limit:
        return None
    used, seconds_left = _count(subject, name)
    return Usage(name, limit, used, seconds_left)


def give_back(subject: str, name: str) -> None:
    """As if the last one had not been counted."""
    _count(subject, name, -1)


def forget(subject: str, name: str) -> None:
    """As if none had been counted, wherever it was."""
    if url := settings.CRAWLSPACE.redis_url:
        try:
            redis_client(url).delete(redis_key(subject, name))
        except RedisError as error:
            log.warning("Redis cannot be reached; a count stays", extra={"error": str(error)})
    RateWindow.objects.filter(subject=subject, endpoint_class=name).delete()


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
    FEW_SUBJECTS = 10_000

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tidy_at = self.FEW_SUBJECTS
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
        if len(self.minutes) > self.tidy_at:
            self.minutes = {key: minute for key, minute in self.minutes.items() if minute.ends_at > now}
            # Not again with the next request when all of them are new.
            self.tidy_at = max(self.FEW_SUBJECTS, 2 * len(self.minutes))
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
        cursor.execute(COUNT_SQL.format(now=clock_of().epoch), [subject, name, times, window_of(name)])
        used, seconds_left = cursor.fetchone()
    return used, max(0.0, seconds_left)


COUNT_LUA = """
local used = redis.call('INCRBY', KEYS[1], ARGV[2])
if used == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {used, redis.call('PTTL', KEYS[1])}
"""


def count_in_redis(client: Redis, subject: str, name: str, times: int = 1) -> tuple[int, float]:
    used, milliseconds = client.eval(COUNT_LUA, 1, redis_key(subject, name), window_of(name) * 1000, times)
    return int(used), max(0, int(milliseconds)) / 1000


def redis_key(subject: str, name: str) -> str:
    return f"rate:{subject}:{name}"


@lru_cache(maxsize=4)
def redis_client(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


def purge() -> int:
    """Forget what ended long ago."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM accounts_ratewindow WHERE ends_at < {clock_of().epoch} - 3600", [])
        return int(cursor.rowcount)
