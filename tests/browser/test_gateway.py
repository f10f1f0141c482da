"""The browser's way out, without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from ipaddress import ip_network
from typing import Any

import pytest

from crawler.fetch.browser.gateway import Gateway, Passage
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import FailureKind
from tests.browser.site import ALLOWED, Answer, Site

Scene = Callable[[Gateway, Passage], Coroutine[Any, Any, None]]


def play(scene: Scene, **limits: Any) -> Passage:
    async def on_stage() -> Passage:
        gateway = Gateway(Guard([ip_network(f"{ALLOWED}/32")]))
        await gateway.open()
        passage = Passage(**{"max_connections": 100, "max_bytes": 1_000_000} | limits)
        gateway.admit(passage)
        await scene(gateway, passage)
        gateway.close()
        return passage

    return asyncio.run(on_stage())


async def said(gateway: Gateway, text: str) -> bytes:
    """All that the gateway answers until it closes the connection."""
    port = int(gateway.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text.replace("\n", "\r\n").encode())
    answer = b""
    with suppress(OSError):
        answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("credential", ["", "Proxy-Authorization: Basic cGFnZTpndWVzcw==\n", "Authorization: x\n"])
def test_strangers_get_nothing(site: Site, credential: str) -> None:
    async def scene(gateway: Gateway, passage: Passage) -> None:
        for line in (f"GET {site.url}/ HTTP/1.1", f"CONNECT {site.url[7:]} HTTP/1.1"):
            assert (await said(gateway, f"{line}\n{credential}\n")).startswith(b"HTTP/1.1 407")

    play(scene)
    assert site.connections == 0


def test_a_credential_ends_with_its_page(site: Site) -> None:
    site.pages = {"/": Answer("hello")}

    async def scene(gateway: Gateway, passage: Passage) -> None:
        asked = f"GET {site.url}/ HTTP/1.1\nHost: x\nProxy-Authorization: {passage.credential}\n\n"
        assert (await said(gateway, asked)).endswith(b"hello")
        gateway.dismiss(passage)
        assert (await said(gateway, asked)).startswith(b"HTTP/1.1 407")

    play(scene)
    assert "proxy-authorization" not in site.headers["/"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:7f00:1]", "169.254.169.254", "10.0.0.1"])
def test_refused_addresses(host: str) -> None:
    async def scene(gateway: Gateway, passage: Passage) -> None:
        credential = f"Proxy-Authorization: {passage.credential}\n"
        assert await said(gateway, f"GET http://{host}:81/ HTTP/1.1\n{credential}\n") == b""
        assert await said(gateway, f"CONNECT {host}:82 HTTP/1.1\n{credential}\n") == b""

    failures = play(scene).failures
    assert {failure.kind for failure in failures.values()} == {FailureKind.GUARD}
    assert {endpoint.port for endpoint in failures} == {81, 82}


@pytest.mark.parametrize(
    "asked",
    [
        "GET ftp://127.0.0.2/ HTTP/1.1",
        "GET / HTTP/1.1",
        "GET",
        "CONNECT :80 HTTP/1.1",
        "CONNECT 127.0.0.2:x HTTP/1.1",
        "\0",
    ],
)
def test_nonsense_is_closed(asked: str) -> None:
    async def scene(gateway: Gateway, passage: Passage) -> None:
        assert await said(gateway, f"{asked}\nProxy-Authorization: {passage.credential}\n\n") == b""

    assert not play(scene).addresses


def test_a_second_request_is_not_passed_on(site: Site) -> None:
    site.pages = {"/": Answer("hello")}

    async def scene(gateway: Gateway, passage: Passage) -> None:
        asked = f"GET {site.url}/ HTTP/1.1\nHost: x\nProxy-Authorization: {passage.credential}\n\n"
        await said(gateway, asked + asked)

    play(scene)
    assert len(site.asked) <= 1


def test_bytes_and_connections_are_counted(site: Site) -> None:
    site.pages = {"/": Answer("x" * 5000)}

    async def scene(gateway: Gateway, passage: Passage) -> None:
        asked = f"GET {site.url}/ HTTP/1.1\nHost: x\nProxy-Authorization: {passage.credential}\n\n"
        assert len(await said(gateway, asked)) < 5000
        assert await said(gateway, asked) == b""

    assert play(scene, max_bytes=3000).is_exhausted
    assert play(scene, max_connections=0).is_exhausted


def test_a_proxy_of_the_request_is_used_and_judged(site: Site) -> None:
    site.pages = {"/": Answer("hello")}

    async def scene(gateway: Gateway, passage: Passage) -> None:
        asked = f"GET {site.url}/ HTTP/1.1\nHost: x\nProxy-Authorization: {passage.credential}\n\n"
        tunnels: list[bytes] = []

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tunnels.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfrom the proxy")
            writer.close()

        server = await asyncio.start_server(proxy, ALLOWED, 0)
        port = server.sockets[0].getsockname()[1]
        passage.upstream = f"http://me:secret@{ALLOWED}:{port}"
        assert (await said(gateway, asked)).endswith(b"from the proxy")
        assert tunnels[0].startswith(f"CONNECT {site.url[7:]} HTTP/1.1\r\n".encode())
        assert b"Basic bWU6c2VjcmV0" in tunnels[0]
        passage.upstream = f"http://127.0.0.1:{port}"
        assert await said(gateway, asked) == b""
        server.close()

    failures = play(scene).failures
    assert [failure.kind for failure in failures.values()] == [FailureKind.GUARD]
    assert site.connections == 0
