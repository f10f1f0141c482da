"""The HTTP client: libcurl without asyncio.

`start` begins a request under a ticket of the caller's; `wait` returns the tickets of those that ended, each with its
Response or Failure. Nothing a server does raises. Redirects are not followed, cookies not kept, bodies not decoded:
whoever asks decides about those, hop by hop. Connections are kept alive and shared. Names are resolved and judged
beforehand and libcurl is told to use exactly those addresses; the address of every socket it opens is judged again.
A kept connection that the server closed meanwhile is replaced by a fresh one without anybody noticing.

Not for several threads: one fetcher belongs to one loop.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from time import monotonic
from typing import Any

import certifi
import pycurl

from crawler.fetch.decoding import ACCEPTED
from crawler.fetch.guard import Guard
from crawler.fetch.multi import LONGEST_WAIT_SECONDS, Multi
from crawler.fetch.origins import Origin, Origins, proxy_of
from crawler.fetch.outcome import Failure, FailureKind, Request, Response
from crawler.fetch.politeness import AddressLimit
from crawler.fetch.resolver import Resolved, Resolver
from crawler.fetch.transfer import HeaderPairs, Transfer

MAX_CONNECTIONS = 4096
CONNECT_SECONDS = 15.0
STALL_SECONDS = 15.0
STALL_BYTES_PER_SECOND = 1  # slower than this for so long is a stall, however long the whole may take
RECEIVE_BUFFER_BYTES = 128 * 1024
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
SUPPRESS_CONNECT_HEADERS = 265  # pycurl has no name for it

Waiting = tuple[Request, Any, Origin]  # with its ticket
Finished = tuple[Any, Response | Failure]


class Fetcher:
    """Close it in the end. `per_address` limits the requests in flight to one address, whatever hosts live there."""

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
        self.in_flight = 0
        self._default_headers = (("User-Agent", user_agent), ("Accept", ACCEPT), ("Accept-Encoding", ACCEPTED))
        self._options = _options(verify_tls, ca_file or certifi.where(), connect_seconds, stall_seconds)
        self._origins = Origins()
        self._asking: defaultdict[str, list[Waiting]] = defaultdict(list)  # by the name that is looked up for them
        self._limit: AddressLimit[Waiting] | None = AddressLimit(per_address) if per_address else None
        self._transfers: list[Transfer] = []
        self._idle: list[Transfer] = []
        self._finished: list[Finished] = []
        self._multi = Multi(max_connections, self._done)
        self._multi.watch(self.resolver.fileno())

    # What callers use.

    def start(self, request: Request, ticket: Any) -> None:
        """Begins the request. Whatever comes of it, also when it cannot even begin, is told by `wait`."""
        self.in_flight += 1
        origin = self._origins.of(request.url)
        if isinstance(origin, Failure):
            self._finished.append((ticket, origin))
        elif request.proxy is None and origin.pinned_until > monotonic():
            self._launch(request, ticket, origin)
        else:
            self._resolve(request, ticket, origin)

    def wait(self, timeout_seconds: float) -> list[Finished]:
        """What has ended since. Returns as soon as there is something, or a watched descriptor is readable."""
        until = monotonic() + timeout_seconds
        while not self._finished:
            left = until - monotonic()
            woken = self._turn(left)
            if woken or left <= 0:
                break
        finished, self._finished = self._finished, []
        self.in_flight -= len(finished)
        return finished

    def allow_per_address(self, requests: int) -> None:
        """Never fewer to one address than somebody allows to one of its hosts."""
        if self._limit is not None:
            self._limit.per_address = max(self._limit.per_address, requests)

    def watch(self, descriptor: int) -> None:
        """From now on `wait` returns when this descriptor is readable. It stays the caller's to read and close."""
        self._multi.watch(descriptor)

    def unwatch(self, descriptor: int) -> None:
        self._multi.unwatch(descriptor)

    def close(self) -> None:
        """Ends what is under way without telling anybody."""
        for transfer in self._transfers:
            transfer.handle.close()
        self._multi.close()
        self.resolver.close()

    # From a request to libcurl.

    def _resolve(self, request: Request, ticket: Any, origin: Origin) -> None:
        answer = self._answer(origin.host, request, ticket, origin)
        if answer is None:
            return
        if isinstance(answer, Resolved):
            origin.pin(answer.addresses, answer.until)
        elif request.proxy is None or answer.kind is not FailureKind.DNS:  # a proxy may know names that we do not
            self._finished.append((ticket, answer))
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
            self._finished.append((ticket, replace(answer, kind=kind, message=f"proxy: {answer.message}")))
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
            transfer.begin(request, ticket, origin, pins)
            if request.headers != transfer.headers:
                transfer.send_headers(request.headers, self._header_lines(request.headers))
        except (UnicodeError, ValueError, TypeError, pycurl.error) as error:
            self._give_back(transfer, Failure(FailureKind.URL, f"cannot be asked for: {error}", temporary=False))
            return
        self._multi.begin(transfer.handle)

    def _header_lines(self, headers: HeaderPairs) -> list[bytes]:
        """Latin-1, so that an ETag goes back with the bytes it came with."""
        given = {name.lower() for name, _ in headers}
        pairs = [pair for pair in self._default_headers if pair[0].lower() not in given]
        lines = [f"{name}: {value}".encode("latin-1") for name, value in (*pairs, *headers)]
        if any(b"\r" in line or b"\n" in line for line in lines):
            raise ValueError("line break in a header")
        return lines

    def _new_transfer(self) -> Transfer:
        handle = pycurl.Curl()
        for option, value in self._options.items():
            handle.setopt(option, value)
        transfer = Transfer(handle, self.guard, self._multi.on_new_socket)
        self._transfers.append(transfer)
        return transfer

    # And back.

    def _turn(self, timeout_seconds: float) -> bool:
        """True when a descriptor that the caller watches is readable."""
        if self._asking and (left := self.resolver.seconds_left()) is not None:
            timeout_seconds = min(timeout_seconds, left)
        readable = self._multi.turn(timeout_seconds)
        if self._asking or readable:
            self._take_answers()
        return any(descriptor != self.resolver.fileno() for descriptor in readable)

    def _take_answers(self) -> None:
        for host in self.resolver.answered():
            for request, ticket, origin in self._asking.pop(host, ()):
                self._resolve(request, ticket, origin)

    def _done(self, handle: Any, code: int) -> None:
        transfer = handle.transfer
        outcome = transfer.outcome(code)
        self._multi.remove(handle)
        self._give_back(transfer, outcome)

    def _give_back(self, transfer: Transfer, outcome: Response | Failure) -> None:
        self._idle.append(transfer)
        self._finished.append((transfer.ticket, outcome))
        if self._limit is not None and transfer.request.proxy is None:
            waiting = self._limit.leave(transfer.address)
            if waiting is not None:
                self._begin(*waiting, waiting[2].pins)


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
        SUPPRESS_CONNECT_HEADERS: 1,
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
