"""Where the fetcher goes: guard, names, shared addresses and proxies, against real servers on loopback."""

from __future__ import annotations

import socket
import threading
from ipaddress import ip_network

import pytest

from crawler.fetch.client import Fetcher, fetch_one
from crawler.fetch.guard import Guard
from crawler.fetch.outcome import FailureKind, Request, Response
from crawler.fetch.resolver import Resolver
from tests.conformance.scripted_server import GOOD_BODY, ScriptedServer
from tests.unit.fetch.loopback import LOOPBACK, answer, failure_of, loopback_fetcher, page_of

# Guard.


def test_a_private_address_is_refused(server: ScriptedServer) -> None:
    fetcher = Fetcher(Guard(), user_agent="test")
    failure = failure_of(fetch_one(fetcher, Request(server.url("/good"))))
    fetcher.close()
    assert (failure.kind, failure.temporary) == (FailureKind.GUARD, False)
    assert server.connections == 0


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.1", "127.1"])
def test_other_spellings_of_an_address_are_refused(host: str, server: ScriptedServer) -> None:
    """libcurl understands them and our resolver does not; the socket is judged in the end."""
    fetcher = Fetcher(Guard(), user_agent="test", resolver=Resolver(Guard(), lookup=lambda host: ["1.1.1.1"]))
    failure = failure_of(fetch_one(fetcher, Request(server.url("/good", host=host), timeout_seconds=0.5)))
    fetcher.close()
    assert failure.kind in (FailureKind.GUARD, FailureKind.CONNECT, FailureKind.TIMEOUT)
    assert server.connections == 0


def test_the_socket_has_the_last_word(server: ScriptedServer) -> None:
    """Whatever a resolver says: here it lets through what the fetcher's guard does not."""
    fetcher = Fetcher(Guard([ip_network("127.0.0.2")]), user_agent="test", resolver=Resolver(LOOPBACK))
    failure = failure_of(fetch_one(fetcher, Request(server.url("/good"))))
    fetcher.close()
    assert failure.kind is FailureKind.GUARD
    assert server.connections == 0


def test_the_environment_sets_no_proxy(
    server: ScriptedServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert page_of(fetch_one(fetcher, Request(server.url("/good")))).body == GOOD_BODY


# Names.


def test_names_are_looked_up_once_and_pinned(server: ScriptedServer) -> None:
    asked: list[str] = []

    def lookup(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=lookup)) as fetcher:
        for _ in range(3):
            fetcher.start(Request(server.url("/good", host="example.test")), None)
        while fetcher.in_flight:
            assert all(isinstance(outcome, Response) for _, outcome in fetcher.wait(10))
        page_of(fetch_one(fetcher, Request(server.url("/good", host="example.test"))))
    assert asked == ["example.test"]
    assert b"Host: example.test:" in server.requests[0]


@pytest.mark.parametrize("host", ["example.test.", "under_score.test", "xn--bcher-kva.test", "1.test"])
def test_odd_names_are_pinned_too(host: str, server: ScriptedServer) -> None:
    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=lambda host: ["127.0.0.1"])) as fetcher:
        page = page_of(fetch_one(fetcher, Request(server.url("/good", host=host))))
        assert page.sent + b"\r\n" == server.requests[0]


def test_a_name_that_moves_is_followed(server: ScriptedServer) -> None:
    places = iter([["127.0.0.1"], ["127.0.0.2"]])
    resolver = Resolver(LOOPBACK, lookup=lambda host: next(places))
    with loopback_fetcher(resolver=resolver) as fetcher:
        bye = server.serve("/bye", [answer("Connection: close\r\n")]).replace("127.0.0.1", "moving.test")
        assert page_of(fetch_one(fetcher, Request(bye))).address == "127.0.0.1"
        resolver.known.clear()  # as if its time had passed
        fetcher._origins.by_prefix.clear()
        assert failure_of(fetch_one(fetcher, Request(bye))).kind is FailureKind.CONNECT  # nobody listens there
        assert server.connections == 1


def test_a_lookup_that_hangs_is_given_up(server: ScriptedServer, fetcher: Fetcher) -> None:
    go_on = threading.Event()

    def lookup(host: str) -> list[str]:
        go_on.wait(10)
        return ["127.0.0.1"]

    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=lookup, lookup_seconds=0.05)) as slow:
        failure = failure_of(fetch_one(slow, Request("http://example.test/")))
        go_on.set()
        slow.wait(0.1)  # what comes late wakes nobody
        assert slow.wait(0) == []
    assert (failure.kind, failure.temporary) == (FailureKind.DNS, True)


# Addresses shared by hosts.


class Counting(ScriptedServer):
    """Knows how many requests it had in hand at once; each takes a moment, so that there could be many."""

    at_once = most_at_once = 0

    def _play(self, connection: socket.socket, path: str) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.stopping.wait(0.01)
        self.at_once -= 1
        super()._play(connection, path)

    def __enter__(self) -> Counting:
        return self


def test_requests_to_one_address_are_limited() -> None:
    resolver = Resolver(LOOPBACK, lookup=lambda host: ["127.0.0.1"])
    with Counting() as server, loopback_fetcher(resolver=resolver, per_address=2) as fetcher:
        for number in range(10):
            fetcher.start(Request(server.url("/good", host=f"host-{number}.test")), number)
        finished = []
        while fetcher.in_flight:
            finished += fetcher.wait(10)
        assert server.most_at_once <= 2
    assert sorted(ticket for ticket, _ in finished) == list(range(10))


# Proxies.


def test_a_page_by_proxy(server: ScriptedServer) -> None:
    url = "http://far.test/page"
    server.serve(url, [answer(body=b"by proxy")])
    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=lambda host: ["127.0.0.1"])) as fetcher:
        page = page_of(fetch_one(fetcher, Request(url, proxy=f"http://127.0.0.1:{server.port}")))
        assert page.body == b"by proxy"
        assert server.requests[0].startswith(b"GET http://far.test/page HTTP/1.1\r\nHost: far.test\r\n")
        assert page_of(fetch_one(fetcher, Request(server.url("/good")))).body == GOOD_BODY


def test_a_proxy_that_refuses(server: ScriptedServer) -> None:
    server.serve("far.test:443", [{"send": b"HTTP/1.1 403 Forbidden\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"}])
    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=lambda host: ["127.0.0.1"])) as fetcher:
        failure = failure_of(fetch_one(fetcher, Request("https://far.test/", proxy=f"127.0.0.1:{server.port}")))
        assert (failure.kind, failure.is_hosts_fault) == (FailureKind.PROXY, False)


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "ftp://127.0.0.1", "http://:"])
def test_a_proxy_that_is_not_there(proxy: str, fetcher: Fetcher) -> None:
    failure = failure_of(fetch_one(fetcher, Request("http://127.0.0.1/", proxy=proxy)))
    assert failure.kind is FailureKind.PROXY


def test_proxies_pass_the_guard_and_so_do_targets_behind_them(server: ScriptedServer) -> None:
    lookup = {"public.test": ["1.1.1.1"], "private.test": ["10.0.0.1"], "proxy.test": ["127.0.0.1"]}.__getitem__
    strict = Fetcher(Guard(), user_agent="test", resolver=Resolver(Guard(), lookup=lookup))
    failure = failure_of(fetch_one(strict, Request("http://public.test/", proxy=f"http://proxy.test:{server.port}")))
    strict.close()
    assert (failure.kind, server.connections) == (FailureKind.GUARD, 0)
    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=lookup)) as fetcher:
        request = Request("http://private.test/", proxy=f"http://proxy.test:{server.port}")
        assert failure_of(fetch_one(fetcher, request)).kind is FailureKind.GUARD
    assert server.connections == 0


def test_a_proxy_may_know_names_that_we_do_not(server: ScriptedServer) -> None:
    def lookup(host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    server.serve("http://inside.test/", [answer(body=b"inside")])
    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=lookup)) as fetcher:
        request = Request("http://inside.test/", proxy=f"http://127.0.0.1:{server.port}")
        assert page_of(fetch_one(fetcher, request)).body == b"inside"
