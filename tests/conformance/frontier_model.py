"""What a frontier does, as plainly as it can be said: a dictionary and a sort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from crawler.frontier.contract import Entry, Found, Settled, Stats

Key = tuple[int, str]
MAY_PASS = {"depth", "nofollow", "meta_robots"}


@dataclass
class Url:
    number: int
    found: Found
    status: str
    refusal: str | None
    crawl_count: int = 0
    failure_count: int = 0
    due: float | None = None

    def entry(self, number: int) -> Entry:
        one = self.found
        return Entry(
            number, one.crawl_id, one.url_hash, one.url, one.domain, one.depth, one.priority, self.crawl_count,
            self.failure_count, one.redirect_hops,
        )  # fmt: skip


class Model:
    def __init__(self) -> None:
        self.urls: dict[Key, Url] = {}

    def put(self, found: Iterable[Found]) -> set[Key]:
        """The keys that were added or admitted again."""
        given: dict[Key, list[Found]] = {}
        for one in found:
            given.setdefault((one.crawl_id, one.url_hash), []).append(one)
        return {key for key, several in given.items() if self._put_one(key, several)}

    def _put_one(self, key: Key, several: list[Found]) -> bool:
        one = next((each for each in several if each.refusal is None), several[0])
        url = self.urls.get(key)
        if url is None:
            self.urls[key] = Url(len(self.urls), one, "blocked" if one.refusal else "pending", one.refusal)
            return True
        if one.refusal is None and url.status == "blocked" and url.refusal in MAY_PASS:
            url.found, url.status, url.refusal, url.due = one._replace(url=url.found.url), "pending", None, None
            return True
        return False

    def pending(self, domain: str, crawls: Collection[int]) -> list[tuple[Key, Url]]:
        of_them = [
            (key, url)
            for key, url in self.urls.items()
            if url.found.domain == domain and key[0] in crawls and url.status == "pending"
        ]
        return sorted(of_them, key=lambda pair: (pair[1].found.priority, pair[1].number))

    def take(self, domain: str, crawls: Collection[int], limit: int, now: float, skip: Collection[Key]) -> list[Key]:
        due = [key for key, url in self.pending(domain, crawls) if url.due is None or url.due <= now]
        return [key for key in due if key not in skip][:limit]

    def settle(self, key: Key, settled: Settled) -> None:
        url = self.urls[key]
        url.status, url.refusal, url.due = settled.status, settled.refusal, settled.next_crawl_after
        url.failure_count = settled.failure_count
        url.crawl_count += settled.attempts

    def next_due(self, domain: str, crawls: Collection[int], now: float) -> float | None:
        """Never before now: that something was due earlier makes no difference."""
        return min((max(url.due or now, now) for _, url in self.pending(domain, crawls)), default=None)

    def stats(self, crawl_id: int | None, now: float) -> Stats:
        urls = [url for key, url in self.urls.items() if crawl_id in (None, key[0])]
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
