"""TLS servers of the bad kinds that badssl.com shows: refused with the reason, and the next page still comes."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from crawler.fetch.client import Fetcher, fetch_one
from crawler.fetch.outcome import Failure, FailureKind, Request, Response
from crawler.fetch.resolver import Resolver
from tests.conformance import tls_servers, vectors
from tests.conformance.scripted_server import GOOD_BODY, ScriptedServer
from tests.conformance.tls_servers import HOST
from tests.unit.fetch.loopback import LOOPBACK, loopback_fetcher

ROWS = {row["name"] for row in vectors.rows("nasty_servers.jsonl") if row["category"] == "tls"}
NOT_REPLAYED = {
    "sha1 intermediate": "OpenSSL refuses such signatures at its default security level; nothing here can make one",
    "mixed content page": "tests/unit/web/test_links.py: links are taken whatever their scheme",
    "HSTS preload host over http": "optional; we ask for what the page wrote",
}

Context = Callable[[trustme.CA, Path], ssl.SSLContext]
REFUSED: dict[str, list[Context]] = {
    "expired certificate": [lambda authority, _: tls_servers.expired(authority)],
    "wrong host certificate": [lambda authority, _: tls_servers.server_context(authority.issue_cert("other.test"))],
    "self-signed certificate": [lambda _, folder: tls_servers.self_signed(folder)],
    "untrusted root": [lambda *_: tls_servers.server_context(trustme.CA().issue_cert(HOST))],
    "rc4, 3des, null cipher suites": [lambda authority, _: tls_servers.only_ciphers(authority, "NULL")],
    "dh480, dh512 small subgroup": [tls_servers.with_small_dh_group],
    "TLS 1.0 / 1.1 only": [
        lambda authority, _: tls_servers.only_version(authority, ssl.TLSVersion.TLSv1),
        lambda authority, _: tls_servers.only_version(authority, ssl.TLSVersion.TLSv1_1),
    ],
    "SNI mismatch / no SNI support": [lambda authority, _: tls_servers.refusing_the_name(authority)],
    "1000 SANs / 10000 SANs certificate": [lambda authority, _: tls_servers.with_many_names(authority, 10_000)],
}
CASES = [(name, context) for name, contexts in REFUSED.items() for context in contexts]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def fetcher(authority: trustme.CA, tmp_path: Path) -> Iterator[Fetcher]:
    trusted = tmp_path / "trusted.pem"
    authority.cert_pem.write_to_path(trusted)
    resolver = Resolver(LOOPBACK, lookup=lambda host: ["127.0.0.1"])
    with loopback_fetcher(resolver=resolver, ca_file=str(trusted), connect_seconds=5) as made:
        yield made


def assert_next_page_comes(authority: trustme.CA, fetcher: Fetcher) -> None:
    with ScriptedServer(tls=tls_servers.server_context(authority.issue_cert(HOST))) as good:
        page = fetch_one(fetcher, Request(good.url("/good", host=HOST)))
    assert isinstance(page, Response), page
    assert page.body == GOOD_BODY


@pytest.mark.parametrize(("name", "context"), CASES, ids=[name for name, _ in CASES])
def test_refused(name: str, context: Context, authority: trustme.CA, fetcher: Fetcher, tmp_path: Path) -> None:
    with ScriptedServer(tls=context(authority, tmp_path)) as server:
        outcome = fetch_one(fetcher, Request(server.url("/good", host=HOST)))
    assert isinstance(outcome, Failure), outcome
    assert (outcome.kind, outcome.temporary) == (FailureKind.TLS, False), outcome
    assert len(outcome.message) > 10
    assert_next_page_comes(authority, fetcher)


def test_a_handshake_that_hangs_is_given_up(authority: trustme.CA, fetcher: Fetcher) -> None:
    with ScriptedServer() as silent:  # waits for a request line that never comes
        url = silent.url("/", host=HOST).replace("http:", "https:")
        outcome = fetch_one(fetcher, Request(url, timeout_seconds=0.2))
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.temporary) == (FailureKind.TIMEOUT, True)
    assert_next_page_comes(authority, fetcher)


def test_a_thousand_names_are_fine(authority: trustme.CA, fetcher: Fetcher) -> None:
    with ScriptedServer(tls=tls_servers.with_many_names(authority, 1_000)) as server:
        assert isinstance(fetch_one(fetcher, Request(server.url("/good", host=HOST))), Response)


def test_verification_can_be_turned_off(tmp_path: Path) -> None:
    resolver = Resolver(LOOPBACK, lookup=lambda host: ["127.0.0.1"])
    server = ScriptedServer(tls=tls_servers.self_signed(tmp_path))
    with server, loopback_fetcher(resolver=resolver, verify_tls=False) as fetcher:
        assert isinstance(fetch_one(fetcher, Request(server.url("/good", host=HOST))), Response)


def test_every_row_is_tried_or_explained() -> None:
    assert ROWS <= {*REFUSED, *NOT_REPLAYED, "handshake hang"}
