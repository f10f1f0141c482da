"""Byte streams of the gateway: reading what is asked, connecting, passing bytes on."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from crawler.fetch.outcome import Failure, FailureKind

HEAD_BYTES = 256 * 1024
CHUNK_BYTES = 64 * 1024
CONNECT_SECONDS = 15.0
# Between browser and proxy only; the rest goes to the server as it is.
HOP_HEADERS = ("proxy-", "connection:", "keep-alive:", "upgrade:", "te:")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Endpoint(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Head(NamedTuple):
    """What the browser asks of the gateway, still in Latin-1."""

    method: str
    target: str
    headers: list[str]

    def value(self, name: str) -> str:
        prefix = f"{name}:"
        return next((line[len(prefix) :].strip() for line in self.headers if line.lower().startswith(prefix)), "")


async def read_head(reader: asyncio.StreamReader) -> Head:
    block = await reader.readuntil(b"\r\n\r\n")
    first, *headers = block.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    return Head(method, target, headers)


def endpoint_of(parts: SplitResult, port: int = 80) -> Endpoint:
    if not parts.hostname:
        raise ValueError("no host")
    return Endpoint(parts.hostname, parts.port or port)


def for_server(head: Head, target: SplitResult) -> bytes:
    """The request as a server wants it: only the path, no word of the proxy, one answer a connection."""
    path = (target.path or "/") + (f"?{target.query}" if target.query else "")
    kept = [line for line in head.headers if not line.lower().startswith(HOP_HEADERS)]
    return "\r\n".join((f"{head.method} {path} HTTP/1.1", *kept, "Connection: close", "", "")).encode("latin-1")


async def first_of(addresses: tuple[str, ...], endpoint: Endpoint) -> Streams | Failure:
    """A connection to the first of these addresses that takes one."""
    problem = "no address"
    for address in addresses:
        opening = asyncio.open_connection(address, endpoint.port, limit=HEAD_BYTES)
        try:
            return await asyncio.wait_for(opening, CONNECT_SECONDS)
        except TimeoutError:
            problem = f"no answer in {CONNECT_SECONDS:.0f} s"
        except OSError as error:
            problem = error.strerror or str(error)
    return Failure(FailureKind.CONNECT, f"{endpoint}: {problem}", temporary=True)


async def through_proxy(proxy: Streams, endpoint: Endpoint, proxy_url: str) -> Streams | Failure:
    """Asks another proxy to connect further."""
    parts = urlsplit(proxy_url)
    lines = [f"CONNECT {endpoint} HTTP/1.1", f"Host: {endpoint}"]
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {b64encode(secret.encode()).decode()}")
    proxy[1].write("\r\n".join((*lines, "", "")).encode("latin-1"))
    answer = b""
    with suppress(OSError, EOFError, asyncio.LimitOverrunError):
        answer = await asyncio.wait_for(proxy[0].readuntil(b"\r\n\r\n"), CONNECT_SECONDS)
    if answer[:9] in (b"HTTP/1.1 ", b"HTTP/1.0 ") and answer[9:10] == b"2":
        return proxy
    proxy[1].close()
    said = answer.split(b"\r\n")[0].decode("latin-1") or "nothing"
    return Failure(FailureKind.PROXY, f"asked for {endpoint}, the proxy said {said}", temporary=True)


async def relay(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, may_pass: Callable[[int], bool] | None = None
) -> None:
    while piece := await source.read(CHUNK_BYTES):
        if may_pass and not may_pass(len(piece)):
            return
        sink.write(piece)
        await sink.drain()


async def relay_exactly(source: asyncio.StreamReader, sink: asyncio.StreamWriter, size: int) -> None:
    while size > 0:
        piece = await source.read(min(size, CHUNK_BYTES))
        if not piece:
            raise EOFError
        size -= len(piece)
        sink.write(piece)
        await sink.drain()


async def either(*ways: Coroutine[Any, Any, Any]) -> None:
    """Until the first of them has ended, one way or another; the others are cancelled."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
