"""Every backend of the frontier, fresh and empty; the database is that of the run, inside the test's transaction."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from django.db import connection
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.crawls.models import Crawl, FrontierURL
from crawler.frontier.contract import Frontier
from crawler.frontier.memory import MemoryFrontier
from crawler.frontier.mirrored import MirroredFrontier
from crawler.frontier.redis import RedisFrontier
from crawler.frontier.redis_queue import RedisQueue
from crawler.frontier.sql import SqlFrontier
from crawler.frontier.steps import SqlSteps
from tests.plugin import REDIS_URL

DOMAINS = ("a.example", "b.example:8080")
_names = itertools.count()


def crawls(count: int) -> list[int]:
    """Rows for the frontier's foreign key."""
    return [Crawl.objects.create(name=f"crawl {next(_names)}").pk for _ in range(count)]


def redis_client() -> Redis:
    """An empty Redis that makes every call once."""
    client = Redis.from_url(REDIS_URL, retry=Retry(NoBackoff(), 0))
    client.flushdb()
    return client


def sql_frontier() -> SqlFrontier:
    FrontierURL.objects.all().delete()
    return SqlFrontier(connection.cursor, connection.vendor)


def steps() -> SqlSteps:
    """In a table of their own that goes with the test's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS frontier_steps (domain text PRIMARY KEY, frontier_step bigint NOT NULL)"
        )
        cursor.execute("DELETE FROM frontier_steps")
        cursor.executemany("INSERT INTO frontier_steps VALUES (%s, 0)", [[name] for name in DOMAINS])
    return SqlSteps(connection.cursor, connection.vendor, table="frontier_steps")


def mirrored_frontier() -> MirroredFrontier:
    queue = RedisQueue(redis_client())
    return MirroredFrontier(sql_frontier(), queue, steps(), on_commit=lambda run: run())


BACKENDS: dict[str, Callable[[], Frontier]] = {
    "memory": MemoryFrontier,
    "sql": sql_frontier,
    "redis": lambda: RedisFrontier(redis_client()),
    "mirrored": mirrored_frontier,
}
