"""Hypothesis plays with a frontier and compares it with the model after every move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from crawler.frontier.contract import Found, Frontier, Settled
from crawler.frontier.memory import MemoryFrontier
from tests.conformance.frontier_backends import DOMAINS
from tests.conformance.frontier_model import Key, Model

START = 1_800_000_000.0
URLS = [
    (f"{number:064x}", f"https://{DOMAINS[number % 2]}/page/{number}?q=ä", DOMAINS[number % 2]) for number in range(14)
]
SETTINGS = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# A find: which crawl, which URL, depth, priority, hops, refusal.
FINDS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, len(URLS) - 1),
        st.integers(0, 3),
        st.sampled_from((5, 5, 1, 2, 10)),
        st.integers(0, 2),
        st.sampled_from((None, None, None, "depth", "nofollow", "robots")),
    ),
    max_size=10,
)
REFUSED = (("blocked", "robots"), ("blocked", "depth"), ("blocked", None))
OUTCOMES = st.sampled_from((("completed", None), ("failed", None), *REFUSED, ("pending", None)))
SOME_CRAWLS = st.lists(st.integers(0, 2), unique=True)


class FrontierMachine(RuleBasedStateMachine):
    """The memory frontier, unless a subclass makes another; `crawls` are three numbers that it may use."""

    frontier: Frontier
    crawls: Sequence[int]

    def __init__(self) -> None:
        super().__init__()
        self.model, self.now = Model(), START
        self.ids: dict[Key, int] = {}
        self.frontier = self.make()

    def make(self) -> Frontier:
        """Called for every game."""
        return MemoryFrontier()

    def found(self, finds: Any) -> list[Found]:
        return [self.find(*find) for find in finds]

    def find(self, crawl: int, at: int, depth: int, priority: int, hops: int, refusal: str | None) -> Found:
        url_hash, url, domain = URLS[at]
        source = URLS[0][0] if depth else None
        terms = (depth, priority, source, "link", hops)
        return Found(self.crawls[crawl], url_hash, url, domain, *terms, refusal, "why" if refusal else None)

    @rule(finds=FINDS)
    def put(self, finds: Any) -> None:
        self.put_with(self.frontier, self.found(finds))

    def put_with(self, frontier: Frontier, found: list[Found]) -> None:
        expected = self.model.put(found)
        put = frontier.put(iter(found), self.now)
        assert sorted((one.crawl_id, one.url_hash) for one in put.added) == sorted(expected)
        assert set(put.again) <= set(put.added)
        assert set(put.ids) == {(one.crawl_id, one.url_hash) for one in found}
        assert all(self.ids.setdefault(key, number) == number for key, number in put.ids.items()), "numbers stay"
        assert len(set(self.ids.values())) == len(self.ids), "and are no other URL's"
        to_fetch = [self.model.urls[key].found.domain for key in expected if self.model.urls[key].status == "pending"]
        assert put.pending_by_domain == Counter(to_fetch)

    @rule(
        domain=st.sampled_from(DOMAINS), some=SOME_CRAWLS, limit=st.integers(0, 6), skipped=st.sets(st.integers(0, 40))
    )
    def take(self, domain: str, some: list[int], limit: int, skipped: set[int]) -> None:
        crawls = [self.crawls[at] for at in some]
        skip = {key for at, key in enumerate(self.ids) if at in skipped}
        taken = self.frontier.take(domain, crawls, limit, self.now, skip={self.ids[key] for key in skip})
        expected = self.model.take(domain, crawls, limit, self.now, skip)
        assert taken == [self.model.urls[key].entry(self.ids[key]) for key in expected]

    @precondition(lambda self: self.ids)
    @rule(
        data=st.data(),
        outcomes=st.lists(
            st.tuples(OUTCOMES, st.integers(0, 3), st.sampled_from((None, -1, 0, 1, 2.5, 60)), st.integers(0, 1))
        ),
    )
    def settle(self, data: st.DataObject, outcomes: Any) -> None:
        keys = data.draw(st.permutations(sorted(self.ids)))[: len(outcomes)]
        settled = [self.settled(key, *outcome) for key, outcome in zip(keys, outcomes, strict=False)]
        self.frontier.settle([*settled, Settled(10**12, "completed")], self.now)
        for key, one in zip(keys, settled, strict=True):
            self.model.settle(key, one)

    def settled(
        self, key: Key, outcome: tuple[str, str | None], failures: int, after: float | None, tries: int
    ) -> Settled:
        status, refusal = outcome
        due = None if after is None or status != "pending" else self.now + after
        return Settled(self.ids[key], status, 500, "an error", refusal, "why", failures, due, tries)

    @rule(
        domain=st.sampled_from(DOMAINS),
        outcomes=st.lists(OUTCOMES, min_size=3, max_size=3),
        after=st.sampled_from((None, 1)),
    )
    def work(self, domain: str, outcomes: list[tuple[str, str | None]], after: float | None) -> None:
        """What a worker does all day."""
        entries = self.frontier.take(domain, self.crawls, len(outcomes), self.now)
        keys = [(entry.crawl_id, entry.url_hash) for entry in entries]
        assert keys == self.model.take(domain, self.crawls, len(outcomes), self.now, ())
        settled = [self.settled(key, outcome, 1, after, 1) for key, outcome in zip(keys, outcomes, strict=False)]
        self.frontier.settle(settled, self.now)
        for key, one in zip(keys, settled, strict=True):
            self.model.settle(key, one)

    @rule(seconds=st.sampled_from((0.5, 1, 3, 70)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(domain=st.sampled_from(DOMAINS), some=SOME_CRAWLS)
    def ask_when(self, domain: str, some: list[int]) -> None:
        crawls = [self.crawls[at] for at in some]
        due = self.frontier.next_due(domain, crawls)
        assert (None if due is None else max(due, self.now)) == self.model.next_due(domain, crawls, self.now)

    @rule(crawl=st.sampled_from((None, 0, 1, 2)))
    def count(self, crawl: int | None) -> None:
        crawl_id = None if crawl is None else self.crawls[crawl]
        assert self.frontier.stats(crawl_id, now=self.now) == self.model.stats(crawl_id, self.now)

    def teardown(self) -> None:
        for domain in DOMAINS:
            self.take(domain, [0, 1, 2], 10**6, set())
        self.count(None)
