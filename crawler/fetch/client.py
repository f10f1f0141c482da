"""The HTTP client: libcurl's multi interface driven by an epoll of our own.

`start` begins a request under a ticket of the caller's; `wait` returns the tickets of those that ended, each with its
Response or Failure. Nothing a server does raises. Redirects are not followed, cookies not kept, bodies not decoded:
whoever asks decides about those, hop by hop. Connections are kept alive and shared. Names are resolved and judged
beforehand and libcurl is told to use exactly those addresses; the address of every socket it opens is judged again.
A kept connection that the server closed meanwhile is replaced by a fresh one without anybody noticing.

Not for several threads: one fetcher belongs to one loop.
"""

from __future__ import annotations

import select
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any

import certifi
import pycurl

from crawler.fetch.decoding import ACCEPTED
from crawler.fetch.guard import Guard
from crawler.fetch.origins import Origin, Origins, proxy_of
from crawler.fetch.outcome import Failure, FailureKind, Request, Response
from crawler.fetch.politeness import AddressLimit
from crawler.fetch.resolver import Resolved, Resolver
from crawler.fetch.transfer import HeaderPairs, Transfer

MAX_CONNECTIONS = 1024
CONNECT_SECONDS = 15.0
STALL_SECONDS = 15.0
STALL_BYTES_PER_SECOND = 1  # slower than this for so long is a stall, however long the whole may take
RECEIVE_BUFFER_BYTES = 128 * 1024
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
LONGEST_WAIT_SECONDS = 60.0

READABLE, WRITABLE = select.EPOLLIN, select.EPOLLOUT
INTEREST = {pycurl.POLL_IN: READABLE, pycurl.POLL_OUT: WRITABLE, pycurl.POLL_INOUT: READABLE | WRITABLE}

Waiting = tuple[Request, Any, Origin]  # with its ticket
Finished = tuple[Any, Response | Failure]


class Fetcher:
    """Close it in the end."""

    def __init__(
        self,
        guard: Guard,
        *,
        user_agent: str,
        max_connections: int = MAX_CONNECTIONS,
        resolver: Resolver | None = None,
        verify_tls: bool = True,
        ca_file: str | None = None,
        connect_seconds: float = CONNECT_SECONDS,
        stall_seconds: float = STALL_SECONDS,
        per_address: int | None = None,
    ) -> None:
        self.guard = guard
        self.resolver = resolver or Resolver(guard)
        self.default_headers = (("User-Agent", user_agent), ("Accept", ACCEPT), ("Accept-Encoding", ACCEPTED))
        self.options = _options(verify_tls, ca_file or certifi.where(), connect_seconds, stall_seconds)
        self.origins = Origins()
        self.in_flight = 0
        self._finished: list[Finished] = []
        self._asking: defaultdict[str, list[tuple[Request, Any, Origin]]] = defaultdict(list)
        self._limit: AddressLimit[tuple[Request, Any, Origin]] | None = (
            AddressLimit(per_address) if per_address else None
        )
        self._transfers: list[Transfer] = []
        self._idle: list[Transfer] = []
        self._running = 0
        self._timer_at: float | None = None
        self._interest: dict[int, int] = {}  # what epoll watches our sockets for
        self._wanted: set[int] = set()  # those that libcurl waits for; the others are connections kept alive
        self._foreign: set[int] = set()
        self._epoll = select.epoll()
        self._epoll.register(self.resolver.fileno(), READABLE)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_connections)
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, max_connections)

    # What callers use.

    def start(self, request: Request, ticket: Any) -> None:
        """Begins the request. Whatever comes of it, also when it cannot even begin, is told by `wait`."""
        self.in_flight += 1
        origin = self.origins.of(request.url)
        if isinstance(origin, Failure):
            self._finish(ticket, origin)
        elif request.proxy is None and origin.pinned_until > monotonic():
            self._launch(request, ticket, origin)
        else:
            self._resolve(request, ticket, origin)

    def wait(self, timeout_seconds: float) -> list[Finished]:
        """What has ended since. Returns as soon as there is something, or a watched descriptor is readable."""
        until = monotonic() + timeout_seconds
        while not self._finished:
            left = until - monotonic()
            woken = self._turn(max(left, 0.0))
            if woken or left <= 0:
                break
        finished, self._finished = self._finished, []
        self.in_flight -= len(finished)
        return finished

    def watch(self, descriptor: int) -> None:
        """From now on `wait` returns when this descriptor is readable. It stays the caller's to read and close."""
        self._foreign.add(descriptor)
        self._on_new_socket(descriptor)  # its number may have been a connection's
        self._epoll.register(descriptor, READABLE)

    def unwatch(self, descriptor: int) -> None:
        self._foreign.discard(descriptor)
        with suppress(OSError):
            self._epoll.unregister(descriptor)

    def close(self) -> None:
        """Ends what is under way without telling anybody."""
        for transfer in self._transfers:
            transfer.handle.close()
        self._multi.close()
        self._epoll.close()
        self.resolver.close()

    # From a request to libcurl.

    def _resolve(self, request: Request, ticket: Any, origin: Origin) -> None:
        answer = self._answer(origin.host, request, ticket, origin)
        if answer is None:
            return
        if isinstance(answer, Resolved):
            origin.pin(answer.addresses, answer.until)
        elif request.proxy is None or answer.kind is not FailureKind.DNS:  # a proxy may know names that we do not
            self._finish(ticket, answer)
            return
        if request.proxy is None:
            self._launch(request, ticket, origin)
        else:
            self._resolve_proxy(request.proxy, request, ticket, origin)

    def _resolve_proxy(self, url: str, request: Request, ticket: Any, origin: Origin) -> None:
        """A proxy does not widen where we may go: its address is judged like any other, and so was the target's."""
        proxy = proxy_of(url)
        answer = proxy if isinstance(proxy, Failure) else self._answer(proxy.host, request, ticket, origin)
        if isinstance(answer, Failure):
            kind = FailureKind.GUARD if answer.kind is FailureKind.GUARD else FailureKind.PROXY
            self._finish(ticket, replace(answer, kind=kind, message=f"proxy: {answer.message}"))
        elif isinstance(answer, Resolved) and isinstance(proxy, Origin):
            proxy.pin(answer.addresses, answer.until)
            self._begin(request, ticket, origin, [*origin.pins, *proxy.pins])

    def _answer(self, host: str, request: Request, ticket: Any, origin: Origin) -> Resolved | Failure | None:
        """What the name stands for; None when that has to be found out first, after which `_resolve` comes again."""
        answer = self.resolver.remembered(host)
        if answer is None:
            self._asking[host].append((request, ticket, origin))
            self.resolver.ask(host)
        return answer

    def _launch(self, request: Request, ticket: Any, origin: Origin) -> None:
        if self._limit is None or self._limit.admit(origin.address, (request, ticket, origin)):
            self._begin(request, ticket, origin, origin.pins)

    def _begin(self, request: Request, ticket: Any, origin: Origin, pins: list[str]) -> None:
        transfer = self._idle.pop() if self._idle else self._new_transfer()
        try:
            if request.headers != transfer.headers:
                transfer.send_headers(request.headers, self._header_lines(request.headers))
            transfer.begin(request, ticket, origin, pins)
        except (UnicodeError, ValueError, TypeError, pycurl.error) as error:
            self._give_back(transfer, Failure(FailureKind.URL, f"cannot be asked for: {error}", temporary=False))
            return
        self._running += 1
        self._multi.add_handle(transfer.handle)
        self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _header_lines(self, headers: HeaderPairs) -> list[str]:
        given = {name.lower() for name, _ in headers}
        pairs = [pair for pair in self.default_headers if pair[0].lower() not in given]
        lines = [f"{name}: {value}" for name, value in (*pairs, *headers)]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("line break in a header")
        return lines

    def _new_transfer(self) -> Transfer:
        handle = pycurl.Curl()
        for option, value in self.options.items():
            handle.setopt(option, value)
        transfer = Transfer(handle, self.guard, self._on_new_socket)
        self._transfers.append(transfer)
        return transfer

    # The loop.

    def _turn(self, timeout_seconds: float) -> bool:
        """Waits once and acts on what happened. True when a watched descriptor wants the caller."""
        woken = False
        events = self._epoll.poll(self._poll_seconds(timeout_seconds))
        for descriptor, event in events:
            if descriptor in self._wanted:
                # Errors and hang-ups count as readable: reading tells libcurl what happened.
                what = pycurl.CSELECT_OUT if event & WRITABLE else 0
                self._act(descriptor, what | pycurl.CSELECT_IN if event & ~WRITABLE else what)
            elif descriptor in self._interest:
                self._forget(descriptor)  # a connection kept alive was closed: libcurl sees that when it needs it
            elif descriptor in self._foreign:
                woken = True
            else:
                self._take_answers()
        if self._timer_at is not None and self._timer_at <= monotonic():
            self._timer_at = None
            self._act(pycurl.SOCKET_TIMEOUT, 0)
        if self._asking and not events:
            self._take_answers()
        return woken

    def _poll_seconds(self, timeout_seconds: float) -> float:
        seconds = min(timeout_seconds, LONGEST_WAIT_SECONDS)
        if self._timer_at is not None:
            seconds = min(seconds, max(0.0, self._timer_at - monotonic()))
        if self._asking and (left := self.resolver.seconds_left()) is not None:
            seconds = min(seconds, left)
        return seconds

    def _act(self, descriptor: int, what: int) -> None:
        _, running = self._multi.socket_action(descriptor, what)
        if running < self._running:
            self._collect()

    def _collect(self) -> None:
        more = 1
        while more:
            more, good, bad = self._multi.info_read()
            for handle in good:
                self._done(handle, pycurl.E_OK)
            for handle, code, _ in bad:
                self._done(handle, code)

    def _done(self, handle: Any, code: int) -> None:
        transfer = handle.transfer
        outcome = transfer.outcome(code)
        self._multi.remove_handle(handle)
        self._running -= 1
        self._give_back(transfer, outcome)

    def _give_back(self, transfer: Transfer, outcome: Response | Failure) -> None:
        self._idle.append(transfer)
        self._finish(transfer.ticket, outcome)
        if self._limit is not None and transfer.request.proxy is None:
            waiting = self._limit.leave(transfer.address)
            if waiting is not None:
                self._begin(*waiting, waiting[2].pins)

    def _finish(self, ticket: Any, outcome: Response | Failure) -> None:
        self._finished.append((ticket, outcome))

    def _take_answers(self) -> None:
        for host in self.resolver.answered():
            for request, ticket, origin in self._asking.pop(host, ()):
                self._resolve(request, ticket, origin)

    # What libcurl tells us.

    def _on_timer(self, milliseconds: int) -> None:
        self._timer_at = None if milliseconds < 0 else monotonic() + milliseconds / 1000

    def _on_new_socket(self, descriptor: int) -> None:
        """A descriptor's number may have been another connection's, which epoll forgot when it was closed."""
        self._interest.pop(descriptor, None)
        self._wanted.discard(descriptor)

    def _on_socket(self, what: int, descriptor: int, multi: Any, data: Any) -> None:
        """Between two requests a connection stays registered: most are used again at once."""
        if what == pycurl.POLL_REMOVE:
            self._wanted.discard(descriptor)
            return
        interest = INTEREST.get(what, 0)
        self._wanted.add(descriptor)
        before = self._interest.get(descriptor)
        if before is None:
            self._epoll.register(descriptor, interest)
        elif before != interest:
            self._epoll.modify(descriptor, interest)
        self._interest[descriptor] = interest

    def _forget(self, descriptor: int) -> None:
        del self._interest[descriptor]
        with suppress(OSError):
            self._epoll.unregister(descriptor)


def _options(verify_tls: bool, ca_file: str, connect_seconds: float, stall_seconds: float) -> dict[int, Any]:
    """What every request has in common."""
    return {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.PATH_AS_IS: 1,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROXY: "",  # an empty one keeps libcurl from reading http_proxy out of the environment
        pycurl.CAINFO: ca_file,
        pycurl.SSL_VERIFYPEER: int(verify_tls),
        pycurl.SSL_VERIFYHOST: 2 if verify_tls else 0,
        pycurl.SSLVERSION: pycurl.SSLVERSION_TLSv1_2,
        pycurl.CONNECTTIMEOUT_MS: int(connect_seconds * 1000),
        pycurl.LOW_SPEED_LIMIT: STALL_BYTES_PER_SECOND,
        pycurl.LOW_SPEED_TIME: max(1, round(stall_seconds)),
        pycurl.BUFFERSIZE: RECEIVE_BUFFER_BYTES,
    }


def fetch_one(fetcher: Fetcher, request: Request) -> Response | Failure:
    """One request, waited for. Not beside others on the same fetcher: their outcomes would be lost."""
    ticket = object()
    fetcher.start(request, ticket)
    while True:
        for finished, outcome in fetcher.wait(LONGEST_WAIT_SECONDS):
            if finished is ticket:
                return outcome
