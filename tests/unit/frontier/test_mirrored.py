"""The queue in Redis beside the record in the database, while everything goes wrong between the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import transaction
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier.contract import Found, Frontier, Settled
from crawler.frontier.mirrored import AWAY_SECONDS, MirroredFrontier
from crawler.frontier.redis_queue import RedisQueue
from tests.conformance.frontier_backends import DOMAINS, crawls, redis_client, sql_frontier, steps
from tests.conformance.frontier_machine import FINDS, SETTINGS, START, FrontierMachine

pytestmark = pytest.mark.django_db


class Redises(RedisQueue):
    """A queue whose Redis can be cut off; it counts what is asked of it."""

    def __init__(self, client: Redis) -> None:
        super().__init__(client)
        self.is_cut_off = False
        self.asked: list[str] = []
        inner = self._scripts.run

        def run(name: str, given: Any) -> Any:
            self.asked.append(name)
            if self.is_cut_off:
                raise RedisConnectionError("cut off")
            return inner(name, given)

        self._scripts.run = run  # type: ignore[method-assign]  # run_each begins with it


class World:
    """One record, one Redis, workers that come and go. `on_commit` says what becomes of the second half of a commit."""

    def __init__(self) -> None:
        self.client = redis_client()
        self.record, self.steps = sql_frontier(), steps()
        self.queue = Redises(self.client)
        self.seconds = 0.0
        self.late: list[Callable[[], None]] = []

    def worker(self, on_commit: Callable[[Callable[[], None]], object] = lambda run: run()) -> MirroredFrontier:
        return MirroredFrontier(self.record, self.queue, self.steps, on_commit, clock=lambda: self.seconds)

    def claimer(self) -> MirroredFrontier:
        worker = self.worker()
        worker.on_claim(DOMAINS)
        return worker

    def photograph(self) -> dict[bytes, bytes]:
        return {key: self.client.dump(key) for key in self.client.keys("*")}  # type: ignore[misc]

    def set_back(self, photograph: dict[bytes, bytes]) -> None:
        self.client.flushdb()
        for key, value in photograph.items():
            self.client.restore(key, 0, value)


@pytest.fixture
def world() -> Iterator[World]:
    yield World()


@pytest.fixture
def crawl() -> int:
    return crawls(1)[0]


def pages(crawl: int, text: str, refusal: str | None = None) -> list[Found]:
    return [Found(crawl, name * 64, f"https://a.example/{name}", "a.example", refusal=refusal) for name in text]


def names(frontier: Frontier, crawl: int) -> str:
    return "".join(entry.url[-1] for entry in frontier.take("a.example", [crawl], 100, START))


def ids(frontier: Frontier, crawl: int) -> dict[str, int]:
    return {entry.url[-1]: entry.id for entry in frontier.take("a.example", [crawl], 100, START)}


def test_redis_answers_once_a_domain_is_claimed(world: World, crawl: int) -> None:
    worker = world.claimer()
    worker.put(pages(crawl, "abc"), START)
    assert names(worker, crawl) == "abc"
    world.queue.asked.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.record, "take", None)
        patch.setattr(world.record, "pending_rows", None)
        worker.settle([Settled(ids(worker, crawl)["b"], "completed")], START)
        assert names(worker, crawl) == "ac"
    assert world.queue.asked == ["take", "apply", "take"]


def test_killed_between_the_commit_and_redis(world: World, crawl: int) -> None:
    worker = world.claimer()
    worker.put(pages(crawl, "abc"), START)
    numbers = ids(worker, crawl)
    killed = world.worker(on_commit=lambda run: None)
    killed.settle([Settled(numbers["a"], "completed")], START)
    killed.put(pages(crawl, "d"), START)
    assert names(world.claimer(), crawl) == "bcd"


def test_killed_before_the_commit(world: World, crawl: int, django_capture_on_commit_callbacks: Any) -> None:
    """What was rolled back is never told to Redis, and its step goes back with it."""
    world.claimer().put(pages(crawl, "abc"), START)
    worker = world.worker(on_commit=transaction.on_commit)
    with django_capture_on_commit_callbacks(execute=True), suppress(InterruptedError), transaction.atomic():
        worker.put(pages(crawl, "d"), START)
        raise InterruptedError
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        worker.put(pages(crawl, "e"), START)
    world.queue.asked.clear()
    assert names(world.claimer(), crawl) == "abce"
    assert "begin" not in world.queue.asked


def test_emptied_under_a_working_worker(world: World, crawl: int) -> None:
    worker = world.claimer()
    worker.put(pages(crawl, "abc"), START)
    world.client.flushdb()
    assert names(worker, crawl) == "abc"
    world.client.flushdb()
    worker.settle([Settled(ids(world.claimer(), crawl)["a"], "completed")], START)
    assert names(worker, crawl) == "bc"


@pytest.mark.parametrize("more", ["", "d"])
def test_set_back_to_an_older_state(world: World, crawl: int, more: str) -> None:
    """As by a restart of Redis from a file that is some minutes old."""
    worker = world.claimer()
    worker.put(pages(crawl, "abc"), START)
    numbers = ids(worker, crawl)
    photograph = world.photograph()
    worker.settle([Settled(numbers["a"], "completed")], START)
    world.set_back(photograph)
    worker.put(pages(crawl, more), START)
    assert names(worker, crawl) == "bc" + more, "what was fetched is not fetched again"


@pytest.mark.parametrize("kinds", [["ready"], ["urls"], ["ready", "urls"], ["state"]])
def test_keys_evicted_by_redis(world: World, crawl: int, kinds: list[str]) -> None:
    worker = world.claimer()
    worker.put(pages(crawl, "abc"), START)
    assert names(worker, crawl) == "abc"
    for kind in kinds:
        assert world.client.delete(f"frontier:{kind}:a.example", f"frontier:{kind}:{crawl}:a.example") == 1
    assert names(world.claimer(), crawl) == "abc"


def test_redis_away_and_back(world: World, crawl: int) -> None:
    worker = world.claimer()
    worker.put(pages(crawl, "abc"), START)
    numbers = ids(worker, crawl)
    world.queue.is_cut_off = True
    assert names(worker, crawl) == "abc", "the record answers"
    asked = len(world.queue.asked)
    worker.settle([Settled(numbers["a"], "completed")], START)
    assert names(worker, crawl) == "bc"
    assert worker.next_due("a.example", [crawl]) is not None
    assert len(world.queue.asked) == asked, "and Redis is left alone for a while"
    world.queue.is_cut_off = False
    world.seconds += AWAY_SECONDS
    assert names(worker, crawl) == "bc"
    assert len(world.queue.asked) > asked


def test_others_put_while_a_worker_works(world: World, crawl: int) -> None:
    worker, other = world.claimer(), world.worker()
    worker.put(pages(crawl, "a"), START)
    other.put(pages(crawl, "bc"), START)
    assert names(worker, crawl) == "abc"


def test_steps_that_arrive_late_or_out_of_order(world: World, crawl: int) -> None:
    worker = world.claimer()
    assert names(worker, crawl) == ""
    late: list[Callable[[], None]] = []
    other = world.worker(on_commit=late.append)
    for name in "abc":
        other.put(pages(crawl, name), START)
    late.pop()()
    assert names(worker, crawl) == "c"
    for arrive in late:
        arrive()
    assert names(worker, crawl) == "abc"
    world.queue.asked.clear()
    assert names(world.claimer(), crawl) == "abc"
    assert "begin" not in world.queue.asked, "it missed nothing"


def test_a_step_that_arrives_after_the_queue_was_built_with_it(world: World, crawl: int) -> None:
    late: list[Callable[[], None]] = []
    world.worker(on_commit=late.append).put(pages(crawl, "ab"), START)
    worker = world.claimer()
    worker.settle([Settled(ids(worker, crawl)["a"], "completed")], START)
    late.pop()()
    assert names(worker, crawl) == "b"


def test_refused_and_admitted_again_in_the_wrong_order(world: World, crawl: int) -> None:
    """The admission arrives before the refusal that it follows, which would take the URL away for good."""
    worker = world.claimer()
    worker.put(pages(crawl, "ab"), START)
    late: list[Callable[[], None]] = []
    slow = world.worker(on_commit=late.append)
    slow.settle([Settled(ids(worker, crawl)["a"], "blocked", refusal="depth")], START)
    world.worker().put(pages(crawl, "a"), START)
    late.pop()()
    assert names(worker, crawl) == "ab"


def test_settled_before_the_step_that_brings_it_arrives(world: World, crawl: int) -> None:
    """Taken from the record while Redis was away; the late step would queue what is done."""
    worker = world.claimer()
    assert names(worker, crawl) == ""
    late: list[Callable[[], None]] = []
    world.worker(on_commit=late.append).put(pages(crawl, "a"), START)
    world.queue.is_cut_off = True
    taken = ids(worker, crawl)
    world.queue.is_cut_off = False
    world.seconds += AWAY_SECONDS
    worker.settle([Settled(taken["a"], "completed")], START)
    late.pop()()
    assert names(worker, crawl) == names(world.claimer(), crawl) == ""


def test_a_queue_that_missed_too_much_is_given_up(world: World, crawl: int) -> None:
    world.worker(on_commit=lambda run: None).put(pages(crawl, "a"), START)
    world.steps.advance(["a.example"])
    world.queue.rebuild("a.example", 1, "someone", [])
    with_gap = world.worker()
    for number in range(1_100):
        found = Found(crawl, f"{number:064}", f"https://a.example/{number % 10}", "a.example")
        with_gap.put([found], START)
    assert not world.client.keys("*"), "nothing is kept that will have to be built anew"
    assert len(names(world.claimer(), crawl)) == 100


def test_the_record_written_by_other_means(world: World, crawl: int) -> None:
    worker = world.claimer()
    worker.put(pages(crawl, "ab"), START)
    world.record.settle([Settled(ids(worker, crawl)["a"], "completed")], START)
    world.worker().changed_elsewhere(["a.example"])
    assert names(worker, crawl) == "b"


def test_another_database_with_the_old_redis(world: World, crawl: int) -> None:
    """Made anew, or set back to an older state: the numbers of its steps come a second time."""
    for name in "abc":
        world.claimer().put(pages(crawl, name), START)
    assert names(world.claimer(), crawl) == "abc"
    sql_frontier()
    steps()
    for name in "xyz":
        world.worker().put(pages(crawl, name), START)
    assert names(world.claimer(), crawl) == "xyz"


def test_a_domain_without_a_row_is_answered_by_the_record(world: World, crawl: int) -> None:
    worker = world.worker()
    worker.put([Found(crawl, "f" * 64, "https://unknown.example/", "unknown.example")], START)
    assert len(worker.take("unknown.example", [crawl], 9, START)) == 1
    assert worker.next_due("unknown.example", [crawl]) is not None


def test_only_what_waits_is_kept(world: World, crawl: int) -> None:
    worker = world.claimer()
    worker.put(pages(crawl, "abc") + pages(crawl, "xyz", "robots"), START)
    worker.settle([Settled(number, "completed") for number in ids(worker, crawl).values()], START)
    assert sorted(world.client.keys("*")) == [b"frontier:state:a.example"]


def test_a_rival_takes_over(world: World, crawl: int) -> None:
    """Each trusts a queue only as it left it, so two that both think they have the claim still see the truth."""
    first, second = world.claimer(), world.claimer()
    first.put(pages(crawl, "abc"), START)
    numbers = ids(first, crawl)
    second.settle([Settled(numbers["a"], "completed")], START)
    assert names(first, crawl) == "bc"
    first.settle([Settled(numbers["b"], "completed")], START)
    assert names(second, crawl) == "c"


class TroubledMachine(FrontierMachine):
    """The conformance suite's game, with a Redis and workers that fail at any moment."""

    frontier: MirroredFrontier

    def make(self) -> Frontier:
        self.world = World()
        self.photographs: list[dict[bytes, bytes]] = []
        return self.world.claimer()

    @rule()
    def redis_is_emptied(self) -> None:
        self.world.client.flushdb()

    @rule()
    def redis_is_saved(self) -> None:
        self.photographs.append(self.world.photograph())

    @precondition(lambda self: self.photographs)
    @rule(data=st.data())
    def redis_is_set_back(self, data: st.DataObject) -> None:
        self.world.set_back(data.draw(st.sampled_from(self.photographs)))

    @rule()
    def redis_goes_away(self) -> None:
        self.world.queue.is_cut_off = True

    @rule(waits=st.booleans())
    def redis_comes_back(self, waits: bool) -> None:
        self.world.queue.is_cut_off = False
        self.world.seconds += AWAY_SECONDS * waits

    @rule()
    def claimed_by_another(self) -> None:
        self.frontier = self.world.claimer()

    @rule()
    def claimed_again(self) -> None:
        self.frontier.on_release(DOMAINS)
        self.frontier.on_claim(DOMAINS)

    @rule(finds=FINDS)
    def others_put(self, finds: Any) -> None:
        """A put of others reaches us through Redis, or by the next claim."""
        self.put_with(self.world.worker(), self.found(finds))
        self.claimed_again()

    @rule(finds=FINDS)
    def others_put_slowly(self, finds: Any) -> None:
        self.put_with(self.world.worker(on_commit=self.world.late.append), self.found(finds))
        self.claimed_again()

    @rule(finds=FINDS)
    def killed_after_a_put(self, finds: Any) -> None:
        self.put_with(self.world.worker(on_commit=lambda run: None), self.found(finds))
        self.frontier = self.world.claimer()

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def killed_after_a_settle(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.ids)))
        settled = Settled(self.ids[key], "completed")
        self.world.worker(on_commit=lambda run: None).settle([settled], self.now)
        self.model.settle(key, settled)
        self.frontier = self.world.claimer()

    @precondition(lambda self: self.world.late)
    @rule(data=st.data())
    def a_step_arrives_late(self, data: st.DataObject) -> None:
        late = self.world.late
        late.pop(data.draw(st.integers(0, len(late) - 1)))()


def test_behaves_like_the_model_whatever_happens() -> None:
    numbers = crawls(3)

    class Machine(TroubledMachine):
        crawls = numbers

    run_state_machine_as_test(Machine, settings=settings(SETTINGS, max_examples=60, stateful_step_count=50))
