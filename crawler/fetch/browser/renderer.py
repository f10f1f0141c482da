"""What the engine sees of the browser: pages in by ticket, outcomes out, when the descriptor is readable.

No call blocks for longer than it takes to start a process, except `close`. At most `max_pages` pages are open at once,
the others wait here and their time does not run yet. A browser process is replaced after a number of pages, or when it
says that it is worn; until its last pages are done the old one lives beside the new one. If one dies, its pages fail
and may be tried again.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Iterable
from time import monotonic
from typing import Any

from crawler.fetch.browser import chromium
from crawler.fetch.browser.messages import Message, outcome_of, packed
from crawler.fetch.browser.options import Options, PageLimits
from crawler.fetch.browser.process import BrowserProcess, Given
from crawler.fetch.guard import Network
from crawler.fetch.header_block import parsed_headers
from crawler.fetch.origins import FETCHABLE, origin_of
from crawler.fetch.outcome import Failure, FailureKind, Request, Response

MAX_PAGES = 4
MEMORY_LIMIT_BYTES = 2 * 1024**3
RECYCLE_AFTER_PAGES = 200
CLOSE_SECONDS = 5.0

Finished = tuple[Any, Response | Failure]


class Renderer:
    """One for an engine. Raises BrowserUnavailable at once; starts a browser with the first page."""

    def __init__(
        self,
        guard_allowed_networks: Iterable[Network] = (),
        *,
        user_agent: str,
        chromium_path: str | None = None,
        max_pages: int = MAX_PAGES,
        memory_limit_bytes: int = MEMORY_LIMIT_BYTES,
        recycle_after_pages: int = RECYCLE_AFTER_PAGES,
        limits: PageLimits = PageLimits(),  # noqa: B008 - a frozen value
    ) -> None:
        self.options = Options(
            chromium_path=chromium.needed(chromium_path),
            user_agent=user_agent,
            allowed_networks=tuple(map(str, guard_allowed_networks)),
            memory_limit_bytes=memory_limit_bytes,
            limits=limits,
        )
        self.max_pages = max_pages
        self.recycle_after_pages = recycle_after_pages
        self.waiting: deque[Given] = deque()
        self.done: list[Finished] = []
        self.processes: dict[int, BrowserProcess] = {}  # by the descriptor of their sockets; the newest last
        self.numbered = 0
        self.poller = select.epoll()
        self.bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.poller.register(self.bell, select.EPOLLIN)

    @property
    def descriptor(self) -> int:
        """Readable when `finished` should be called."""
        return self.poller.fileno()

    @property
    def in_flight(self) -> int:
        """Pages started whose outcome `finished` has not returned."""
        return len(self.waiting) + self._open_pages + len(self.done)

    @property
    def _open_pages(self) -> int:
        return sum(len(process.pages) for process in self.processes.values())

    def start(self, request: Request, ticket: Any) -> None:
        origin = origin_of(request.url, FETCHABLE)
        if isinstance(origin, Failure):
            self._finish(ticket, origin)
        elif request.method != "GET":
            self._finish(ticket, Failure(FailureKind.URL, "a browser page is a GET", temporary=False))
        else:
            self.waiting.append(Given(request, ticket))
            self._give_out()

    def finished(self) -> list[Finished]:
        for descriptor, events in self.poller.poll(0):
            if descriptor == self.bell:
                os.eventfd_read(self.bell)
            else:
                self._attend(self.processes[descriptor], events)
        self._give_out()
        done, self.done = self.done, []
        return done

    def close(self) -> None:
        """Ends the browsers. Pages under way are forgotten."""
        for process in self.processes.values():
            process.let_go()
        until = monotonic() + CLOSE_SECONDS
        for process in self.processes.values():
            process.wait_until(until)
            process.bury()
        self.processes.clear()
        self.waiting.clear()
        self.poller.close()
        os.close(self.bell)

    def _finish(self, ticket: Any, outcome: Response | Failure) -> None:
        """Without a browser: rings the bell, for nobody else will."""
        self.done.append((ticket, outcome))
        os.eventfd_write(self.bell, 1)

    def _give_out(self) -> None:
        while self.waiting and self._open_pages < self.max_pages:
            given = self.waiting.popleft()
            try:
                process = self._fresh_process()
            except OSError as error:  # the system has no room for it
                failure = Failure(FailureKind.INCOMPLETE, f"no browser can be started: {error}", temporary=True)
                self._finish(given.ticket, failure)
                continue
            self.numbered += 1
            process.give(self.numbered, given)
            self._watch(process)

    def _fresh_process(self) -> BrowserProcess:
        newest = next(reversed(self.processes.values()), None)
        if newest and not newest.is_worn and newest.pages_given < self.recycle_after_pages:
            return newest
        made = BrowserProcess(self.options)
        self.processes[made.connection.fileno()] = made
        self.poller.register(made.connection, select.EPOLLIN)
        if newest:
            self._let_go_if_idle(newest)
        return made

    def _watch(self, process: BrowserProcess) -> None:
        wanted = select.EPOLLIN | (select.EPOLLOUT if process.unsent else 0)
        self.poller.modify(process.connection, wanted)

    def _attend(self, process: BrowserProcess, events: int) -> None:
        if events & select.EPOLLOUT:
            process.send()
        for message in process.messages():
            self._take(process, message)
        if process.is_gone:
            self._lost(process)
        else:
            self._let_go_if_idle(process)
            self._watch(process)

    def _take(self, process: BrowserProcess, message: Message) -> None:
        fields = message.fields
        if "asks" in fields:
            self._answer(process, fields["page"], fields["asks"])
        elif "page" in fields:
            given = process.pages.pop(fields["page"])
            self.done.append((given.ticket, outcome_of(message)))
        elif "ready" in fields:
            process.sessions = set(fields["ready"])
        elif "broken" in fields:
            process.last_words = fields["broken"]
        process.is_worn |= "worn" in fields

    def _answer(self, process: BrowserProcess, page: int, asked: dict[str, Any]) -> None:
        wants_body = process.pages[page].request.wants_body
        headers = parsed_headers(asked["head"].encode("latin-1"))
        process.send(packed({"page": page, "wanted": wants_body is None or wants_body(asked["status"], headers)}))

    def _let_go_if_idle(self, process: BrowserProcess) -> None:
        if not process.pages and (process.is_worn or process.pages_given >= self.recycle_after_pages):
            process.let_go()

    def _lost(self, process: BrowserProcess) -> None:
        """Its pages fail. Those that wait fail too when it never ran: the next would not run either."""
        del self.processes[process.connection.fileno()]
        self.poller.unregister(process.connection)
        process.bury()
        victims = list(process.pages.values())
        if not process.sessions:
            victims += self.waiting
            self.waiting.clear()
        for given in victims:
            failure = Failure(FailureKind.INCOMPLETE, process.last_words, temporary=True)
            self.done.append((given.ticket, failure))
