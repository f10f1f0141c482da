"""What is known of the hosts: when each may be asked again, and who waits for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from math import inf
from typing import Any

from crawler.fetch.outcome import Failure, Request, Response
from crawler.fetch.politeness import PUSHED_BACK, HostClock, Rules
from crawler.web.headers import retry_after

MOST_IDLE = 10_000  # hosts remembered that nobody waits for


class Host:
    __slots__ = ("clock", "in_flight", "trouble", "waiting")

    def __init__(self, name: str, rules: Rules) -> None:
        self.clock = HostClock(name, rules)
        self.waiting: deque[tuple[Any, Request]] = deque()
        self.in_flight = 0
        self.trouble = ""  # why it is left alone

    def answered(self, answer: Response | Failure, now: float) -> None:
        """Tells the clock. A server that asks for time gets it."""
        self.in_flight -= 1
        if isinstance(answer, Failure):
            self.clock.ended(now, answer.seconds, failed=answer.is_hosts_fault)
            self.trouble = answer.message if answer.is_hosts_fault else ""
            return
        wanted = answer.headers.get("retry-after")
        wait = retry_after(wanted, datetime.fromtimestamp(now, UTC)) if wanted else None
        self.clock.ended(now, answer.seconds, answer.status, wait)
        self.trouble = f"HTTP {answer.status}" if answer.status in PUSHED_BACK or wait else ""

    def heed_crawl_delay(self, seconds: float | None, now: float) -> None:
        """It holds from the answer on in which it was read."""
        self.clock.crawl_delay_seconds = max(self.clock.crawl_delay_seconds, seconds or 0.0)
        if seconds:
            self.clock.next_allowed_at = max(self.clock.next_allowed_at, now + self.clock.delay_seconds())

    def is_put_off(self, now: float, worth_waiting_seconds: float) -> bool:
        """It pushed us back, for longer than is worth waiting."""
        return bool(self.trouble) and self.clock.next_allowed_at - now > worth_waiting_seconds


class Hosts:
    """One clock a host, whatever the scheme."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.by_name: dict[str, Host] = {}
        self.busy: dict[str, Host] = {}  # those that somebody waits for

    def of(self, name: str, now: float) -> Host:
        host = self.by_name.get(name)
        if host is None:
            if len(self.by_name) >= MOST_IDLE:
                self._forget_idle(now)
            host = self.by_name[name] = Host(name, self.rules)
        return host

    def add(self, name: str, errand: Any, request: Request, now: float) -> None:
        host = self.of(name, now)
        host.waiting.append((errand, request))
        self.busy[name] = host

    def due(self, now: float) -> Iterator[Host]:
        """Hosts with somebody waiting that may be asked now."""
        for name, host in list(self.busy.items()):
            if host.waiting and host.clock.ready_at <= now:
                yield host
            if not host.waiting:
                del self.busy[name]

    def next_at(self) -> float:
        return min((host.clock.ready_at for host in self.busy.values() if host.waiting), default=inf)

    def all_waiting(self) -> Iterator[Any]:
        """Everybody who waits, who then waits no more."""
        for host in self.busy.values():
            while host.waiting:
                yield host.waiting.popleft()[0]

    def _forget_idle(self, now: float) -> None:
        self.by_name = {
            name: host
            for name, host in self.by_name.items()
            if host.waiting or host.in_flight or host.clock.next_allowed_at > now
        }
