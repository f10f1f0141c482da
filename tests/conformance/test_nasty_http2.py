"""HTTP/2 servers that misbehave: the URL fails or is flagged, the host goes on being fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from crawler.fetch.client import Fetcher, fetch_one
from crawler.fetch.outcome import Failure, FailureKind, Request, Response, Truncation
from crawler.fetch.resolver import Resolver
from tests.conformance import http2_server, vectors
from tests.conformance.http2_server import BODY, Http2Server, Way
from tests.unit.fetch.loopback import LOOPBACK, loopback_fetcher

ROWS = {row["name"] for row in vectors.rows("nasty_servers.jsonl") if row["category"] == "http2"}
TRIED: dict[str, Way] = {
    "h2 RST_STREAM instead of answer": http2_server.reset,
    "h2 data then RST_STREAM": http2_server.reset_after_data,
    "h2 GOAWAY": http2_server.go_away,
    "h2 oversize frame": http2_server.oversize_frame,
    "h2 PUSH_PROMISE": http2_server.push,
}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def fetcher(authority: trustme.CA, tmp_path: Path) -> Iterator[Fetcher]:
    trusted = tmp_path / "trusted.pem"
    authority.cert_pem.write_to_path(trusted)
    resolver = Resolver(LOOPBACK, lookup=lambda host: ["127.0.0.1"])
    with loopback_fetcher(resolver=resolver, ca_file=str(trusted)) as made:
        yield made


def test_a_good_page(authority: trustme.CA, fetcher: Fetcher) -> None:
    with Http2Server(authority, http2_server.good) as server:
        page = fetch_one(fetcher, Request(server.url))
    assert isinstance(page, Response), page
    assert (page.status, page.body, page.truncated) == (200, BODY, None)
    assert page.header_block.startswith(b"HTTP/2 200")
    assert page.headers == {"content-type": "text/html"}


def test_a_reset_stream_fails_that_url(authority: trustme.CA, fetcher: Fetcher) -> None:
    with Http2Server(authority, http2_server.reset) as server:
        outcome = fetch_one(fetcher, Request(server.url))
    assert isinstance(outcome, Failure)
    assert outcome.kind in (FailureKind.PROTOCOL, FailureKind.INCOMPLETE)
    assert not outcome.is_hosts_fault


def test_a_body_cut_by_a_reset_is_flagged(authority: trustme.CA, fetcher: Fetcher) -> None:
    with Http2Server(authority, http2_server.reset_after_data) as server:
        page = fetch_one(fetcher, Request(server.url))
    assert isinstance(page, Response), page
    assert (page.body, page.truncated) == (BODY, Truncation.INCOMPLETE)


def test_what_a_leaving_server_did_not_look_at_is_asked_again(authority: trustme.CA, fetcher: Fetcher) -> None:
    with Http2Server(authority, http2_server.go_away, http2_server.good) as server:
        page = fetch_one(fetcher, Request(server.url))
        assert isinstance(page, Response), page
        assert (page.body, server.connections) == (BODY, 2)


@pytest.mark.parametrize("way", [http2_server.oversize_frame, http2_server.push])
def test_forbidden_frames_end_the_connection(way: Way, authority: trustme.CA, fetcher: Fetcher) -> None:
    with Http2Server(authority, way) as server:
        outcome = fetch_one(fetcher, Request(server.url))
    assert isinstance(outcome, Failure), outcome
    assert not outcome.is_hosts_fault


@pytest.mark.parametrize("way", TRIED.values(), ids=TRIED.keys())
def test_the_next_page_comes(way: Way, authority: trustme.CA, fetcher: Fetcher) -> None:
    with Http2Server(authority, way, http2_server.good) as server:
        fetch_one(fetcher, Request(server.url))
    with Http2Server(authority, http2_server.good) as server:
        page = fetch_one(fetcher, Request(server.url))
    assert isinstance(page, Response), page
    assert page.body == BODY


def test_every_row_is_tried() -> None:
    assert ROWS <= set(TRIED)
