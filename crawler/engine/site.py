"""A domain in work: its claim, its politeness clock, its robots rules, the URLs taken and under way."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any

from crawler.engine.contract import Claimed, DomainNews, Ending
from crawler.engine.near import NearPages
from crawler.engine.robots import RobotsRules
from crawler.fetch.outcome import Failure, Response
from crawler.fetch.politeness import HostClock
from crawler.frontier.contract import Entry
from crawler.web.headers import retry_after


class Site:
    """Mutable state of one claimed domain; everything that must outlive the process is in its batches."""

    __slots__ = (
        "block_reason", "blocked", "claimed", "clock", "consecutive_errors", "crawls", "due_at", "fetching_robots",
        "follow_ups", "has_more", "in_flight", "near", "not_before", "pages", "queue", "robots_by_origin", "stopped",
        "taken",
    )  # fmt: skip

    def __init__(self, claimed: Claimed, clock: HostClock) -> None:
        self.claimed = claimed
        self.clock = clock
        self.queue: deque[Entry] = deque()
        self.crawls: set[int] = set()  # whose URLs were taken under this claim
        self.follow_ups: deque[Any] = deque()  # requests of visits under way that wait for the clock
        self.taken: set[int] = set()  # numbers of URLs that were taken and not committed yet
        self.robots_by_origin = {file.origin: RobotsRules(file) for file in claimed.robots}
        self.fetching_robots: set[str] = set()
        self.in_flight = 0
        self.pages = 0  # under this claim
        self.has_more = True  # the frontier may have URLs beyond the queue
        self.near: NearPages | None = None
        self.consecutive_errors = claimed.consecutive_errors
        self.blocked: str | None = None
        self.block_reason: str | None = None
        self.not_before: float | None = None
        self.stopped = False  # nothing more is started
        self.due_at: float | None = None  # when the rota looks at it next

    @property
    def name(self) -> str:
        return self.claimed.name

    @property
    def is_busy(self) -> bool:
        return bool(self.in_flight or self.follow_ups)

    def stop(self, *, not_before: float | None = None) -> None:
        """Nothing more of it for now; what was taken stays pending."""
        self.stopped = True
        self.not_before = not_before
        self.taken.difference_update(entry.id for entry in self.queue)
        self.queue.clear()

    def block(self, code: str, reason: str) -> None:
        self.blocked, self.block_reason = code, reason
        self.stop()

    def note_answer(self, answer: Response | Failure, now: float) -> None:
        """When it may be asked again depends on how it answered."""
        if isinstance(answer, Failure):
            self.clock.ended(now, answer.seconds, failed=answer.is_hosts_fault)
            return
        wanted = answer.headers.get("retry-after")
        wait = retry_after(wanted, datetime.fromtimestamp(now, UTC)) if wanted else None
        self.clock.ended(now, answer.seconds, answer.status, wait)

    def news(self) -> DomainNews:
        saved = self.clock.saved()
        delay_ms = round(self.clock.crawl_delay_seconds * 1000) or None
        return DomainNews(self.claimed, saved.next_allowed_at, saved.backoff_level, self.consecutive_errors, delay_ms)

    def ending(self, traps_by_crawl: dict[int, dict[str, Any]]) -> Ending:
        return Ending(self.claimed, self.blocked, self.block_reason, self.not_before, traps_by_crawl)


class Rota:
    """Which site is looked at next, by time. A site is on it once, at the earliest time that was asked for."""

    __slots__ = ("_heap", "_order")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Site]] = []
        self._order = count()

    def add(self, site: Site, at: float) -> None:
        if at != inf and (site.due_at is None or at < site.due_at):
            site.due_at = at
            heappush(self._heap, (at, next(self._order), site))

    def next_at(self) -> float:
        return self._heap[0][0] if self._heap else inf

    def pop_due(self, now: float) -> Site | None:
        while self._heap and self._heap[0][0] <= now:
            at, _, site = heappop(self._heap)
            if site.due_at == at:  # else it was asked for earlier, and this is what is left of the later time
                site.due_at = None
                return site
        return None
