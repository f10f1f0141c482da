"""The fetcher against real servers on loopback. What bad ones do is in tests/conformance/test_nasty_servers.py."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Mapping

import pytest

from crawler.fetch.client import Fetcher, fetch_one
from crawler.fetch.multi import affordable_connections
from crawler.fetch.outcome import FailureKind, Request, Response, Truncation
from tests.conformance.scripted_server import GOOD, GOOD_BODY, Ended, ScriptedServer
from tests.unit.fetch.loopback import answer, failure_of, loopback_fetcher, page_of


def test_a_page(server: ScriptedServer, fetcher: Fetcher) -> None:
    page = page_of(fetch_one(fetcher, Request(server.url("/good"))))
    assert (page.url, page.status, page.body, page.truncated) == (server.url("/good"), 200, GOOD_BODY, None)
    assert page.header_block + b"\r\n\r\n" + GOOD_BODY == GOOD
    assert page.headers == {"content-type": "text/html", "content-length": str(len(GOOD_BODY))}
    assert page.address == "127.0.0.1"
    assert 0 < page.first_byte_seconds <= page.seconds < 10


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_was_sent_is_told_as_it_was_sent(method: str, server: ScriptedServer, fetcher: Fetcher) -> None:
    url = server.serve("/a/../b?c=%20d", [answer()])
    headers = (("If-None-Match", '"\xe9"'), ("accept", "text/plain"))
    page = page_of(fetch_one(fetcher, Request(f"{url}#fragment", headers=headers, method=method)))
    assert server.requests == [page.sent + b"\r\n"]
    assert page.sent.startswith(f"{method} /a/../b?c=%20d HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n".encode())
    assert b'If-None-Match: "\xe9"\r\naccept: text/plain\r\n' in page.sent
    assert b"Accept: " not in page.sent
    assert b"User-Agent: crawlspace-test/1\r\n" in page.sent


def test_headers_do_not_stick_to_a_handle(server: ScriptedServer, fetcher: Fetcher) -> None:
    fetch_one(fetcher, Request(server.url("/good"), headers=(("X-Once", "1"),), method="HEAD"))
    page = page_of(fetch_one(fetcher, Request(server.url("/good"))))
    assert (page.body, b"X-Once" in server.requests[1]) == (GOOD_BODY, False)


def test_connections_are_kept_alive(server: ScriptedServer, fetcher: Fetcher) -> None:
    for _ in range(5):
        page_of(fetch_one(fetcher, Request(server.url("/good"))))
    assert (len(server.requests), server.connections) == (5, 1)


class ClosesUnderUs(ScriptedServer):
    """Answers the first request of every connection and hangs up on the second."""

    def _play(self, connection: socket.socket, path: str) -> None:
        if len(self.requests) > self.connections:
            self.requests.pop()
            raise Ended
        super()._play(connection, path)


def test_a_connection_closed_under_us_is_replaced(fetcher: Fetcher) -> None:
    with ClosesUnderUs() as server:
        for _ in range(3):
            assert page_of(fetch_one(fetcher, Request(server.url("/good")))).body == GOOD_BODY
        assert server.connections == 3


def test_many_at_once(server: ScriptedServer, fetcher: Fetcher) -> None:
    for number in range(50):
        fetcher.start(Request(server.url("/good")), number)
    assert fetcher.in_flight == 50
    finished = []
    while fetcher.in_flight:
        finished += fetcher.wait(10)
    assert sorted(ticket for ticket, _ in finished) == list(range(50))
    assert all(page_of(outcome).body == GOOD_BODY for _, outcome in finished)


def test_connections_are_bounded(server: ScriptedServer) -> None:
    with loopback_fetcher(max_connections=3) as fetcher:
        for number in range(20):
            fetcher.start(Request(server.url("/good")), number)
        while fetcher.in_flight:
            assert all(isinstance(outcome, Response) for _, outcome in fetcher.wait(10))
    assert server.connections <= 3


def test_no_more_connections_than_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1024, 2048))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: asked.append(limits))
    assert affordable_connections(500) == 500
    assert (affordable_connections(1000), asked) == (1000, [(1256, 2048)])
    assert affordable_connections(4096) == 2048 - 256


def test_waiting_for_nothing_ends_at_the_timeout(fetcher: Fetcher) -> None:
    assert fetcher.wait(0) == []
    assert fetcher.wait(0.01) == []


def test_a_watched_descriptor_ends_a_wait(fetcher: Fetcher) -> None:
    reading, writing = os.pipe()
    fetcher.watch(reading)
    os.write(writing, b"x")
    assert fetcher.wait(60) == []
    os.read(reading, 1)
    fetcher.unwatch(reading)
    os.write(writing, b"x")
    assert fetcher.wait(0.01) == []
    os.close(reading)
    os.close(writing)


def test_a_watched_descriptor_may_have_been_a_connections(server: ScriptedServer, fetcher: Fetcher) -> None:
    """Numbers are used again: the pipe's was a connection that epoll still seemed to watch."""
    fetch_one(fetcher, Request(server.serve("/bye", [answer("Connection: close\r\n")])))
    pipes = [os.pipe() for _ in range(8)]
    for reading, writing in pipes:
        fetcher.watch(reading)
        os.write(writing, b"x")
    assert fetcher.wait(60) == []
    assert fetcher.wait(60) == []
    for reading, writing in pipes:
        fetcher.unwatch(reading)
        os.close(reading)
        os.close(writing)
    assert page_of(fetch_one(fetcher, Request(server.url("/good")))).body == GOOD_BODY


@pytest.mark.parametrize(("size", "truncated"), [(999, None), (1_000, None), (1_001, Truncation.LENGTH)])
def test_the_body_is_cut_at_its_limit(
    size: int, truncated: Truncation | None, server: ScriptedServer, fetcher: Fetcher
) -> None:
    url = server.serve("/page", [answer(body=b"x" * size)])
    page = page_of(fetch_one(fetcher, Request(url, max_body_bytes=1_000)))
    assert (len(page.body), page.truncated) == (min(size, 1_000), truncated)


def test_a_large_body_comes_whole(server: ScriptedServer, fetcher: Fetcher) -> None:
    body = os.urandom(3_000_000)
    assert page_of(fetch_one(fetcher, Request(server.serve("/large", [answer(body=body)])))).body == body


def test_an_unwanted_body_is_not_read(server: ScriptedServer, fetcher: Fetcher) -> None:
    seen: list[tuple[int, Mapping[str, str]]] = []

    def wants(status: int, headers: Mapping[str, str]) -> bool:
        seen.append((status, headers))
        return headers["content-type"] == "text/html"

    url = server.serve("/video", [answer("Content-Type: video/mp4\r\n", b"x" * 100_000), {"hang": True}])
    page = page_of(fetch_one(fetcher, Request(url, wants_body=wants)))
    assert (page.status, page.body, page.truncated) == (200, b"", Truncation.UNWANTED)
    assert seen == [(200, page.headers)]
    page = page_of(fetch_one(fetcher, Request(server.url("/good"), wants_body=wants)))
    assert (page.body, page.truncated) == (GOOD_BODY, None)


def test_a_stall_is_a_timeout(server: ScriptedServer) -> None:
    """The shortest stall there is lasts a second: libcurl counts in whole ones."""
    url = server.serve("/stall", [{"send": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"}, {"hang": True}])
    with loopback_fetcher(stall_seconds=1) as fetcher:
        failure = failure_of(fetch_one(fetcher, Request(url, timeout_seconds=60)))
    assert (failure.kind, failure.temporary, failure.is_hosts_fault) == (FailureKind.TIMEOUT, True, True)


def test_nobody_listens(fetcher: Fetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    failure = failure_of(fetch_one(fetcher, Request(f"http://127.0.0.1:{port}/")))
    assert (failure.kind, failure.temporary, failure.is_hosts_fault) == (FailureKind.CONNECT, True, True)


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://user:secret@127.0.0.1/"),
        Request("http://127.0.0.1/\u00e9"),
        Request("http://127.0.0.1/a b"),
        Request("http://127.0.0.1/a\0b"),
        Request("http://127.0.0.1/", headers=(("X", "a\r\nY: b"),)),
        Request("http://127.0.0.1/", headers=(("X", "\u20ac"),)),
        Request("nonsense"),
    ],
    ids=lambda request: f"{request.url} {request.headers}"[:60],
)
def test_what_cannot_be_asked_is_a_failure(request_: Request, server: ScriptedServer, fetcher: Fetcher) -> None:
    failure = failure_of(fetch_one(fetcher, request_))
    assert (failure.kind, failure.temporary) == (FailureKind.URL, False)
    assert page_of(fetch_one(fetcher, Request(server.url("/good")))).body == GOOD_BODY


# The end.


def test_closing_in_the_middle(server: ScriptedServer) -> None:
    with loopback_fetcher() as fetcher:
        fetcher.start(Request(server.serve("/hang", [{"hang": True}])), None)
        fetcher.start(Request("http://never-asked.test/"), None)
        fetcher.wait(0.01)


def test_descriptors_do_not_leak(server: ScriptedServer) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    for _ in range(3):
        with loopback_fetcher() as fetcher:
            fetch_one(fetcher, Request(server.url("/good")))
            fetch_one(fetcher, Request(server.serve("/bye", [answer("Connection: close\r\n")])))
    for connection in list(server.open):
        connection.close()
    assert count() <= before + 1
