"""Building a queue anew while others go on, and what its steps do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crawler.frontier.contract import Entry
from crawler.frontier.redis_queue import Change, Pending, QueueNotOurs, RedisQueue, open_queue
from tests.conformance.frontier_backends import redis_client
from tests.plugin import REDIS_URL

DOMAIN = "a.example"


@pytest.fixture
def queue() -> RedisQueue:
    return RedisQueue(redis_client())


def entry(number: int, crawl: int = 1) -> Entry:
    return Entry(number, crawl, f"{number:064}", f"https://a.example/{number}", DOMAIN, 0, 5, 0, 0, 0)


def numbers(queue: RedisQueue, mark: str) -> list[int]:
    return [one.id for one in queue.take(DOMAIN, [1], 10, 0.0, (), mark)]


def test_a_step_that_the_rebuild_has_read_already(queue: RedisQueue) -> None:
    """The record is read in pages, and may be a step ahead of the number that was read first."""

    def pending() -> Iterator[Pending]:
        yield [(entry(1), None), (entry(2), None)]

    assert queue.rebuild(DOMAIN, 1, "mine", pending())
    queue.apply([Change(DOMAIN, fresh=[entry(2), entry(3)], step=2)])
    assert numbers(queue, "mine") == [1, 2, 3]
    assert queue.adopt([(DOMAIN, 2, "next")]) == [True]


def test_a_step_while_the_queue_is_being_built(queue: RedisQueue) -> None:
    def pending() -> Iterator[Pending]:
        yield [(entry(1), None)]
        queue.apply([Change(DOMAIN, fresh=[entry(3)], step=2)])
        yield [(entry(2), 50.0)]

    assert queue.rebuild(DOMAIN, 1, "mine", pending())
    assert numbers(queue, "mine") == [1, 3]
    assert queue.adopt([(DOMAIN, 2, "next")]) == [True]


def test_a_rebuild_that_was_interrupted(queue: RedisQueue) -> None:
    def pending() -> Iterator[Pending]:
        yield [(entry(1), None)]
        raise InterruptedError

    with pytest.raises(InterruptedError):
        queue.rebuild(DOMAIN, 1, "mine", pending())
    assert queue.adopt([(DOMAIN, 1, "next")]) == [False]
    with pytest.raises(QueueNotOurs):
        numbers(queue, "mine")


def test_two_rebuilds_at_once(queue: RedisQueue) -> None:
    """The one that began last wins; nothing of the other's gets in."""

    def pending() -> Iterator[Pending]:
        yield [(entry(1), None)]
        queue.rebuild(DOMAIN, 5, "rival", [[(entry(9), None)]])
        yield [(entry(2), None)]

    assert not queue.rebuild(DOMAIN, 1, "mine", pending())
    assert numbers(queue, "rival") == [9]


@pytest.mark.parametrize("order", [[1, 1], [1, 2, 1], [1, 3, 3, 2]])
def test_a_queue_that_meets_a_step_again_is_given_up(queue: RedisQueue, order: list[int]) -> None:
    for step in order:
        queue.apply([Change(DOMAIN, fresh=[entry(step)], step=step)])
    assert queue.adopt([(DOMAIN, max(order), "mine")]) == [False]


def test_a_queue_that_is_opened_by_its_address() -> None:
    redis_client()
    queue = open_queue(REDIS_URL)
    queue.apply([Change(DOMAIN, fresh=[entry(1), entry(2, crawl=2)], gone={}, step=1)])
    assert queue.adopt([(DOMAIN, 1, "mine")]) == [True]
    assert numbers(queue, "mine") == [1]


def test_many_domains_in_one_call(queue: RedisQueue) -> None:
    names = [f"{number}.example" for number in range(700)]
    queue.apply([Change(name, fresh=[entry(number + 1)], step=1) for number, name in enumerate(names)])
    assert all(queue.adopt([(name, 1, "mine") for name in names]))
