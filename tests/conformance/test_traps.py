"""The gate against those traps and redirects of nasty_servers.jsonl that are URLs, and against real sites."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.engine.gate import Gate
from crawler.engine.refusals import Reason
from crawler.engine.scope import Scope
from crawler.web.hosts import canonical_domain
from crawler.web.robots import Robots
from crawler.web.urls import normalize
from tests.conformance import vectors

NOW = datetime(2026, 11, 15, tzinfo=UTC).timestamp()
SITE = "http://trap.example"
ROWS = {row["name"]: row for row in vectors.rows("nasty_servers.jsonl") if row["category"] in ("trap", "redirect")}
FOLDER = vectors.folder()
CORPORA = sorted(FOLDER.glob("corpus_*_reachable.txt")) if FOLDER else []


def gate() -> Gate:
    opened = Gate(Scope(allowed_domains=["trap.example"]), user_agent="crawlspace")
    opened.open_domain("trap.example")
    return opened


def months() -> Iterator[str]:
    return (f"{SITE}/cal?month={number}" for number in range(1, 100_000))


def sessions() -> Iterator[str]:
    chance = random.Random(4)
    return (f"{SITE}/page;jsessionid={chance.randbytes(16).hex().upper()}" for _ in range(10_000))


def facets() -> Iterator[str]:
    for values in itertools.product(range(5), repeat=6):
        filters = [f"{name}={value}" for name, value in zip("abcdef", values, strict=True) if value]
        yield f"{SITE}/shop?{'&'.join(filters)}"
        yield f"{SITE}/shop?{'&'.join(reversed(filters))}"


def one_of_a_megabyte() -> Iterator[str]:
    yield f"{SITE}/{'a' * 1_000_000}"


def host_names() -> Iterator[str]:
    return (f"http://h{number}.trap.example/" for number in range(10_000))


# Name of the row, its URLs, how many may enter the frontier, why no more.
BOUNDED = {
    "calendar trap": (months, 2_000, Reason.CALENDAR),
    "session id in path": (sessions, 1, Reason.SESSION_ID),
    "faceted combinatorics": (facets, 1_100, Reason.QUERY_VARIATIONS),
    "1 MB single URL": (one_of_a_megabyte, 0, Reason.URL_TOO_LONG),
    "10,000 host names": (host_names, 1_000, Reason.REGISTRABLE_DOMAIN),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_traps_are_bounded(name: str) -> None:
    assert name in ROWS
    urls, most, expected = BOUNDED[name]
    judge, known, admitted, reasons = gate(), set[str](), 0, set[Reason]()
    for url in urls():
        identity = normalize(url) if len(url) < 10_000 else url
        if identity in known:
            continue
        known.add(identity)
        refusal = judge.admit(url, canonical_domain(url[:200]), 1, NOW)
        admitted += refusal is None
        if refusal:
            reasons.add(refusal.reason)
    assert admitted <= most
    assert reasons == {expected}


# Name of the row, URLs requested so far, where the last one redirects to, why that is not followed.
REDIRECTS = {
    "two-step loop": ([f"{SITE}/a", f"{SITE}/b"], f"{SITE}/a", Reason.REDIRECT_LOOP),
    "growing loop": ([f"{SITE}/r?n={n}" for n in range(1, 7)], f"{SITE}/r?n=7", Reason.REDIRECT_LIMIT),
    "to non-HTTP scheme": ([f"{SITE}/a"], "file:///etc/passwd", Reason.SCHEME),
    "to a private address": ([f"{SITE}/a"], "http://169.254.169.254/latest/meta-data/", Reason.DOMAIN),
    "meta refresh loop": ([f"{SITE}/self"], f"{SITE}/self", Reason.REDIRECT_LOOP),
}


@pytest.mark.parametrize("name", REDIRECTS)
def test_redirects_end(name: str) -> None:
    assert name in ROWS
    chain, target, expected = REDIRECTS[name]
    domain = canonical_domain(target) if target.startswith("http") else ""
    refusal = gate().admit_redirect(chain, target, domain, 1, NOW)
    assert refusal is not None
    assert refusal.reason is expected


def test_a_redirect_to_a_disallowed_url_is_not_requested() -> None:
    assert "301 to robots-disallowed URL" in ROWS
    robots = Robots.parse("User-agent: *\nDisallow: /private\n")
    refusal = gate().may_fetch(f"{SITE}/private/x", robots)
    assert refusal is not None
    assert refusal.reason is Reason.ROBOTS


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.stem)
def test_no_page_of_a_real_site_is_refused(corpus: Path) -> None:
    judge = Gate(Scope(seeds=["http://localhost/"]), user_agent="crawlspace")
    judge.open_domain("localhost")
    urls = [f"http://localhost/{path.lstrip('/')}" for path in corpus.read_text(encoding="utf-8").split()]
    refused = [(url, refusal) for url in urls if (refusal := judge.admit(url, "localhost", 5, NOW))]
    assert urls and not refused


def test_all_four_corpora_are_there() -> None:
    assert len(CORPORA) == 4
