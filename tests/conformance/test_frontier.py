"""One suite for every backend of the frontier (crawler/frontier/contract.py)."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from crawler.frontier.contract import Found, Frontier, Settled
from tests.conformance.frontier_backends import BACKENDS, crawls
from tests.conformance.frontier_machine import SETTINGS, START, FrontierMachine

pytestmark = pytest.mark.django_db


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def frontier(backend: str) -> Frontier:
    return BACKENDS[backend]()


@pytest.fixture
def crawl() -> int:
    return crawls(1)[0]


def page(crawl: int, name: str, *, refusal: str | None = None, priority: int = 5, depth: int = 0) -> Found:
    url = f"https://a.example/{name}"
    return Found(crawl, name.rjust(64, "0"), url, "a.example", depth, priority, refusal=refusal)


def names(frontier: Frontier, crawl: int, now: float = START, limit: int = 100) -> list[str]:
    return [entry.url.rpartition("/")[2] for entry in frontier.take("a.example", [crawl], limit, now)]


def test_behaves_like_its_model(backend: str) -> None:
    numbers = crawls(3)

    class Machine(FrontierMachine):
        crawls = numbers

        def make(self) -> Frontier:
            return BACKENDS[backend]()

    run_state_machine_as_test(Machine, settings=SETTINGS)


def test_urls_come_by_priority_then_in_the_order_they_were_put(frontier: Frontier, crawl: int) -> None:
    frontier.put(
        [page(crawl, "z"), page(crawl, "b", priority=9), page(crawl, "a"), page(crawl, "c", priority=1)], START
    )
    frontier.put([page(crawl, "0"), page(crawl, "z")], START)
    assert names(frontier, crawl) == ["c", "z", "a", "0", "b"]


def test_taking_changes_nothing(frontier: Frontier, crawl: int) -> None:
    frontier.put([page(crawl, name) for name in "abc"], START)
    assert names(frontier, crawl, limit=2) == names(frontier, crawl, limit=2) == ["a", "b"]


def test_a_worker_passes_over_what_it_has_taken(frontier: Frontier, crawl: int) -> None:
    frontier.put([page(crawl, name) for name in "abcde"], START)
    taken = {entry.id for entry in frontier.take("a.example", [crawl], 2, START)}
    rest = frontier.take("a.example", [crawl], 2, START, skip=taken)
    assert [entry.url[-1] for entry in rest] == ["c", "d"]


def test_a_refusal_that_may_pass_passes(frontier: Frontier, crawl: int) -> None:
    frontier.put([page(crawl, "far", refusal="depth", depth=9), page(crawl, "private", refusal="robots")], START)
    assert names(frontier, crawl) == []
    put = frontier.put([page(crawl, "far", depth=2), page(crawl, "private")], START)
    assert [one.depth for one in put.added] == [2]
    assert put.pending_by_domain == {"a.example": 1}
    assert [entry.depth for entry in frontier.take("a.example", [crawl], 9, START)] == [2]


def test_of_several_finds_in_one_put_the_admitted_one_counts(frontier: Frontier, crawl: int) -> None:
    found = [page(crawl, "x", refusal="robots"), page(crawl, "x", depth=1), page(crawl, "x", refusal="depth", depth=2)]
    assert frontier.put(found, START).added == [found[1]]
    assert names(frontier, crawl) == ["x"]


def test_one_url_in_two_crawls_is_two(frontier: Frontier, crawl: int) -> None:
    (other,) = crawls(1)
    put = frontier.put([page(crawl, "x"), page(other, "x")], START)
    assert len(set(put.ids.values())) == 2
    assert set(frontier.put([page(crawl, "x")], START).ids) == {(crawl, page(crawl, "x").url_hash)}
    frontier.settle([Settled(put.ids[crawl, page(crawl, "x").url_hash], "completed")], START)
    assert names(frontier, crawl) == []
    assert names(frontier, other) == ["x"]


def test_a_retry_comes_back_when_it_is_due_in_its_old_place(frontier: Frontier, crawl: int) -> None:
    ids = frontier.put([page(crawl, "a"), page(crawl, "b")], START).ids
    retry = Settled(ids[crawl, page(crawl, "a").url_hash], "pending", failure_count=1, next_crawl_after=START + 10)
    frontier.settle([retry], START)
    assert names(frontier, crawl, START + 9) == ["b"]
    frontier.settle([Settled(ids[crawl, page(crawl, "b").url_hash], "completed")], START)
    assert frontier.next_due("a.example", [crawl]) == START + 10
    frontier.put([page(crawl, "c")], START)
    assert names(frontier, crawl, START + 10) == ["a", "c"]
    entry = frontier.take("a.example", [crawl], 1, START + 10)[0]
    assert (entry.crawl_count, entry.failure_count) == (1, 1)


def test_thousands_in_one_batch(frontier: Frontier, crawl: int) -> None:
    """More than one call of a script, more than one page of a rebuild."""
    found = [page(crawl, f"{number:05}") for number in range(5_000)]
    assert len(frontier.put(found, START).added) == 5_000
    assert frontier.put(found, START).added == []
    entries = frontier.take("a.example", [crawl], 10_000, START)
    assert [entry.url for entry in entries] == [one.url for one in found]
    frontier.settle([Settled(entry.id, "completed") for entry in entries[:4_500]], START)
    assert frontier.stats(crawl, now=START).by_status == {"completed": 4_500, "pending": 500}
    assert names(frontier, crawl, limit=1) == ["04500"]
