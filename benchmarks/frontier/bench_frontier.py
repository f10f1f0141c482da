"""The frontier's backends beside a plain Python set and heap, which forget everything when the process ends.

Run as ``python -m benchmarks.frontier.bench_frontier [URLS]``; 10,000 URLs unless told, 1000000 is worth a look. The
servers are the tests'. Each backend puts the URLs in batches of 2,000, puts them all again (every one is known), then
takes and settles them 500 at a time. A batch is one transaction. Clock time: the servers work as well.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from redis import Redis

from crawler.frontier.contract import Found, Frontier, Settled
from crawler.frontier.memory import MemoryFrontier
from crawler.frontier.redis import RedisFrontier
from tests.services.servers import Services

URLS = 10_000
PUT_BATCH, TAKE_BATCH = 2_000, 500
DOMAIN = "docs.example.org"
NOW = 1_800_000_000.0
PEER = "set + heapq"
VERBS = ("put new", "put known", "take", "settle")


class SetAndHeap:
    """What a crawler in memory does."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.heap: list[tuple[int, int, Found]] = []

    def put(self, found: list[Found]) -> None:
        for one in found:
            if one.url_hash not in self.seen:
                self.seen.add(one.url_hash)
                heappush(self.heap, (one.priority, len(self.seen), one))

    def take(self) -> list[Found]:
        return [heappop(self.heap)[2] for _ in range(min(TAKE_BATCH, len(self.heap)))]


def finds(crawl: int, count: int) -> list[Found]:
    urls = (
        f"https://{DOMAIN}/api/java.base/java/util/package-{number // 100}/Class{number}.html"
        for number in range(count)
    )
    return [Found(crawl, sha256(url.encode()).hexdigest(), url, DOMAIN, 3, 5) for url in urls]


def batches(found: list[Found]) -> Iterator[list[Found]]:
    for start in range(0, len(found), PUT_BATCH):
        yield found[start : start + PUT_BATCH]


def measure_peer(found: list[Found]) -> dict[str, float]:
    """The best of three: it is over in no time, and everything is compared with it."""
    return min((_peer_round(found) for _ in range(3)), key=lambda seconds: sum(seconds.values()))


def _peer_round(found: list[Found]) -> dict[str, float]:
    peer, seconds = SetAndHeap(), dict.fromkeys(VERBS, 0.0)
    for verb in ("put new", "put known"):
        for batch in batches(found):
            with timed(seconds, verb):
                peer.put(batch)
    while peer.heap:
        with timed(seconds, "take"):
            peer.take()
    return seconds


def measure(
    frontier: Frontier,
    crawl: int,
    found: list[Found],
    transaction: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> dict[str, float]:
    seconds = dict.fromkeys(VERBS, 0.0)
    for verb in ("put new", "put known"):
        for batch in batches(found):
            with timed(seconds, verb), transaction():
                frontier.put(batch, NOW)
    left = len(found)
    while left:
        with timed(seconds, "take"):
            entries = frontier.take(DOMAIN, [crawl], TAKE_BATCH, NOW)
        with timed(seconds, "settle"), transaction():
            frontier.settle([Settled(entry.id, "completed", 200) for entry in entries], NOW)
        left -= len(entries)
    return seconds


class timed:
    def __init__(self, seconds: dict[str, float], verb: str) -> None:
        self.seconds, self.verb = seconds, verb

    def __enter__(self) -> None:
        self.started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self.verb] += time.perf_counter() - self.started


def report(name: str, seconds: dict[str, float], count: int, peer: dict[str, float] | None = None) -> None:
    rates = {verb: count / seconds[verb] if seconds[verb] else float("inf") for verb in VERBS}
    line = "".join(f"{rates[verb]:14,.0f}" if rates[verb] != float("inf") else " " * 14 for verb in VERBS)
    if peer:
        whole = [sum(side[verb] for verb in VERBS) for side in (seconds, peer)]
        line += f"{whole[0] / count * 1e6:10.1f} µs {whole[0] / whole[1]:8.1f}×"
    print(f"{name:<28}{line}", flush=True)


def in_database(redis_url: str, count: int) -> None:
    """In a process of its own, on the database that DATABASE_URL names."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.db.transaction import atomic, on_commit

    from crawler.crawls.models import Crawl
    from crawler.frontier.mirrored import MirroredFrontier
    from crawler.frontier.redis_queue import RedisQueue
    from crawler.frontier.sql import SqlFrontier
    from crawler.frontier.steps import SqlSteps

    call_command("migrate", verbosity=0)
    crawl = Crawl.objects.create(name="bench").pk
    found, record = finds(crawl, count), SqlFrontier(connection.cursor, connection.vendor)
    peer = measure_peer(found)
    report(connection.vendor, measure(record, crawl, found, atomic), count, peer)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM url_frontier")
        cursor.execute("CREATE TABLE bench_steps (domain text PRIMARY KEY, frontier_step bigint NOT NULL)")
        cursor.execute("INSERT INTO bench_steps VALUES (%s, 0)", [DOMAIN])
    steps = SqlSteps(connection.cursor, connection.vendor, table="bench_steps")
    client = Redis.from_url(redis_url)
    client.flushdb()
    mirrored = MirroredFrontier(record, RedisQueue(client), steps, on_commit)
    mirrored.on_claim([DOMAIN])
    report(f"{connection.vendor}, queue in Redis", measure(mirrored, crawl, found, atomic), count, peer)


def redis_alone(redis_url: str, count: int, peer: dict[str, float]) -> None:
    client, found = Redis.from_url(redis_url), finds(1, count)
    before = client.info("memory")["used_memory"]
    frontier = RedisFrontier(client)
    report("redis alone", measure(frontier, 1, found), count, peer)
    used = (client.info("memory")["used_memory"] - before) / count
    print(f"{'':<28}{used:,.0f} bytes of Redis for a URL that is known (URLs of {len(found[-1].url)} bytes)")
    client.flushdb()


def main() -> None:
    if len(sys.argv) > 2:
        in_database(sys.argv[1], int(sys.argv[2]))
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else URLS
    services = Services()
    services.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            print(
                f"{count:,} URLs, each a second\n{'':<28}{''.join(f'{verb:>14}' for verb in VERBS)}  all of it  to peer"
            )
            found = finds(1, count)
            peer = measure_peer(found)
            report(PEER, peer, count, peer)
            report("memory", measure(MemoryFrontier(), 1, found), count, peer)
            redis_alone(services.redis_url, count, peer)
            for url in (f"sqlite:///{Path(folder) / 'bench.sqlite3'}", services.postgres_url):
                environment = os.environ | {"DATABASE_URL": url, "CRAWLER_HOME": folder}
                command = [sys.executable, "-m", "benchmarks.frontier.bench_frontier", services.redis_url, str(count)]
                subprocess.run(command, env=environment, check=True)
    finally:
        services.stop()


if __name__ == "__main__":
    main()
