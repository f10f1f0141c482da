"""The story of a URL, told of crawls that really ran."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from crawler.crawls import actions
from crawler.crawls.models import Crawl, CrawlLog, Document, FrontierURL, PageOutlinks
from crawler.crawls.queries.explain import explain
from crawler.crawls.schemas import Story
from crawler.crawls.working import work
from crawler.domains import claims
from crawler.domains.models import Domain, RobotsRecord
from crawler.engine.contract import Ending
from crawler.foundation.clock import database_now
from crawler.foundation.errors import InvalidInput
from crawler.frontier.contract import Settled
from crawler.frontier.sql import SqlFrontier
from tests.unit.crawls.small_web import Site, crawl, create, link, never, page, park, row_of, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(site: Site) -> Crawl:
    return crawl("story", [site.url("/")])


def story(site: Site, path: str) -> Story:
    return explain(site.url(path))


def test_a_page_that_was_fetched(site: Site, done: Crawl) -> None:
    told = story(site, "/deep")
    assert told.is_known
    assert told.verdict.state == "fetched"
    assert told.verdict.text.startswith("It was fetched at 2")
    assert told.verdict.text.endswith("(HTTP 200); no further visit is planned.")
    (here,) = told.crawls
    assert (here.crawl, here.status, here.depth, here.attempts, here.discovered_by) == (
        "story", "completed", 2, 1, "link",
    )  # fmt: skip
    assert [step.url for step in here.discovered_through] in (
        [site.url("/a"), site.url("/")],
        [site.url("/copy"), site.url("/")],
    )
    assert here.discovered_through[-1].discovered_by == "seed"
    assert (told.fetches.total, told.fetches.newest[0].outcome, told.fetches.newest[0].address) == (
        1, "page", "127.0.0.1",
    )  # fmt: skip
    assert told.document is not None
    assert (told.document.title, told.document.http_status, told.document.content_type) == ("Deep", 200, "text/html")
    assert told.document.storage_path
    assert (told.inlinks.count, told.inlinks.is_complete, told.outlinks.count) == (2, True, 0)
    assert told.domain_record is not None
    assert (told.domain, told.domain_record.status, told.domain_record.claim) == (site.domain, "exhausted", None)
    assert told.domain_record.politeness.next_request_at is not None


@pytest.mark.parametrize(
    "spelling", ["/deep", "/deep/", "/deep?utm_source=x&fbclid=1", "/deep#part", "/x/../deep", "/%64eep"]
)
def test_any_spelling_will_do(site: Site, done: Crawl, spelling: str) -> None:
    told = explain(site.url(spelling).replace("http://", "HTTP://"))
    assert told.is_known
    assert told.normal_form == site.url("/deep")
    assert told.crawls[0].url == site.url("/deep")


def test_what_robots_forbids(site: Site, done: Crawl) -> None:
    told = story(site, "/private/x")
    assert told.verdict.state == "refused"
    assert told.verdict.text == (
        "It is refused: The site's robots.txt disallows it (Disallow: /private/, line 2)."
    )  # fmt: skip
    refusal = told.crawls[0].refusal
    assert refusal is not None
    assert (refusal.reason, refusal.detail, refusal.is_final) == ("robots", "Disallow: /private/, line 2", True)
    assert (told.robots.http_status, told.robots.availability, told.robots.is_fresh) == (200, "read", True)
    (ours,) = told.robots.verdicts
    assert (ours.is_allowed, ours.rule, ours.line, ours.crawl_delay_seconds) == (False, "Disallow: /private/", 2, 0)
    assert told.fetches.total == 0


def test_a_refusal_that_may_pass_says_so(site: Site, done: Crawl) -> None:
    assert story(site, "/shy").verdict.text == (
        "It is refused: Only links marked nofollow lead to it so far."
        " It is judged anew when it is found again under better terms."
    )


def test_another_domain(site: Site, done: Crawl) -> None:
    told = explain("https://elsewhere.example")
    assert told.verdict.text == "It is refused: Its domain is not among the crawl's domains (elsewhere.example)."
    assert (told.domain, told.domain_record) == ("elsewhere.example", None)
    assert (told.robots.origin, told.robots.availability) == ("https://elsewhere.example", "unknown")
    assert [one.target_url for one in told.inlinks.examples] == ["https://elsewhere.example/"]


def test_redirects_both_ways(site: Site, done: Crawl) -> None:
    old, new = story(site, "/old"), story(site, "/new")
    assert old.verdict.state == "redirects"
    assert old.verdict.text.startswith(f"It redirects to {site.url('/new')} (HTTP 301, asked at 2")
    assert (old.redirects.to, old.redirects.sources) == (site.url("/new"), [])
    assert (new.redirects.to, new.redirects.sources) == (None, [site.url("/old")])
    assert (new.crawls[0].discovered_by, new.crawls[0].discovered_through[0].url) == ("redirect", site.url("/old"))


def test_where_a_redirect_led_is_known_without_links_too(site: Site, done: Crawl) -> None:
    PageOutlinks.objects.all().delete()
    assert story(site, "/old").redirects.to == site.url("/new")


def test_failures_and_unwanted_content(site: Site, done: Crawl) -> None:
    missing, paper = story(site, "/missing"), story(site, "/paper")
    assert missing.verdict.state == "failed"
    assert missing.verdict.text == "It failed: 1 attempt, last with HTTP 404. It is not tried again."
    assert paper.verdict.text == (
        "It is refused: Its content type is not one that this crawl stores (application/pdf)."
    )  # fmt: skip
    assert paper.fetches.newest[0].outcome == "refused"


def test_duplicates_are_named(site: Site, done: Crawl) -> None:
    told = [document for path in ("/a", "/copy") if (document := story(site, path).document)]
    assert len(told) == 2
    names = {one.duplicate_of.url for one in told if one.duplicate_of}
    assert names in ({site.url("/a")}, {site.url("/copy")})


def test_a_page_that_is_as_it_was(site: Site, done: Crawl) -> None:
    actions.queue_again(done)
    assert story(site, "/deep").verdict.text == "It waits because its crawl 'story' is completed."
    actions.start_crawl(done)
    work(never, only=[done.pk], until_done=True)
    told = story(site, "/deep")
    assert "(HTTP 200, unchanged since the visit before)" in told.verdict.text
    assert [one.outcome for one in told.fetches.newest] == ["unchanged", "page"]


# URLs that are to be fetched, and what is in their way. Nothing is fetched here.

SEED, SECOND = "https://example.com/", "https://example.com/second"


@pytest.fixture
def made() -> Crawl:
    return create("made", [SEED, SECOND])


def test_a_crawl_that_was_not_started(made: Crawl) -> None:
    told = explain(SEED)
    assert told.verdict.text == "It waits because its crawl 'made' was not started yet."
    assert (told.crawls[0].discovered_by, told.crawls[0].discovered_through) == ("seed", [])


def test_a_url_that_is_in_turn(made: Crawl) -> None:
    actions.start_crawl(made)
    assert explain(SEED).verdict.text == "It will be fetched next of its domain once a worker takes up its domain."
    assert explain(SECOND).verdict.text == (
        "It will be fetched after 1 other URL of its domain once a worker takes up its domain."
    )
    assert claims.claim_due("worker-1", 1)
    told = explain(SECOND)
    assert told.verdict.text == "It will be fetched after 1 other URL of its domain: worker-1 works on its domain."
    assert told.domain_record is not None
    assert told.domain_record.claim is not None
    assert (told.domain_record.claim.held_by, told.domain_record.claim.is_live) == ("worker-1", True)
    Domain.objects.update(next_request_at=database_now() + timedelta(hours=1))
    assert "the next request may go out at 2" in explain(SECOND).verdict.text
    Domain.objects.update(claim_expires_at=database_now() - timedelta(hours=1))
    assert "once a worker takes up its domain" in explain(SECOND).verdict.text
    record = explain(SECOND).domain_record
    assert record is not None
    assert record.claim is not None
    assert not record.claim.is_live, "it is shown, as one that ended"


def test_a_domain_that_is_blocked(made: Crawl) -> None:
    actions.start_crawl(made)
    (claimed,) = claims.claim_due("worker-1", 1)
    now = database_now()
    claims.release([Ending(claimed, "rate_limited", "HTTP 429, 25 errors in a row")], now.timestamp())
    told = explain(SEED)
    until = f"{now + timedelta(days=7):%Y-%m-%d %H:%M:%S} UTC"
    assert told.verdict.text == (
        f"It waits because its domain is blocked until {until} (rate_limited: HTTP 429, 25 errors in a row)."
    )
    assert told.domain_record is not None
    assert told.domain_record.block is not None
    assert (told.domain_record.block.code, told.domain_record.block.times) == ("rate_limited", 1)
    Domain.objects.update(block_retries=4)
    assert "is blocked until somebody resets it" in explain(SEED).verdict.text


def test_a_domain_that_is_parked(made: Crawl) -> None:
    actions.start_crawl(made)
    park("https://example.com")
    told = explain(SEED)
    record = told.robots
    assert record.expires_at is not None
    until = f"{record.expires_at:%Y-%m-%d %H:%M:%S} UTC"
    assert told.verdict.state == "waits"
    assert told.verdict.text == f"It waits because its domain is parked until {until} (robots.txt answered 503)."
    assert (record.availability, record.verdicts[0].is_allowed, record.verdicts[0].rule) == ("unreachable", False, None)
    Crawl.objects.update(config={"respect_robots_txt": False})
    assert "is not visited before" in explain(SEED).verdict.text, "others' wishes park the domain all the same"


def test_robots_that_could_not_be_asked(made: Crawl) -> None:
    actions.start_crawl(made)
    park("https://example.com")
    RobotsRecord.objects.update(http_status=None, error="timed out")
    assert explain(SEED).verdict.text.endswith("(robots.txt could not be read: timed out).")


def test_a_rule_that_came_after_the_url(made: Crawl) -> None:
    actions.start_crawl(made)
    park("https://example.com")
    Domain.objects.update(next_crawl_after=None)
    RobotsRecord.objects.update(http_status=200, body=b"User-agent: *\n\nDisallow: /second\n")
    told = explain(SECOND)
    assert (told.verdict.state, told.verdict.text) == (
        "refused",
        "It will be refused when its turn comes: The site's robots.txt disallows it (Disallow: /second, line 3).",
    )


def test_a_domain_that_rests(made: Crawl) -> None:
    actions.start_crawl(made)
    (claimed,) = claims.claim_due("worker-1", 1)
    later = database_now() + timedelta(hours=2)
    claims.release([Ending(claimed, not_before=later.timestamp())], database_now().timestamp())
    assert explain(SEED).verdict.text == (
        f"It waits because its domain is not visited before {later:%Y-%m-%d %H:%M:%S} UTC."
    )


def test_a_url_that_is_tried_again(made: Crawl) -> None:
    actions.start_crawl(made)
    now = database_now()
    later = now + timedelta(minutes=5)
    again = Settled(
        row_of(made, SEED).pk, "pending", 500, "HTTP 500", failure_count=2, next_crawl_after=later.timestamp()
    )
    SqlFrontier(connection.cursor, connection.vendor).settle([again], now.timestamp())
    told = explain(SEED)
    moment = f"{later:%Y-%m-%d %H:%M:%S} UTC"
    assert told.verdict.text == (
        f"It waits because it is tried again at {moment}, after 2 failures, last HTTP 500."
    )  # fmt: skip
    assert told.crawls[0].next_due_at is not None
    FrontierURL.objects.update(failure_count=0)
    assert explain(SEED).verdict.text == f"It waits because it is not due before {moment}."


def test_a_budget_that_is_spent(made: Crawl) -> None:
    Crawl.objects.update(config={"max_pages": 10}, pages_crawled=10, status="completed")
    assert explain(SEED).verdict.text == "It waits because its crawl has fetched the 10 pages that it may."


def test_a_visit_that_is_planned(site: Site, done: Crawl) -> None:
    later = database_now() + timedelta(days=3)
    Crawl.objects.update(next_run_at=later)
    assert explain(site.url("/deep")).verdict.text.endswith(f"and is next due at {later:%Y-%m-%d %H:%M:%S} UTC.")


# URLs that no crawl knows.


def test_no_crawls_at_all() -> None:
    told = explain("https://example.com/x")
    assert not told.is_known
    assert (told.verdict.state, told.verdict.text) == ("unknown", "No crawl knows it: there are no crawls.")
    assert (told.crawls, told.fetches.total, told.document) == ([], 0, None)


def test_what_running_crawls_would_say(made: Crawl) -> None:
    actions.start_crawl(made)
    picky = create("picky", ["https://example.org/"], filters={"excluded_patterns": ["/print/"]})
    actions.start_crawl(picky)
    told = explain("https://example.com/unmet")
    assert told.verdict.text == (
        "No crawl has met it yet. In the crawl 'made': It would be fetched if a page of the crawl linked to it,"
        " unless its robots.txt, which was not read yet, forbids it."
    )
    refused = {one.crawl: one.refusal.reason for one in told.judgements if one.refusal}
    assert refused == {"picky": "domain"}
    told = explain("https://example.org/print/1")
    assert told.verdict.text == (
        "No crawl has met it, and none would fetch it."
        " In the crawl 'picky': It matches a pattern that the crawl excludes (/print/)."
    )


def test_the_gate_is_asked_about_traps_robots_and_budget(site: Site, done: Crawl) -> None:
    def reason(path: str) -> str | None:
        (one,) = story(site, path).judgements
        return one.refusal.reason if one.refusal else None

    assert reason("/unmet") is None
    assert "The rules of 'story' allow it, but that crawl is not running." in story(site, "/unmet").verdict.text
    assert reason("/x/x/x/x/x") == "repeating_path"
    assert reason("/private/unmet") == "robots"
    Crawl.objects.update(config={"max_pages": 1})
    assert reason("/unmet") == "budget"
    Crawl.objects.update(filters={"url_patterns": ["("]})
    (one,) = story(site, "/unmet").judgements
    assert (one.is_admitted, one.text.startswith("Its rules cannot be used: '('")) == (False, True)


def test_crawls_may_differ(site: Site, done: Crawl) -> None:
    other = create("other", [site.url("/deep")])
    actions.start_crawl(other)
    told = story(site, "/deep")
    assert [(one.crawl, one.verdict.state) for one in told.crawls] == [
        ("other", "will_be_fetched"),
        ("story", "fetched"),
    ]
    assert told.verdict.text.startswith("In the crawl 'other' (of 2): It will be fetched")
    assert told.judgements == []


def test_the_history_outlives_the_crawl(site: Site, done: Crawl) -> None:
    assert Document.objects.filter(url=site.url("/deep")).exists()
    done.delete()
    assert not CrawlLog.objects.exists()
    told = story(site, "/deep")
    assert not told.is_known
    assert told.document is not None
    assert "crawl that is gone" in told.verdict.text


def test_a_way_back_in_a_circle_ends(site: Site, done: Crawl) -> None:
    deep, seed = row_of(done, site.url("/deep")), row_of(done, site.url("/"))
    FrontierURL.objects.filter(pk=seed.pk).update(discovered_from=deep.url_hash)
    assert len(story(site, "/deep").crawls[0].discovered_through) == 2


@pytest.mark.parametrize("text", ["", "example.com/x", "mailto:a@example.com", "https://", "http://[1", "x" * 100_000])
def test_what_is_no_url(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        explain(text)
    assert (caught.value.code, caught.value.field) == ("INVALID_URL", "url")


def test_links_with_brackets_and_odd_signs_are_kept(loopback: None) -> None:
    with serving({"/": page(link("/x", "[bold] &amp; &lt;b&gt; ünï"))}) as odd:
        crawl("odd", [odd.url("/")])
        assert explain(odd.url("/")).outlinks.examples[0].anchor_text == "[bold] & <b> ünï"
