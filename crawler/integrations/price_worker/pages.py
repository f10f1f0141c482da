"""Fetches pages for many threads at once, politely.

One thread has the HTTP client and keeps many hosts busy, each with one request at a time and its delay between them.
`get` may be called from any number of threads and returns when the page is there.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from crawler.fetch.client import Fetcher
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure, Response
from crawler.integrations.price_worker.hosts import Host, Hosts
from crawler.integrations.price_worker.manners import Manners
from crawler.integrations.price_worker.reasons import Stopped, Unfetched
from crawler.integrations.price_worker.robots import Answer, Meanwhile, RobotsOfAll, Step
from crawler.integrations.price_worker.visits import Visits
from crawler.web.hosts import canonical_domain

log = logging.getLogger(__name__)

LONGEST_NAP_SECONDS = 1.0


class Errand:
    """A page that somebody waits for."""

    __slots__ = ("future", "host", "visit")

    def __init__(self, visit: Generator[Step, Answer, Response]) -> None:
        self.visit = visit
        self.future: Future[Response] = Future()
        self.host: Host | None = None


class Pages:
    """Use it in `with`. `stop` ends what was not begun; leaving the block ends everything.

    `on_broken` is called from the thread when it ends by a mistake of ours; `broken` then says which.
    """

    def __init__(self, manners: Manners, on_broken: Callable[[], None] = lambda: None) -> None:
        self.manners = manners
        self.on_broken = on_broken
        self.broken: Exception | None = None
        self.hosts = Hosts(manners.politeness)
        self.robots = RobotsOfAll(manners, self.hosts, time.time)
        self.visits = Visits(manners, self.robots)
        self._fetcher = Fetcher(
            Guard(manners.allowed_networks), user_agent=manners.user_agent, per_address=manners.per_address
        )
        self._door = threading.Lock()  # nobody comes in while the last ones are sent away
        self._is_closed = False
        self._new: deque[Errand] = deque()
        self._alive: set[Errand] = set()
        self._parked: dict[str, list[Errand]] = {}  # by the origin whose robots.txt somebody else asks for
        self._bell, self._ring = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._stopping = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pages", daemon=True)

    def __enter__(self) -> Pages:
        self._fetcher.watch(self._bell)
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._closing.set()
        self.stop()
        self._thread.join()
        self._fetcher.unwatch(self._bell)
        self._fetcher.close()
        with self._door:
            os.close(self._bell)
            os.close(self._ring)

    def get(self, url: str) -> Response:
        """The page as it came, after redirects. Raises Unfetched with the reason, or Stopped."""
        errand = Errand(self.visits.visit(url))
        with self._door:
            if self._is_closed:
                raise Stopped
            self._new.append(errand)
            self._wake()
        return errand.future.result()

    def stop(self) -> None:
        """From now on nothing is begun: who waits gets Stopped, who is being answered gets the page."""
        self._stopping.set()
        with self._door:
            if not self._is_closed:
                self._wake()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # it rings already
            os.write(self._ring, b"!")

    # What the thread does.

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self._turn()
        except Exception as error:
            log.exception("the thread that fetches pages broke")
            self.broken = error
            self.on_broken()
        finally:
            self._send_all_away()

    def _turn(self) -> None:
        while self._new:
            errand = self._new.popleft()
            self._alive.add(errand)
            self._advance(errand, None)
        if self._stopping.is_set():
            self._end_waiting()
        now = time.time()
        for host in self.hosts.due(now):
            self._begin(host, now)
        for errand, answer in self._fetcher.wait(self._nap(now)):
            self._answered(errand, answer)
        self._hush()

    def _nap(self, now: float) -> float:
        return 0.0 if self._new else max(0.0, min(LONGEST_NAP_SECONDS, self.hosts.next_at() - now))

    def _hush(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._bell, 65_536)

    def _begin(self, host: Host, now: float) -> None:
        errand, request = host.waiting.popleft()
        host.clock.began(now)
        host.in_flight += 1
        errand.host = host
        self._fetcher.start(request, errand)

    def _answered(self, errand: Errand, answer: Response | Failure) -> None:
        now = time.time()
        host = errand.host
        if host is not None:
            host.answered(answer, now)
        self._advance(errand, answer)
        if host is not None and host.is_put_off(now, self.manners.worth_waiting_seconds):
            self._put_off(host)

    def _advance(self, errand: Errand, answer: Any) -> None:
        """One step of a visit: to its next request, or to its end."""
        try:
            step = errand.visit.send(answer)
        except StopIteration as end:
            self._alive.discard(errand)
            errand.future.set_result(end.value)
        except Unfetched as reason:
            self._end(errand, reason)
        else:
            self._line_up(errand, step)
        self._go_on()

    def _line_up(self, errand: Errand, step: Step) -> None:
        if isinstance(step, Meanwhile):
            self._parked.setdefault(step.origin, []).append(errand)
            return
        now = time.time()
        name = canonical_domain(step.url)
        host = self.hosts.of(name, now)
        if host.is_put_off(now, self.manners.worth_waiting_seconds):
            self._end(errand, _left_alone(host))
        else:
            self.hosts.add(name, errand, step, now)

    def _go_on(self) -> None:
        """Those who waited for a robots.txt that is there now, or of which nothing came."""
        while self.robots.answered:
            self._new.extend(self._parked.pop(self.robots.answered.pop(), ()))

    def _put_off(self, host: Host) -> None:
        """The host wants to be left alone for longer than anybody should wait."""
        while host.waiting:
            self._end(host.waiting.popleft()[0], _left_alone(host))

    def _end(self, errand: Errand, reason: Exception) -> None:
        self._alive.discard(errand)
        errand.visit.close()
        errand.future.set_exception(reason)

    def _end_waiting(self) -> None:
        for errand in (*self.hosts.all_waiting(), *(one for many in self._parked.values() for one in many)):
            self._end(errand, Stopped())
        self._parked.clear()

    def _send_all_away(self) -> None:
        """Also those whose answer is on its way: nobody may wait for ever."""
        with self._door:
            self._is_closed = True
            for errand in (*self._alive, *self._new):
                self._end(errand, Stopped())


def _left_alone(host: Host) -> Unfetched:
    until = time.strftime("%H:%M", time.gmtime(host.clock.next_allowed_at))
    return Unfetched(f"the host is left alone until {until} UTC: {host.trouble}")
