"""When a host may be asked again: one clock per host, one count per address. Pure: time comes as a parameter.

A host's next request may start `delay` after the END of the one before, so that even the server's own log never sees
two closer together. The delay is the largest of what the configuration says, what robots.txt asks for (at most 300 s)
and, where it is on, a multiple of the time the last answer took. On top of that the host is left alone for as long as
its `Retry-After` says, and exponentially longer with every 429, 503 or network failure in a row.

How a loop uses it (`now` is wall-clock time in seconds, because the state outlives the process):

    clock = HostClock("example.org:8080", rules)
    clock.restore(saved, now)                         # when the host was met before
    if clock.ready_at <= now:
        clock.began(now)
        …                                             # fetch
        clock.ended(now, response.seconds, response.status, retry_after_seconds)
    heappush(waiting, (clock.ready_at, host))         # infinite while the host has enough in flight

Everything is O(1).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

MAX_CRAWL_DELAY_SECONDS = 300.0
# Longer bans exist, but a page's header must not park a host for days: an outage notice copied from elsewhere, or
# malice, would. After six hours one request finds out.
MAX_RETRY_AFTER_SECONDS = 6 * 3600.0
PUSHED_BACK = frozenset({429, 503})
MAX_BACKOFF_LEVEL = 32  # beyond it powers of two only cost


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every host of a crawl."""

    delay_seconds: float = 1.0
    per_host: int = 1  # requests in flight
    per_address: int = 8  # for the fetcher, which knows addresses
    adaptive: bool | None = None  # None: on, unless the delay is 0, which says that speed is wanted
    adaptive_factor: float = 5.0
    adaptive_min_seconds: float = 0.0
    adaptive_max_seconds: float = 60.0
    pushed_back_first_seconds: float = 5.0  # 429 and 503: the server speaks
    failure_first_seconds: float = 1.0  # network failures: perhaps a hiccup
    backoff_max_seconds: float = 3600.0

    @property
    def is_adaptive(self) -> bool:
        return self.delay_seconds > 0 if self.adaptive is None else self.adaptive


class SavedClock(NamedTuple):
    """What is stored with the domain."""

    next_allowed_at: float  # wall clock, seconds since 1970
    backoff_level: int


class HostClock:
    """One host's state. `ready_at` is when its next request may start; infinite while it has none to spare."""

    __slots__ = ("backoff_level", "crawl_delay_seconds", "host", "in_flight", "next_allowed_at", "rules")

    def __init__(self, host: str, rules: Rules) -> None:
        self.host = host
        self.rules = rules
        self.next_allowed_at = 0.0
        self.backoff_level = 0
        self.in_flight = 0
        self.crawl_delay_seconds = 0.0

    @property
    def ready_at(self) -> float:
        return self.next_allowed_at if self.in_flight < self.rules.per_host else math.inf

    def began(self, now: float) -> None:
        self.in_flight += 1
        self.next_allowed_at = max(self.next_allowed_at, now + self.delay_seconds())

    def ended(
        self,
        now: float,
        seconds: float,
        status: int | None = None,
        retry_after_seconds: float | None = None,
        failed: bool = False,
    ) -> None:
        """`seconds` is how long the answer took; `failed` means that the host, not just the URL, is to blame."""
        self.in_flight -= 1
        wait = self.delay_seconds(seconds)
        if status in PUSHED_BACK or failed:
            self.backoff_level = min(self.backoff_level + 1, MAX_BACKOFF_LEVEL)
            wait = max(wait, self._backoff_seconds(failed, retry_after_seconds))
        elif self.backoff_level:
            self.backoff_level -= 1
        if retry_after_seconds is not None:
            wait = max(wait, min(retry_after_seconds, MAX_RETRY_AFTER_SECONDS))
        self.next_allowed_at = max(self.next_allowed_at, now + wait)

    def delay_seconds(self, answer_seconds: float = 0.0) -> float:
        rules = self.rules
        delay = max(rules.delay_seconds, min(self.crawl_delay_seconds, MAX_CRAWL_DELAY_SECONDS))
        if rules.is_adaptive and answer_seconds:
            adapted = max(rules.adaptive_min_seconds, rules.adaptive_factor * answer_seconds)
            delay = max(delay, min(adapted, rules.adaptive_max_seconds))
        return delay

    def _backoff_seconds(self, failed: bool, retry_after_seconds: float | None) -> float:
        """Doubles each time. A server that names its time is taken at its word the first time."""
        level = self.backoff_level - (retry_after_seconds is not None)
        if level <= 0:
            return 0.0
        first = self.rules.failure_first_seconds if failed else self.rules.pushed_back_first_seconds
        return min(first * float(2 ** (level - 1)), self.rules.backoff_max_seconds)

    def saved(self) -> SavedClock:
        return SavedClock(self.next_allowed_at, self.backoff_level)

    def restore(self, saved: SavedClock, now: float) -> None:
        """From before a restart. One delay from now is kept in any case: a crash may have hidden the last request.

        A time further off than any wait can be comes from a clock that was set back; it is not believed.
        """
        longest = max(MAX_RETRY_AFTER_SECONDS, self.rules.backoff_max_seconds, self.delay_seconds())
        earliest = now + self.delay_seconds()
        self.next_allowed_at = max(earliest, min(saved.next_allowed_at, now + longest))
        self.backoff_level = max(0, min(saved.backoff_level, MAX_BACKOFF_LEVEL))


Waiting = TypeVar("Waiting")


class AddressLimit(Generic[Waiting]):
    """At most so many requests in flight to one address, however many hosts live there. The rest waits in order.

    The fetcher asks it, for nobody else knows the address before the first answer.
    """

    def __init__(self, per_address: int) -> None:
        self.per_address = per_address
        self.in_flight: dict[str, int] = {}
        self.waiting: dict[str, deque[Waiting]] = {}

    def admit(self, address: str, one: Waiting) -> bool:
        """Counts the request in, or has it wait until `leave` hands it out again."""
        count = self.in_flight.get(address, 0)
        if count >= self.per_address:
            self.waiting.setdefault(address, deque()).append(one)
            return False
        self.in_flight[address] = count + 1
        return True

    def leave(self, address: str) -> Waiting | None:
        """One request has ended. The longest waiting takes its place and is returned."""
        if queue := self.waiting.get(address):
            first = queue.popleft()
            if not queue:
                del self.waiting[address]
            return first
        self.in_flight[address] -= 1
        if not self.in_flight[address]:
            del self.in_flight[address]
        return None
