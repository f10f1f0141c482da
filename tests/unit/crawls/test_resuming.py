"""Crawls that one command owns: found again, taken up again, freed of the dead."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from crawler.crawls import actions, resuming
from crawler.crawls.models import Crawl, FrontierURL, PageBudget
from crawler.crawls.review import review
from crawler.crawls.states import CrawlStatus, UrlStatus
from crawler.domains.models import Domain
from crawler.domains.states import DomainStatus
from crawler.foundation.clock import database_now

pytestmark = pytest.mark.django_db
SEEDS = ["https://example.com/", "https://example.org/"]


def made(**config: Any) -> Crawl:
    return resuming.find_or_create("mine", SEEDS, config, {})


def changed(crawl: Crawl, **fields: Any) -> Crawl:
    Crawl.objects.filter(pk=crawl.pk).update(**fields)
    crawl.refresh_from_db()
    return crawl


def test_a_crawl_is_found_by_name_and_takes_the_new_configuration() -> None:
    first = made(max_pages=5)
    second = made(max_pages=9)
    assert second.pk == first.pk
    assert Crawl.objects.get().config == {"max_pages": 9}
    assert FrontierURL.objects.count() == 2


@pytest.mark.parametrize(
    ("fields", "limit", "complete"),
    [
        ({"status": CrawlStatus.COMPLETED, "pages_crawled": 2, "pages_queued": 0}, None, True),
        ({"status": CrawlStatus.COMPLETED, "pages_crawled": 5, "pages_queued": 3}, 5, True),
        ({"status": CrawlStatus.COMPLETED, "pages_crawled": 5, "pages_queued": 3}, 6, False),
        ({"status": CrawlStatus.COMPLETED, "pages_crawled": 5, "pages_queued": 3}, None, False),
        ({"status": CrawlStatus.COMPLETED, "pages_crawled": 0, "pages_queued": 0}, None, False),
        ({"status": CrawlStatus.PAUSED, "pages_crawled": 2, "pages_queued": 0}, None, False),
    ],
)
def test_when_a_crawl_is_complete(fields: dict[str, Any], limit: int | None, complete: bool) -> None:
    assert resuming.is_complete(changed(made(max_pages=limit), **fields)) is complete


def test_a_crawl_that_brought_nothing_is_tried_again() -> None:
    crawl = changed(made(), status=CrawlStatus.COMPLETED, pages_queued=0)
    FrontierURL.objects.update(status=UrlStatus.FAILED)
    resuming.take_up(crawl)
    assert crawl.status == CrawlStatus.RUNNING
    assert FrontierURL.objects.filter(status=UrlStatus.PENDING).count() == 2


def test_what_did_not_answer_is_tried_again_and_what_refused_us_only_when_told() -> None:
    crawl = made()
    later = database_now() + timedelta(days=7)
    Domain.objects.filter(name="example.com").update(status=DomainStatus.UNREACHABLE, next_crawl_after=later)
    Domain.objects.filter(name="example.org").update(
        status=DomainStatus.BLOCKED, next_crawl_after=later, block_reason="HTTP 403"
    )
    resuming.take_up(crawl)
    assert list(Domain.objects.values_list("status", flat=True)) == [DomainStatus.PENDING, DomainStatus.BLOCKED]
    alone = review(crawl, None).left_alone
    assert [(one.domain, one.why, one.until, one.urls) for one in alone] == [("example.org", "HTTP 403", later, 1)]
    resuming.take_up(crawl, again=True)
    assert set(Domain.objects.values_list("status", "next_crawl_after")) == {(DomainStatus.PENDING, None)}


def test_only_what_bears_the_mark_is_given_back() -> None:
    crawl = made()
    until = database_now() + timedelta(minutes=30)
    Domain.objects.filter(name="example.com").update(claimed_by="mark-1:1", claim_expires_at=until, version=4)
    Domain.objects.filter(name="example.org").update(claimed_by="mark-12:1", claim_expires_at=until)
    for worker in ("mark-1:1", "mark-12:1"):
        PageBudget.objects.create(crawl=crawl, worker=worker, pages=50, expires_at=until)
    assert resuming.release_dead_claims("mark-1:") == 1
    assert list(Domain.objects.values_list("claimed_by", "version")) == [(None, 4), ("mark-12:1", 0)]
    assert PageBudget.objects.get().worker == "mark-12:1"


def test_a_review_counts_reasons_and_errors() -> None:
    crawl = made()
    actions.add_urls(crawl, ["https://example.com/a", "https://example.com/b"], by="link", priority=5)
    FrontierURL.objects.filter(url=SEEDS[0]).update(
        status=UrlStatus.BLOCKED, refusal="guard", refusal_detail="10.0.0.1 is not public"
    )
    FrontierURL.objects.filter(url__in=["https://example.com/a", "https://example.com/b"]).update(
        status=UrlStatus.FAILED, last_status_code=404, last_error="HTTP 404"
    )
    found = review(crawl, None)
    assert found.reasons == {"guard": 1}
    assert [tuple(group) for group in found.errors] == [("HTTP 404", 2, "https://example.com/a")]
    assert [tuple(seed) for seed in found.refused_seeds] == [(SEEDS[0], "guard", "10.0.0.1 is not public")]
