"""The frontier in this process's memory, for tests and for crawls that nobody wants to go on with later."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush

from crawler.frontier.contract import MAY_PASS, Entry, Found, KeepsNoCopy, Put, Settled, Stats, distinct


class _Url:
    """A URL as it stands."""

    __slots__ = ("crawl_count", "due", "failure_count", "found", "id", "status")

    def __init__(self, number: int, found: Found) -> None:
        self.id, self.found = number, found
        self.status = "blocked" if found.refusal else "pending"
        self.crawl_count = self.failure_count = 0
        self.due: float | None = None

    def entry(self) -> Entry:
        found = self.found
        return Entry(
            self.id, found.crawl_id, found.url_hash, found.url, found.domain, found.depth, found.priority,
            self.crawl_count, self.failure_count, found.redirect_hops,
        )  # fmt: skip


class _Line:
    """The pending URLs of a crawl on one domain. The heaps may name URLs that have left since: a look tells."""

    __slots__ = ("later", "ready")

    def __init__(self) -> None:
        self.ready: list[tuple[int, int]] = []  # priority, number
        self.later: list[tuple[float, int]] = []  # when it is due, number

    def add(self, url: _Url) -> None:
        if url.due is None:
            heappush(self.ready, (url.found.priority, url.id))
        else:
            heappush(self.later, (url.due, url.id))

    def first(self, count: int, urls: dict[int, _Url], skip: Collection[int], now: float) -> list[tuple[int, int]]:
        """Those of the ready ones that come first."""
        self._move_due(urls, now)
        looked_at: list[tuple[int, int]] = []
        chosen: list[tuple[int, int]] = []
        while self.ready and len(chosen) < count:
            at = heappop(self.ready)
            if _stands(at, urls) and (not looked_at or looked_at[-1] != at):
                looked_at.append(at)
                if at[1] not in skip:
                    chosen.append(at)
        for at in looked_at:
            heappush(self.ready, at)
        return chosen

    def _move_due(self, urls: dict[int, _Url], now: float) -> None:
        while self.later and self.later[0][0] <= now:
            at = heappop(self.later)
            if _waits(at, urls):
                url = urls[at[1]]
                url.due = None
                self.add(url)

    def next_due(self, urls: dict[int, _Url]) -> float | None:
        while self.ready and not _stands(self.ready[0], urls):
            heappop(self.ready)
        if self.ready:
            return 0.0
        while self.later and not _waits(self.later[0], urls):
            heappop(self.later)
        return self.later[0][0] if self.later else None


def _stands(at: tuple[int, int], urls: dict[int, _Url]) -> bool:
    """Is this place among the ready ones still that of its URL?"""
    url = urls[at[1]]
    return url.status == "pending" and url.due is None and url.found.priority == at[0]


def _waits(at: tuple[float, int], urls: dict[int, _Url]) -> bool:
    url = urls[at[1]]
    return url.status == "pending" and url.due == at[0]


class MemoryFrontier(KeepsNoCopy):
    def __init__(self) -> None:
        self._ids: dict[tuple[int, str], int] = {}
        self._urls: dict[int, _Url] = {}
        self._lines: dict[tuple[int, str], _Line] = defaultdict(_Line)

    def put(self, found: Iterable[Found], now: float) -> Put:
        wanted = distinct(found)
        fresh, again = [], []
        for key, one in wanted.items():
            if key not in self._ids:
                fresh.append(one)
                self._add(key, one)
            elif self._admit(self._urls[self._ids[key]], one):
                again.append(one)
        added = fresh + again
        ids = {key: self._ids[key] for key in wanted}
        return Put(ids, added, Counter(one.domain for one in added if one.refusal is None), again)

    def _add(self, key: tuple[int, str], one: Found) -> None:
        number = self._ids[key] = len(self._ids) + 1
        url = self._urls[number] = _Url(number, one)
        if one.refusal is None:
            self._lines[one.crawl_id, one.domain].add(url)

    def _admit(self, url: _Url, one: Found) -> bool:
        if one.refusal is not None or url.status != "blocked" or url.found.refusal not in MAY_PASS:
            return False
        url.found, url.status, url.due = one._replace(url=url.found.url), "pending", None
        self._lines[one.crawl_id, one.domain].add(url)
        return True

    def take(
        self, domain: str, crawls: Collection[int], limit: int, now: float, *, skip: Collection[int] = ()
    ) -> list[Entry]:
        skipped = skip if isinstance(skip, set | frozenset | dict) else set(skip)
        lines = [self._lines[crawl, domain] for crawl in crawls if (crawl, domain) in self._lines]
        first = [at for line in lines for at in line.first(limit, self._urls, skipped, now)]
        return [self._urls[number].entry() for _, number in sorted(first)[:limit]]

    def settle(self, settled: Sequence[Settled], now: float) -> None:
        for one in settled:
            if (url := self._urls.get(one.id)) is None:
                continue
            url.status, url.due, url.failure_count = one.status, one.next_crawl_after, one.failure_count
            url.found = url.found._replace(refusal=one.refusal)
            url.crawl_count += one.attempts
            if one.status == "pending":
                self._lines[url.found.crawl_id, url.found.domain].add(url)

    def next_due(self, domain: str, crawls: Collection[int]) -> float | None:
        lines = [self._lines[crawl, domain] for crawl in crawls if (crawl, domain) in self._lines]
        return min((due for line in lines if (due := line.next_due(self._urls)) is not None), default=None)

    def stats(self, crawl_id: int | None = None, *, now: float) -> Stats:
        urls = [url for url in self._urls.values() if crawl_id is None or url.found.crawl_id == crawl_id]
        pending = [url for url in urls if url.status == "pending"]
        delayed = sum(url.due is not None and url.due > now for url in pending)
        return Stats(
            len(urls),
            Counter(url.status for url in urls),
            Counter(url.found.priority for url in pending),
            Counter(url.found.domain for url in pending),
            len(pending) - delayed,
            delayed,
        )
