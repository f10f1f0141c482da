"""The only way out for Chromium: an HTTP proxy on loopback that judges every address before it connects.

A page has a credential of its own; a connection without one gets nothing, so neither another user of the machine
nor the browser's own chatter comes through. Names are resolved by the fetcher's resolver, judged by the
fetcher's guard, and exactly a judged address is connected to. A refused or failed connection is closed, not
answered: a page cannot tell why. The reasons are kept with the page's `Passage`.
"""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64encode
from contextlib import suppress
from urllib.parse import urlsplit

from crawler.fetch.browser.names import Names
from crawler.fetch.browser.streams import (
    HEAD_BYTES,
    Endpoint,
    Head,
    Streams,
    either,
    endpoint_of,
    first_of,
    for_server,
    read_head,
    relay,
    relay_exactly,
    through_proxy,
)
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import Failure, FailureKind

HEAD_SECONDS = 10.0
ASK_FOR_CREDENTIAL = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="crawlspace"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
)
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Passage:
    """What one page may take through the gateway, and what became of it."""

    def __init__(self, *, max_connections: int, max_bytes: int, upstream: str | None = None) -> None:
        self.user, self.password = "page", secrets.token_urlsafe(32)
        self.connections_left = max_connections
        self.bytes_left = max_bytes
        self.upstream = upstream
        self.failures: dict[Endpoint, Failure] = {}
        self.addresses: dict[Endpoint, str] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def credential(self) -> str:
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()

    @property
    def is_exhausted(self) -> bool:
        return self.bytes_left < 0 or self.connections_left < 0

    def may_take(self, size: int) -> bool:
        """Counts what the page downloads. The first byte too many ends all its connections."""
        self.bytes_left -= size
        if self.bytes_left < 0:
            self.close()
        return self.bytes_left >= 0

    def close(self) -> None:
        for task in self.tasks:
            task.cancel()


class Gateway:
    """Belongs to the running loop."""

    def __init__(self, guard: Guard) -> None:
        self.names = Names(guard)
        self.passages: dict[str, Passage] = {}

    async def open(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=HEAD_BYTES)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    def admit(self, passage: Passage) -> None:
        self.passages[passage.credential] = passage

    def dismiss(self, passage: Passage) -> None:
        self.passages.pop(passage.credential, None)
        passage.close()

    def close(self) -> None:
        self.server.close()
        self.names.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A passage that closes cancels us; whatever else goes wrong on a connection ends that connection.
        with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError, asyncio.CancelledError):
            head = await asyncio.wait_for(read_head(reader), HEAD_SECONDS)
            passage = self.passages.get(head.value("proxy-authorization"))
            if passage is None:
                writer.write(ASK_FOR_CREDENTIAL)
                await writer.drain()
            else:
                await self._let_through(passage, head, (reader, writer))
        writer.close()

    async def _let_through(self, passage: Passage, head: Head, browser: Streams) -> None:
        passage.connections_left -= 1
        if passage.is_exhausted:
            return
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine always runs in one
        passage.tasks.add(task)
        try:
            await (self._tunnel if head.method == "CONNECT" else self._forward)(passage, head, browser)
        finally:
            passage.tasks.discard(task)

    async def _tunnel(self, passage: Passage, head: Head, browser: Streams) -> None:
        server = await self._connect(passage, endpoint_of(urlsplit(f"//{head.target}"), 443))
        if server is None:
            return
        browser[1].write(ESTABLISHED)
        try:
            await either(relay(browser[0], server[1]), relay(server[0], browser[1], passage.may_take))
        finally:
            server[1].close()

    async def _forward(self, passage: Passage, head: Head, browser: Streams) -> None:
        """One plain request a connection. If the browser sends another it is cut off, and asks again on a new one."""
        target = urlsplit(head.target)
        if target.scheme != "http" or head.value("transfer-encoding"):
            return
        server = await self._connect(passage, endpoint_of(target))
        if server is None:
            return
        try:
            server[1].write(for_server(head, target))
            await relay_exactly(browser[0], server[1], int(head.value("content-length") or 0))
            await either(browser[0].read(1), relay(server[0], browser[1], passage.may_take))
        finally:
            server[1].close()

    async def _connect(self, passage: Passage, endpoint: Endpoint) -> Streams | None:
        made = await self._dialled(passage, endpoint)
        if isinstance(made, Failure):
            passage.failures[endpoint] = made
            return None
        passage.failures.pop(endpoint, None)
        return made

    async def _dialled(self, passage: Passage, endpoint: Endpoint) -> Streams | Failure:
        """The name is judged also when a proxy will resolve it: it must not lead inwards."""
        found = await self.names.resolve(endpoint.host)
        if isinstance(found, Failure):
            return found
        if passage.upstream:
            return await self._dialled_by(passage.upstream, endpoint)
        made = await first_of(found.addresses, endpoint)
        if not isinstance(made, Failure):
            passage.addresses[endpoint] = made[1].get_extra_info("peername")[0]
        return made

    async def _dialled_by(self, proxy_url: str, endpoint: Endpoint) -> Streams | Failure:
        parts = urlsplit(proxy_url)
        if parts.scheme != "http":
            return Failure(FailureKind.PROXY, "a page is rendered through http:// proxies only", temporary=False)
        place = endpoint_of(parts)
        found = await self.names.resolve(place.host)
        made = found if isinstance(found, Failure) else await first_of(found.addresses, place)
        if not isinstance(made, Failure):
            return await through_proxy(made, endpoint, proxy_url)
        return made if made.kind is FailureKind.GUARD else Failure(FailureKind.PROXY, made.message, temporary=True)
