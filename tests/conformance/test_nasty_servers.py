"""Bad servers, replayed on loopback: each is answered by a page or a recorded failure, and the next page still comes.

`EXPECTED` says what we make of each scripted row. Rows without a script are TLS (test_nasty_tls.py), HTTP/2
(test_nasty_http2.py), DNS (below) or somebody else's, who is named in `ELSEWHERE`.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from crawler.fetch.client import Fetcher, fetch_one
from crawler.fetch.decoding import decode
from crawler.fetch.outcome import Failure, FailureKind, Request, Response, Truncation
from crawler.fetch.resolver import Resolver
from tests.conformance import vectors
from tests.conformance.scripted_server import GOOD_BODY, ScriptedServer
from tests.unit.fetch.loopback import LOOPBACK, loopback_fetcher

ROWS = vectors.rows("nasty_servers.jsonl")
SCRIPTED = [row for row in ROWS if row["steps"]]
BODY_LIMIT = 65_536
# The first is less than the shortened pauses of a slow script add up to; the second is never reached.
SLOW_TIMEOUT_SECONDS, TIMEOUT_SECONDS = 0.3, 30.0

PROTOCOL, HEADERS, TIMEOUT, CONNECT = (
    FailureKind.PROTOCOL,
    FailureKind.HEADERS,
    FailureKind.TIMEOUT,
    FailureKind.CONNECT,
)
LENGTH, INCOMPLETE = Truncation.LENGTH, Truncation.INCOMPLETE


class Page(NamedTuple):
    status: int
    size: int
    truncated: Truncation | None = None


SMALL_PAGE = Page(200, 28)
EXPECTED: dict[str, Page | FailureKind] = {
    "no reason phrase": Page(200, 0),
    "empty reason with trailing space": SMALL_PAGE,
    "colon after status": SMALL_PAGE,
    "no status line at all (HTTP/0.9 style)": PROTOCOL,
    "HTTP 1.1 without slash": PROTOCOL,
    "bad status line: bad protocol name": PROTOCOL,
    "bad status line: bad version number": PROTOCOL,
    "bad status line: garbage": PROTOCOL,
    "bad status line: code under 100": PROTOCOL,
    "bad status line: code not a number": PROTOCOL,
    "TLS record on an http port": PROTOCOL,
    "8 kB+ reason phrase": HEADERS,
    "endless 1xx": HEADERS,
    "103 Early Hints then 200": SMALL_PAGE,
    "bare LF line ends": Page(200, 5),
    "folded header": SMALL_PAGE,
    "header line without colon": PROTOCOL,
    "NUL in header value": PROTOCOL,
    "non-ASCII header bytes": Page(200, 2),
    "80 headers of 10 kB each": HEADERS,
    "header block that never ends": TIMEOUT,
    "duplicate Content-Length, same value": SMALL_PAGE,
    "conflicting Content-Length": PROTOCOL,
    "Content-Length with Transfer-Encoding": Page(200, 5),
    "Content-Length not a number": PROTOCOL,
    "huge Content-Length": Page(200, 15, INCOMPLETE),
    "misspelt Client-Transfer-Encoding": SMALL_PAGE,
    "lying Content-Type": Page(200, 8),
    "HTML served as application/pdf": SMALL_PAGE,
    "short body, Content-Length too long, FIN": Page(200, 16, INCOMPLETE),
    "short body then RST": Page(200, 32, INCOMPLETE),
    "accept then RST": CONNECT,
    "headers then hang": TIMEOUT,
    "one byte per second for ever": TIMEOUT,
    "exactly at, one below, one above the limit": Page(200, BODY_LIMIT, LENGTH),
    "body on 204": Page(204, 0),
    "body on HEAD": Page(200, 0),
    "pipelined junk after body": Page(200, 2),
    "keep-alive closed under us": Page(200, 2),
    "empty 200": Page(200, 0),
    "missing terminating chunk": Page(200, 16, INCOMPLETE),
    "chunk size not hex": Page(302, 0, INCOMPLETE),  # its Location is followed all the same
    "space after chunk size": Page(200, 5),
    # libcurl ignores what follows a chunk's size, and a chunk of size 0 is the end: an empty page.
    "bad chunk: LF missing after size": Page(200, 0),
    "bad chunk: underscore in size": Page(200, 0),
    "bad chunk: LF missing after data": Page(200, 5, INCOMPLETE),
    "bad chunk: data longer than size": Page(200, 5, INCOMPLETE),
    "chunk-size line of 1 MB": Page(200, 5),  # read and thrown away piece by piece
    "80 kB in 1 kB chunks over a 64 kB limit": Page(200, BODY_LIMIT, LENGTH),
    "TE: notchunked": PROTOCOL,
    "trailers": Page(200, 2),
    "gzip bomb": Page(200, 27_988),
    "nested encodings": Page(200, 8_014),
    "says gzip, is not": SMALL_PAGE,
    "truncated gzip": Page(200, 5_134),
    "unknown coding": Page(200, 4),
    "unasked coding": Page(200, 4_027),
    "204 with Content-Encoding: gzip": Page(204, 0),
    "to non-HTTP scheme": Page(302, 0),
    "to a private address": Page(302, 0),
    "raw UTF-8 / Latin-1 Location": Page(302, 0),
    "meta refresh loop": Page(200, 48),
    "Refresh header": Page(200, 0),
}

ENGINE, ROBOTS, TRAPS = "the engine's redirect tests", "the engine's robots tests", "the engine's gate and trap tests"
POLITENESS, SITEMAPS, LINKS = "tests/unit/fetch/test_politeness.py", "tests/unit/web/test_sitemaps.py", "tests/unit/web"
ELSEWHERE = {
    "two-step loop": ENGINE,
    "growing loop": ENGINE,
    "drops credentials across hosts": ENGINE,
    "301 to robots-disallowed URL": ENGINE,
    "robots.txt 5xx": ROBOTS,
    "robots.txt 429": ROBOTS,
    "robots.txt redirect chain": ROBOTS,
    "robots.txt >500 KiB": ROBOTS,
    "robots.txt cached": ROBOTS,
    "robots.txt is HTML": ROBOTS,
    "calendar trap": TRAPS,
    "session id in path": TRAPS,
    "soft 404": TRAPS,
    "faceted combinatorics": TRAPS,
    "10,000 host names": TRAPS,
    "deep nesting": LINKS,
    "1 MB single URL": LINKS,
    "huge sitemap index": SITEMAPS,
    "XML billion laughs in sitemap": SITEMAPS,
    "robots crawl-delay 86400": POLITENESS,
    "Retry-After: 999999999": POLITENESS,
    "429 storm": POLITENESS,
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(files=vectors.folder()) as started:
        yield started


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    with loopback_fetcher() as made:
        yield made


def replayed(row: dict[str, Any], server: ScriptedServer, fetcher: Fetcher) -> Response | Failure:
    url = server.serve("/nasty", row["steps"])
    method = "HEAD" if row["name"] == "body on HEAD" else "GET"
    seconds = SLOW_TIMEOUT_SECONDS if EXPECTED.get(row["name"]) == TIMEOUT else TIMEOUT_SECONDS
    request = Request(url, timeout_seconds=seconds, max_body_bytes=BODY_LIMIT, method=method)
    return fetch_one(fetcher, request)


def assert_next_page_comes(server: ScriptedServer, fetcher: Fetcher) -> None:
    page = fetch_one(fetcher, Request(server.url("/good")))
    assert isinstance(page, Response), page
    assert (page.status, page.body) == (200, GOOD_BODY)


@pytest.mark.parametrize("row", SCRIPTED, ids=lambda row: row["name"])
def test_scripted(row: dict[str, Any], server: ScriptedServer, fetcher: Fetcher) -> None:
    outcome = replayed(row, server, fetcher)
    if isinstance(outcome, Response):
        assert EXPECTED[row["name"]] == Page(outcome.status, len(outcome.body), outcome.truncated)
        assert "\0" not in "".join(outcome.headers.values())
    else:
        assert EXPECTED[row["name"]] == outcome.kind, outcome
    assert_next_page_comes(server, fetcher)


@pytest.mark.parametrize("name", [name for name, kind in EXPECTED.items() if kind == PROTOCOL])
def test_an_odd_answer_is_not_held_against_the_host(name: str, server: ScriptedServer, fetcher: Fetcher) -> None:
    outcome = replayed(named(name), server, fetcher)
    assert isinstance(outcome, Failure)
    assert not (outcome.is_hosts_fault or outcome.temporary)


def test_every_row_is_somebodys() -> None:
    here = {*EXPECTED, *ELSEWHERE, *DNS_ROWS}
    others = {row["name"] for row in ROWS if row["category"] in ("tls", "http2")}
    assert {row["name"] for row in ROWS} <= here | others


# What the rows say beyond status, size and truncation.


def named(name: str) -> dict[str, Any]:
    return next(row for row in ROWS if row["name"] == name)


def page_of(name: str, server: ScriptedServer, fetcher: Fetcher) -> Response:
    outcome = replayed(named(name), server, fetcher)
    assert isinstance(outcome, Response), outcome
    return outcome


def test_folded_lines_are_joined_by_one_space(server: ScriptedServer, fetcher: Fetcher) -> None:
    page = page_of("folded header", server, fetcher)
    assert page.headers["set-cookie"] == "UserID=JohnDoe; Max-Age=3600; Version=1"


def test_header_bytes_survive(server: ScriptedServer, fetcher: Fetcher) -> None:
    page = page_of("non-ASCII header bytes", server, fetcher)
    assert b"x-test:\xd1\x82\xd0\xb5\xd1\x81\xd1\x82\r\n" in page.header_block
    assert page.headers["location-hint"] == "\xe9\xff"


def test_interim_answers_and_trailers_are_no_headers(server: ScriptedServer, fetcher: Fetcher) -> None:
    assert "link" not in page_of("103 Early Hints then 200", server, fetcher).headers
    assert "x-t" not in page_of("trailers", server, fetcher).headers


@pytest.mark.parametrize(
    "name",
    ["pipelined junk after body", "body on 204", "body on HEAD", "Content-Length with Transfer-Encoding"],
)
def test_a_poisoned_connection_is_not_used_again(name: str, server: ScriptedServer, fetcher: Fetcher) -> None:
    row = named(name)
    replayed(row | {"steps": [step for step in row["steps"] if "close" not in step]}, server, fetcher)
    assert_next_page_comes(server, fetcher)
    assert server.connections == 2


def test_locations_beyond_ascii_keep_their_bytes(server: ScriptedServer, fetcher: Fetcher) -> None:
    assert page_of("raw UTF-8 / Latin-1 Location", server, fetcher).location == "/caf%E9"


def test_the_address_a_redirect_leads_to_is_refused(server: ScriptedServer, fetcher: Fetcher) -> None:
    location = page_of("to a private address", server, fetcher).location
    refused = fetch_one(fetcher, Request(str(location)))
    assert isinstance(refused, Failure)
    assert (refused.kind, refused.temporary) == (FailureKind.GUARD, False)


def test_other_schemes_are_not_fetched(server: ScriptedServer, fetcher: Fetcher) -> None:
    location = page_of("to non-HTTP scheme", server, fetcher).location
    for url in (str(location), "ftp://127.0.0.1/", "javascript:alert(1)", "mailto:a@example.org"):
        refused = fetch_one(fetcher, Request(url))
        assert isinstance(refused, Failure)
        assert refused.kind is FailureKind.URL


@pytest.mark.parametrize(
    ("name", "size", "is_fine"),
    [
        ("gzip bomb", 1_000_000, False),
        ("nested encodings", 74_837, True),
        ("says gzip, is not", 28, False),
        ("truncated gzip", 8_576, False),
        ("unknown coding", 4, False),
        ("unasked coding", 74_837, True),
        ("204 with Content-Encoding: gzip", 0, True),
    ],
)
def test_decoding(name: str, size: int, is_fine: bool, server: ScriptedServer, fetcher: Fetcher) -> None:
    page = page_of(name, server, fetcher)
    result = decode(page.body, page.headers["content-encoding"], max_bytes=1_000_000)
    assert (len(result.body), result.error is None) == (size, is_fine)


# Names.

DNS_ROWS = frozenset(row["name"] for row in ROWS if row["category"] == "dns")
ANSWERS: dict[str, list[str] | Exception] = {
    "nxdomain.test": socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
    "servfail.test": socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    "any.test": ["0.0.0.0"],
    "private.test": ["10.0.0.1"],
    "rebinding.test": ["93.184.216.34", "10.0.0.1"],
    "six.test": ["::1"],
    "dead-first.test": ["127.0.0.2", "127.0.0.1"],
}


def looked_up(host: str) -> list[str]:
    answer = ANSWERS[host]
    if isinstance(answer, Exception):
        raise answer
    return answer


@pytest.fixture
def naming_fetcher() -> Iterator[Fetcher]:
    with loopback_fetcher(resolver=Resolver(LOOPBACK, lookup=looked_up)) as made:
        yield made


@pytest.mark.parametrize(
    ("host", "kind", "temporary"),
    [
        ("nxdomain.test", FailureKind.DNS, False),
        ("servfail.test", FailureKind.DNS, True),
        ("any.test", FailureKind.GUARD, False),
        ("private.test", FailureKind.GUARD, False),
        ("rebinding.test", FailureKind.GUARD, False),
        ("a" * 64 + ".test", FailureKind.DNS, False),
        (".".join(["a" * 49] * 6), FailureKind.DNS, False),
    ],
)
def test_names_that_lead_nowhere(host: str, kind: FailureKind, temporary: bool, naming_fetcher: Fetcher) -> None:
    outcome = fetch_one(naming_fetcher, Request(f"http://{host}/"))
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.temporary) == (kind, temporary)


def test_one_dead_address_of_two(server: ScriptedServer, naming_fetcher: Fetcher) -> None:
    outcome = fetch_one(naming_fetcher, Request(server.url("/good", host="dead-first.test")))
    assert isinstance(outcome, Response), outcome
    assert outcome.address == "127.0.0.1"


def test_names_with_ipv6_addresses_only(naming_fetcher: Fetcher) -> None:
    """A page where there is IPv6, else a recorded failure."""
    try:
        server = ScriptedServer(host="::1")
    except OSError:
        outcome = fetch_one(naming_fetcher, Request("http://six.test:9/"))
        assert isinstance(outcome, Failure)
        return
    with server:
        page = fetch_one(naming_fetcher, Request(server.url("/good", host="six.test")))
        assert isinstance(page, Response)
        assert page.address == "::1"
