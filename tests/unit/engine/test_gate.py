"""The gate: admission, redirect hops, the moment before a fetch, and what pages say to robots."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.engine.gate import Budget, Gate, PageVerdict, page_verdict, robots_refusal
from crawler.engine.refusals import Reason, Refusal
from crawler.engine.scope import Scope
from crawler.engine.traps import TrapLimits
from crawler.web.directives import UNRESTRICTED, parse
from crawler.web.headers import x_robots_tag
from crawler.web.robots import Robots

MOMENT = datetime(2026, 11, 15, 12, tzinfo=UTC)
NOW = MOMENT.timestamp()
ROBOTS = Robots.parse("User-agent: *\nAllow: /private/open\nDisallow: /private/\n")


def gate(**limits: int) -> Gate:
    scope = Scope(seeds=["https://a.example/"], allowed_domains=["a.example"], max_depth=3, excluded_patterns=["/no/"])
    opened = Gate(scope, user_agent="crawlspace", limits=TrapLimits(**limits))
    opened.open_domain("a.example")
    return opened


def reason(refusal: Refusal | None) -> Reason | None:
    return refusal.reason if refusal else None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/x", None),
        ("ftp://a.example/x", Reason.SCHEME),
        ("https://a.example/no/x", Reason.EXCLUDE),
        ("https://a.example/x/x/x/x/x", Reason.REPEATING_PATH),
        ("https://a.example/" + "x" * 1_000_000, Reason.URL_TOO_LONG),
        ("https://a.example/calendar/2187/01", Reason.CALENDAR),
    ],
)
def test_admission(url: str, expected: Reason | None) -> None:
    assert reason(gate().admit(url, "a.example", 1, NOW)) == expected


def test_the_link_decides_last() -> None:
    judge = gate().admit
    assert reason(judge("https://b.example/", "b.example", 9, NOW, nofollow=True)) == Reason.DOMAIN
    assert reason(judge("https://a.example/x/x/x/x", "a.example", 9, NOW, nofollow=True)) == Reason.REPEATING_PATH
    assert reason(judge("https://a.example/x", "a.example", 9, NOW, nofollow=True)) == Reason.DEPTH
    assert reason(judge("https://a.example/x", "a.example", 3, NOW, nofollow=True)) == Reason.NOFOLLOW
    assert judge("https://a.example/x", "a.example", 3, NOW) is None


def test_nofollow_can_be_ignored() -> None:
    judge = Gate(Scope(seeds=["https://a.example/"]), user_agent="x", respect_nofollow=False)
    assert judge.admit("https://a.example/x", "a.example", 1, NOW, nofollow=True) is None


def test_only_what_is_otherwise_admitted_counts() -> None:
    judge = gate(template_urls=1).admit
    assert reason(judge("https://a.example/p/1", "a.example", 9, NOW)) == Reason.DEPTH
    assert reason(judge("https://a.example/p/1", "a.example", 1, NOW, nofollow=True)) == Reason.NOFOLLOW
    assert judge("https://a.example/p/1", "a.example", 1, NOW) is None
    assert reason(judge("https://a.example/p/2", "a.example", 1, NOW)) == Reason.PATH_TEMPLATE


def test_counters_live_with_the_claim() -> None:
    first, second = gate(template_urls=1), gate(template_urls=1)
    first.admit("https://a.example/p/1", "a.example", 1, NOW)
    second.open_domain("a.example", first.close_domain("a.example"))
    assert reason(second.admit("https://a.example/p/2", "a.example", 1, NOW)) == Reason.PATH_TEMPLATE
    assert first.admit("https://a.example/p/2", "a.example", 1, NOW) is None  # not open here any more
    assert reason(second.recount("https://a.example/p/3", "a.example")) == Reason.PATH_TEMPLATE
    assert first.close_domain("a.example") == {}


def test_seeds_pass_traps_but_not_the_length() -> None:
    judge = gate(template_urls=1)
    for number in range(3):
        assert judge.admit(f"https://c.example/x/x/x/x/{number}", "c.example", 0, NOW, is_seed=True) is None
        assert judge.admit(f"https://a.example/p/{number}", "a.example", 0, NOW, is_seed=True) is None
    assert reason(judge.admit("https://a.example/p/9", "a.example", 1, NOW)) == Reason.PATH_TEMPLATE
    assert reason(judge.admit("https://a.example/" + "x" * 3_000, "a.example", 0, NOW, is_seed=True)) == (
        Reason.URL_TOO_LONG
    )
    assert reason(judge.admit("https://a.example/no/x", "a.example", 0, NOW, is_seed=True)) == Reason.EXCLUDE


def test_subdomains_are_bounded_but_not_those_that_are_named() -> None:
    scope = Scope(seeds=["https://seed.a.com/"], allowed_domains=["a.com", "named.a.com"])
    judge = Gate(scope, user_agent="x", limits=TrapLimits(hosts_of_site=2))
    hosts = ["one.a.com", "two.a.com", "three.a.com", "a.com", "named.a.com", "seed.a.com"]
    found = [reason(judge.admit(f"https://{host}/", host, 1, NOW)) for host in hosts]
    assert found == [None, None, Reason.REGISTRABLE_DOMAIN, None, None, None]


def test_redirects_end() -> None:
    judge = gate()
    chain = [f"https://a.example/r?n={number}" for number in range(6)]
    assert judge.admit_redirect(chain[:5], chain[5], "a.example", 1, NOW) is None
    assert reason(judge.admit_redirect(chain, "https://a.example/r?n=6", "a.example", 1, NOW)) == Reason.REDIRECT_LIMIT
    assert reason(judge.admit_redirect(chain[:2], chain[0], "a.example", 1, NOW)) == Reason.REDIRECT_LOOP


def test_redirects_stay_in_scope() -> None:
    judge = gate()
    chain = ["https://a.example/r"]
    assert reason(judge.admit_redirect(chain, "https://b.example/", "b.example", 1, NOW)) == Reason.DOMAIN
    assert judge.admit_redirect(chain, "https://b.example/", "b.example", 0, NOW, is_seed=True) is None
    assert reason(judge.admit_redirect(chain, "file:///etc/passwd", "", 1, NOW)) == Reason.SCHEME
    assert reason(judge.admit_redirect(chain, "https://a.example/" + "x" * 9_999, "a.example", 1, NOW)) == (
        Reason.URL_TOO_LONG
    )


def test_robots_rule_and_line() -> None:
    judge = gate()
    assert judge.may_fetch("https://a.example/x", ROBOTS) is None
    assert judge.may_fetch("https://a.example/private/open", ROBOTS) is None
    assert judge.may_fetch("https://a.example/private/x", ROBOTS) == (
        Refusal(Reason.ROBOTS, "Disallow: /private/, line 3")
    )


def test_robots_can_be_ignored() -> None:
    rude = Gate(Scope(seeds=["https://a.example/"]), user_agent="x", respect_robots=False)
    assert rude.may_fetch("https://a.example/private/x", ROBOTS) is None
    assert rude.may_fetch("https://a.example/private/x", None) is None
    assert rude.page_verdict(parse("none"), UNRESTRICTED, NOW) == PageVerdict(None, ())


@pytest.mark.parametrize("status", [None, 500, 503, 429, 302])
def test_unreachable_robots_close_the_site_for_now(status: int | None) -> None:
    robots = Robots.from_response(status, b"", fetched_at=MOMENT)
    refusal = robots_refusal("https://a.example/x", robots, "crawlspace")
    assert refusal is not None
    assert refusal.reason is Reason.ROBOTS_UNREACHABLE
    assert "2026-11-15 13:00 UTC" in refusal.detail
    assert not refusal.is_final
    assert robots_refusal("https://a.example/robots.txt", robots, "crawlspace") is None


def test_nothing_is_fetched_before_robots_is_known() -> None:
    assert reason(gate().may_fetch("https://a.example/x", None)) == Reason.ROBOTS_UNREACHABLE
    absent = Robots.from_response(404, b"", fetched_at=MOMENT)
    assert gate().may_fetch("https://a.example/private/x", absent) is None


def test_budgets() -> None:
    judge = gate()
    crawl, domain = Budget("the crawl", 2), Budget("a.example")
    assert judge.may_fetch("https://a.example/x", ROBOTS, (crawl, domain)) is None
    crawl.used = 2
    assert judge.may_fetch("https://a.example/x", ROBOTS, (domain, crawl)) == (
        Refusal(Reason.BUDGET, "2 pages of the crawl")
    )


@pytest.mark.parametrize(
    ("meta", "header", "follows", "flags"),
    [
        ("", "", True, ()),
        ("index, follow", "", True, ()),
        ("noindex", "", True, ("noindex",)),
        ("nofollow", "", False, ()),
        ("none", "", False, ("noindex",)),
        ("", "noindex, nofollow", False, ("noindex",)),
        ("noarchive", "otherbot: nofollow", True, ("noarchive",)),
        ("all", "crawlspace: nofollow", False, ()),
        ("", "unavailable_after: 01 Jan 2020 00:00:00 GMT", True, ("unavailable",)),
        ("", "unavailable_after: 01 Jan 2040 00:00:00 GMT", True, ()),
    ],
)
def test_what_pages_say(meta: str, header: str, follows: bool, flags: tuple[str, ...]) -> None:
    directives = parse(meta), x_robots_tag(header, "crawlspace")
    verdict = gate().page_verdict(*directives, NOW)
    assert reason(verdict.follow) == (None if follows else Reason.META_ROBOTS)
    assert verdict.flags == flags
    assert page_verdict(UNRESTRICTED, NOW) == PageVerdict(None, ())
