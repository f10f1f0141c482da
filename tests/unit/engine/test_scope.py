"""Scope: domains, patterns, schemes, depth, and what seeds may."""

from __future__ import annotations

import pytest

from crawler.engine.refusals import MEANINGS, Holds, Reason, Refusal
from crawler.engine.scope import InvalidPattern, Scope
from crawler.web.hosts import canonical_domain
from crawler.web.urls import InvalidURL


def reason(scope: Scope, url: str, depth: int = 1, *, is_seed: bool = False) -> Reason | None:
    refusal = scope.refusal(url, canonical_domain(url), depth, is_seed=is_seed)
    return refusal.reason if refusal else None


@pytest.mark.parametrize(
    ("entry", "url", "is_covered"),
    [
        ("cnn.com", "https://cnn.com/", True),
        ("cnn.com", "https://www.cnn.com/", True),
        ("cnn.com", "https://edition.cnn.com/x", True),
        ("cnn.com", "https://a.b.cnn.com/x", True),
        ("cnn.com", "https://notcnn.com/", False),
        ("cnn.com", "https://cnn.com.evil.example/", False),
        ("cnn.com", "https://cnn.com:8443/", True),
        ("cnn.com", "https://edition.cnn.com:8443/", True),
        ("cnn.com:8443", "https://cnn.com/", False),
        ("cnn.com:8443", "https://www.cnn.com:8443/", True),
        ("edition.cnn.com", "https://cnn.com/", False),
        ("*.cnn.com", "https://cnn.com/", True),
        (".cnn.com", "https://edition.cnn.com/", True),
        ("WWW.CNN.com", "https://cnn.com/", True),
        ("https://cnn.com/news", "https://cnn.com/", True),
        ("bücher.example", "https://xn--bcher-kva.example/", True),
        ("127.0.0.1", "http://127.0.0.1:8000/", True),
        ("[::1]", "http://[::1]:8000/", True),
    ],
)
def test_allowed_domains(entry: str, url: str, is_covered: bool) -> None:
    assert reason(Scope(allowed_domains=[entry]), url) == (None if is_covered else Reason.DOMAIN)


@pytest.mark.parametrize(
    ("url", "is_covered"),
    [
        ("https://example.com/a", True),
        ("http://www.example.com/a", True),
        ("https://shop.example.com/", False),
        ("https://example.com:8080/", False),
        ("http://localhost:9000/", True),
        ("http://localhost:9001/", False),
    ],
)
def test_without_allowed_domains_a_crawl_stays_on_its_seeds_domains(url: str, is_covered: bool) -> None:
    scope = Scope(seeds=["https://www.example.com/start", "http://localhost:9000/"])
    assert reason(scope, url) == (None if is_covered else Reason.DOMAIN)


def test_the_documented_patterns() -> None:
    scope = Scope(
        allowed_domains=["cnn.com"],
        url_patterns=[r".*\/news\/.*", r".*\/article\/.*"],
        excluded_patterns=[r".*\/video\/.*", r".*\/gallery\/.*"],
    )
    assert reason(scope, "https://cnn.com/news/1") is None
    assert reason(scope, "https://cnn.com/article/1") is None
    assert reason(scope, "https://cnn.com/sport/1") == Reason.INCLUDE
    assert scope.refusal("https://cnn.com/news/gallery/1", "cnn.com", 1) == Refusal(Reason.EXCLUDE, r".*\/gallery\/.*")


def test_patterns_are_searched_not_matched() -> None:
    scope = Scope(seeds=["http://a.example/"], url_patterns=[r"/news/", r"\.html$"], excluded_patterns=[r"(?i)PRINT"])
    assert reason(scope, "http://a.example/x/news/y") is None
    assert reason(scope, "http://a.example/x.html") is None
    assert reason(scope, "http://a.example/x.html?y") == Reason.INCLUDE
    assert reason(scope, "http://a.example/print.html") == Reason.EXCLUDE


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1", "x{1001}", "*", "\ud800"])
@pytest.mark.parametrize("where", ["url_patterns", "excluded_patterns"])
def test_an_invalid_pattern_is_named(pattern: str, where: str) -> None:
    with pytest.raises(InvalidPattern) as raised:
        Scope(**{where: ["fine", pattern]})  # type: ignore[arg-type]  # the name of a parameter is a test's parameter
    assert raised.value.pattern == pattern
    assert raised.value.reason


def test_patterns_that_are_too_large_together_are_refused() -> None:
    with pytest.raises(InvalidPattern, match="too large"):
        Scope(url_patterns=[f"(?:a.{{500}}b{number}){{2}}" for number in range(40)])


def test_a_pattern_that_backtracks_elsewhere_is_linear() -> None:
    scope = Scope(seeds=["http://a.example/"], url_patterns=["(x+x+)+y"])
    assert reason(scope, "http://a.example/" + "x" * 1_900) == Reason.INCLUDE


def test_nonsense_as_a_domain_is_told() -> None:
    with pytest.raises(InvalidURL):
        Scope(allowed_domains=["not a host"])


def test_depth_and_scheme() -> None:
    scope = Scope(seeds=["http://a.example/"], max_depth=2)
    assert reason(scope, "http://a.example/x", 2) is None
    assert reason(scope, "http://a.example/x", 3) == Reason.DEPTH
    assert scope.refusal("ftp://a.example/x", "a.example", 1) == Refusal(Reason.SCHEME, "ftp")
    assert reason(Scope(seeds=["https://a.example/"], schemes=["https"]), "http://a.example/") == Reason.SCHEME


def test_what_is_final_is_said_before_what_depends_on_the_link() -> None:
    scope = Scope(seeds=["http://a.example/"], max_depth=2, url_patterns=["/news/"])
    assert reason(scope, "http://a.example/x", 3) == Reason.INCLUDE


def test_seeds_pass_all_but_exclusion_and_scheme() -> None:
    scope = Scope(allowed_domains=["b.example"], url_patterns=["/news/"], excluded_patterns=["/old/"], max_depth=0)
    assert reason(scope, "http://a.example/hub", 5, is_seed=True) is None
    assert reason(scope, "http://a.example/old/hub", is_seed=True) == Reason.EXCLUDE
    assert scope.refusal("ftp://a.example/", "a.example", 0, is_seed=True) is not None


def test_every_reason_has_its_meaning() -> None:
    assert set(MEANINGS) == set(Reason)
    assert all(meaning.explanation.endswith(".") for meaning in MEANINGS.values())
    passing = {reason for reason in Reason if MEANINGS[reason].holds is not Holds.URL}
    assert passing == {
        Reason.DEPTH, Reason.NOFOLLOW, Reason.META_ROBOTS, Reason.BUDGET, Reason.ROBOTS_UNREACHABLE
    }  # fmt: skip
    assert not Reason.DEPTH.is_final and Reason.EXCLUDE.is_final


def test_a_refusal_reads_well() -> None:
    assert str(Refusal(Reason.EXCLUDE, "/old/")) == "It matches a pattern that the crawl excludes. (/old/)"
    assert str(Refusal(Reason.NOFOLLOW, "")) == "Only links marked nofollow lead to it so far."
