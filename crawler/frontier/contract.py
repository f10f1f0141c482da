"""The frontier: every URL that a crawl met, each once, and which of them is next.

What a backend promises (tests/conformance/test_frontier.py holds all of them to it):

- A URL is one by (crawl, url_hash). `put` is exact: of many puts of one URL, from any number of processes, one adds it.
- A URL that was refused for a reason that may pass (`MAY_PASS`) is admitted by a later `put` without a refusal, on the
  terms of that one (depth, priority, hops, where from). It keeps its number, and with it its place in the order.
- `take` gives the pending URLs of one domain that are due, by priority (1 first), then in the order they were first
  put. It changes nothing: a domain has one worker at a time (its claim), and that worker remembers what it has taken
  (`skip`). So a worker that dies leaves nothing to clean up.
- `settle` says what became of URLs. One that becomes pending again (a retry) comes back when it is due.
- Order, states and counts survive a restart of everything, except in the memory backend.

Callers give priorities from 1 to 10 and a clock that does not go back; times hold to the microsecond.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

DEFAULT_PRIORITY = 5

# Refusals that belong to the link or the moment, not to the URL: found again under better terms, it is admitted.
MAY_PASS = ("depth", "nofollow", "meta_robots")


class Found(NamedTuple):
    """A URL that was met, and whether it is to be fetched (`refusal` None) or why not."""

    crawl_id: int
    url_hash: str
    url: str
    domain: str
    depth: int = 0
    priority: int = DEFAULT_PRIORITY
    discovered_from: str | None = None  # the hash of the page it was found on
    discovered_by: str = "link"  # seed, link, redirect, sitemap, canonical, api
    redirect_hops: int = 0
    refusal: str | None = None
    detail: str | None = None


class Entry(NamedTuple):
    """A URL to fetch."""

    id: int
    crawl_id: int
    url_hash: str
    url: str
    domain: str
    depth: int
    priority: int
    crawl_count: int
    failure_count: int
    redirect_hops: int


class Settled(NamedTuple):
    """What became of a URL: status is completed, failed, blocked (with a refusal) or pending (again, after a time)."""

    id: int
    status: str
    status_code: int | None = None
    error: str | None = None
    refusal: str | None = None
    detail: str | None = None
    failure_count: int = 0
    next_crawl_after: float | None = None  # seconds since 1970
    attempts: int = 1  # 0: refused without a request


class Put(NamedTuple):
    """What came of a `put`. `ids` has every URL that was given, by (crawl, hash), new or not."""

    ids: dict[tuple[int, str], int]
    added: list[Found]  # new or admitted again, refused ones as well
    pending_by_domain: dict[str, int]  # of those, how many are to be fetched
    again: Sequence[Found] = ()  # of those added, the ones that were known, refused, and are admitted now


class Stats(NamedTuple):
    total: int
    by_status: dict[str, int]
    pending_by_priority: dict[int, int]
    pending_by_domain: dict[str, int]
    ready: int
    delayed: int


class Frontier(Protocol):
    def put(self, found: Iterable[Found], now: float) -> Put: ...

    def take(
        self, domain: str, crawls: Collection[int], limit: int, now: float, *, skip: Collection[int] = ()
    ) -> list[Entry]:
        """Up to `limit` due URLs of these crawls, without those in `skip`."""
        ...

    def settle(self, settled: Sequence[Settled], now: float) -> None:
        """Each URL once. Numbers that are not known are passed over."""
        ...

    def next_due(self, domain: str, crawls: Collection[int]) -> float | None:
        """When the next pending URL is due, None when there is none. Some moment in the past means now."""
        ...

    def stats(self, crawl_id: int | None = None, *, now: float) -> Stats:
        """Counts of one crawl or of all. Nothing that is zero is named; `ready` and `delayed` are the pending ones."""
        ...

    def on_claim(self, domains: Iterable[str]) -> None:
        """The caller works on these domains from now on."""
        ...

    def on_release(self, domains: Iterable[str]) -> None:
        """The caller no longer does, or has lost them."""
        ...

    def changed_elsewhere(self, domains: Iterable[str]) -> None:
        """URLs of these domains were changed by other means than `put` and `settle`, in this transaction."""
        ...


class KeepsNoCopy:
    """What a backend without a second copy of its URLs makes of news that only such a copy would need."""

    def on_claim(self, domains: Iterable[str]) -> None:
        return

    def on_release(self, domains: Iterable[str]) -> None:
        return

    def changed_elsewhere(self, domains: Iterable[str]) -> None:
        return


def distinct(found: Iterable[Found]) -> dict[tuple[int, str], Found]:
    """What a `put` was given, each URL once, in order. Of several the first that is not refused counts."""
    by_key: dict[tuple[int, str], Found] = {}
    for one in found:
        key = (one.crawl_id, one.url_hash)
        before = by_key.get(key)
        if before is None or (before.refusal is not None and one.refusal is None):
            by_key[key] = one
    return by_key
