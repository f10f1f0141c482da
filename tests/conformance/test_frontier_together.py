"""Many put the same URLs at once, in any order: each is added by exactly one of them, nobody waits for ever.

On SQLite a put has the database for itself, so there it is Redis alone that can be used together.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Barrier

import psycopg
import pytest
from django.db import connection

from crawler.frontier.contract import Found, Frontier, Put, Settled
from crawler.frontier.mirrored import MirroredFrontier
from crawler.frontier.redis import RedisFrontier
from crawler.frontier.redis_queue import RedisQueue
from crawler.frontier.sql import SqlFrontier
from crawler.frontier.steps import SqlSteps
from tests.conformance.frontier_backends import DOMAINS, redis_client
from tests.conformance.frontier_machine import START
from tests.plugin import ON_POSTGRES

pytestmark = pytest.mark.django_db

THREADS, PUTS, BATCH, URLS = 4, 40, 30, 250
CRAWL = 7
SCHEMA = "together"


class Seat:
    """One of those who work together: a frontier and how to do something with it in one transaction."""

    def __init__(self, frontier: Frontier, postgres: psycopg.Connection | None = None) -> None:
        self.frontier, self.postgres = frontier, postgres
        self.after: list[Callable[[], None]] = []

    @contextmanager
    def transaction(self) -> Iterator[Frontier]:
        with self.postgres.transaction() if self.postgres else ExitStack():
            yield self.frontier
        while self.after:
            self.after.pop(0)()


def connect(options: str = f"-c search_path={SCHEMA} -c timezone=UTC") -> psycopg.Connection:
    place = connection.settings_dict
    return psycopg.connect(
        dbname=place["NAME"],
        host=place["HOST"],
        port=place["PORT"],
        user=place["USER"],
        autocommit=True,
        options=options,
    )


@contextmanager
def tables() -> Iterator[None]:
    """The frontier's table where commits do not reach other tests, and without its foreign key."""
    with connect("") as admin:
        admin.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        admin.execute(f"CREATE SCHEMA {SCHEMA}")
        admin.execute(f"CREATE TABLE {SCHEMA}.url_frontier (LIKE public.url_frontier INCLUDING ALL)")
        admin.execute(
            f"CREATE TABLE {SCHEMA}.domains (domain text PRIMARY KEY, frontier_step bigint NOT NULL DEFAULT 0)"
        )
        admin.cursor().executemany(f"INSERT INTO {SCHEMA}.domains VALUES (%s)", [[name] for name in DOMAINS])
        try:
            yield
        finally:
            admin.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def redis_seat(stack: ExitStack) -> Seat:
    return Seat(RedisFrontier(redis_client()))


def sql_seat(stack: ExitStack) -> Seat:
    postgres = stack.enter_context(connect())
    return Seat(SqlFrontier(postgres.cursor, "postgresql"), postgres)


def mirrored_seat(stack: ExitStack) -> Seat:
    seat = sql_seat(stack)
    assert isinstance(seat.frontier, SqlFrontier)
    steps = SqlSteps(seat.frontier.cursor, "postgresql")
    seat.frontier = MirroredFrontier(
        seat.frontier, RedisQueue(redis_client()), steps, lambda run: seat.after.append(run)
    )
    return seat


SEATS = {"redis": redis_seat} | ({"sql": sql_seat, "mirrored": mirrored_seat} if ON_POSTGRES else {})


@pytest.fixture(params=SEATS)
def seats(request: pytest.FixtureRequest, db: None) -> Iterator[list[Seat]]:
    with ExitStack() as stack:
        if ON_POSTGRES:
            stack.enter_context(tables())
        yield [SEATS[request.param](stack) for _ in range(THREADS)]


def finds(seed: int) -> Iterator[list[Found]]:
    """Batches of pages that others find as well, some of them beyond the depth that is allowed."""
    chance = random.Random(seed)
    for _ in range(PUTS):
        yield [
            Found(
                CRAWL, f"{number:064}", f"https://example.com/{number}", DOMAINS[number % 2],
                refusal="depth" if chance.random() < 0.4 else None,
            )
            for number in chance.sample(range(URLS), BATCH)
        ]  # fmt: skip


def together(seats: list[Seat], work: Callable[[Seat, int], list[Put]]) -> list[Put]:
    start = Barrier(len(seats))

    def run(number: int) -> list[Put]:
        start.wait(30)
        return work(seats[number], number)

    with ThreadPoolExecutor(len(seats)) as pool:
        return [put for puts in pool.map(run, range(len(seats)), timeout=60) for put in puts]


def put_all(seat: Seat, seed: int) -> list[Put]:
    puts = []
    for found in finds(seed):
        with seat.transaction() as frontier:
            puts.append(frontier.put(found, START))
    return puts


def hashes(found: Iterator[Found]) -> Counter[str]:
    return Counter(one.url_hash for one in found)


def test_each_url_is_added_once(seats: list[Seat]) -> None:
    puts = together(seats, put_all)
    met = [one for seed in range(THREADS) for found in finds(seed) for one in found]
    again = hashes(one for put in puts for one in put.again)
    added = hashes(one for put in puts for one in put.added)
    assert set((added - again).values()) == {1}
    assert set(added) == {one.url_hash for one in met}
    assert len({pair for put in puts for pair in put.ids.items()}) == len(added), "everybody was told the same numbers"
    wanted = {one.url_hash for one in met if one.refusal is None}
    with seats[0].transaction() as frontier:
        taken = [entry.url_hash for name in DOMAINS for entry in frontier.take(name, [CRAWL], 10**6, START)]
        assert sorted(taken) == sorted(wanted), "no admission is lost"
        assert frontier.stats(now=START).by_status.get("blocked", 0) == len(added) - len(wanted)


def work_on_domain(seat: Seat, number: int) -> list[Put]:
    """The first two have a domain each and settle what they take; everybody finds more."""
    claimed = DOMAINS[number] if number < len(DOMAINS) else None
    puts = []
    for found in finds(number):
        with seat.transaction() as frontier:
            puts.append(frontier.put(found, START))
        entries = seat.frontier.take(claimed, [CRAWL], 5, START) if claimed else []
        with seat.transaction() as frontier:
            frontier.settle([Settled(entry.id, "completed") for entry in entries], START)
    return puts


def test_what_is_settled_does_not_come_back(seats: list[Seat]) -> None:
    together(seats, work_on_domain)
    frontier = seats[0].frontier
    frontier.on_claim(DOMAINS)
    left = [entry for name in DOMAINS for entry in frontier.take(name, [CRAWL], 10**6, START)]
    wanted = {one.url_hash for seed in range(THREADS) for found in finds(seed) for one in found if one.refusal is None}
    counts = frontier.stats(now=START).by_status
    assert counts.get("pending", 0) == len(left)
    assert counts["completed"] + len(left) == len(wanted)
    assert all(entry.crawl_count == 0 for entry in left), "nothing that was done"
