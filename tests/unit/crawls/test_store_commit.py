"""One batch, one transaction: what it writes, what it leaves out, and that every counter agrees."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import OperationalError, connection

from crawler.crawls.models import CrawlLog, Document, FrontierURL, Image, PageBudget, PageOutlinks, Provenance
from crawler.domains.models import Domain, RobotsRecord
from crawler.engine.contract import DomainNews, ImageSeen, Outcome, RobotsFile, StoreUnavailable
from tests.unit.crawls.store_batches import NOW, Worker, facts, found, running_crawl

pytestmark = pytest.mark.django_db

PAST = datetime(2020, 1, 1, tzinfo=UTC)
A, B = "http://a.example/", "http://b.example/"


@pytest.fixture
def worker() -> Worker:
    made = Worker(running_crawl(A, B))
    made.claim()
    return made


def counters(worker: Worker) -> dict[str, Any]:
    worker.crawl.refresh_from_db()
    names = ("pages_crawled", "pages_queued", "pages_failed", "pages_refused", "bytes_downloaded")
    return {name: getattr(worker.crawl, name) for name in names}


def domain(name: str) -> Domain:
    return Domain.objects.get(name=name)


def test_everything_of_a_batch_is_written_together(worker: Worker) -> None:
    (entry,) = worker.take("a.example")
    links = [found(worker.crawl, f"{A}{number}", discovered_from=entry.url_hash) for number in range(3)]
    refused = found(worker.crawl, "http://c.example/", refusal="domain", detail="not ours")
    page = worker.page(entry, targets=[one.url_hash for one in links], anchors=["x", "y", "z"], outlinks_found=3)
    done = worker.store.commit(worker.batch([page], *links, refused))
    assert (done.lost, done.added_by_domain) == ([], {"a.example": 3})
    assert counters(worker) == {
        "pages_crawled": 1, "pages_queued": 1 + 3, "pages_failed": 0, "pages_refused": 1, "bytes_downloaded": 100,
    }  # fmt: skip
    assert (domain("a.example").pages_crawled, domain("a.example").frontier_size) == (1, 3)
    assert (domain("b.example").pages_crawled, domain("b.example").frontier_size) == (0, 1)
    row = FrontierURL.objects.get(pk=entry.id)
    assert (row.status, row.crawl_count, row.last_status_code) == ("completed", 1, 200)
    assert PageOutlinks.objects.get().source_id == entry.id
    assert FrontierURL.objects.get(url="http://c.example/").refusal == "domain"
    assert not Domain.objects.filter(name="c.example").exists(), "what is refused makes no domain"
    assert worker.crawl.runs.get().pages_crawled == 1


def test_a_lost_domain_is_left_out_and_the_others_are_written(worker: Worker) -> None:
    """What its pages led to stays found: another page of the batch may point to it."""
    (lost,), (kept,) = worker.take("a.example"), worker.take("b.example")
    Domain.objects.filter(name="a.example").update(version=99)
    link = found(worker.crawl, f"{B}new", discovered_from=lost.url_hash)
    pages = [worker.page(one, targets=[link.url_hash], anchors=[""]) for one in (lost, kept)]
    done = worker.store.commit(worker.batch(pages, link))
    assert done.lost == ["a.example"]
    assert [row.url for row in Document.objects.all()] == [B]
    assert (counters(worker)["pages_crawled"], counters(worker)["pages_queued"]) == (1, 2)
    assert FrontierURL.objects.get(pk=lost.id).status == "pending"
    assert domain("a.example").pages_crawled == 0
    assert PageOutlinks.objects.get().source_id == kept.id


@pytest.mark.parametrize("change", [{"claimed_by": "another"}, {"claimed_by": None}, {"claim_expires_at": PAST}])
def test_claims_that_are_gone(worker: Worker, change: dict[str, Any]) -> None:
    (entry,) = worker.take("a.example")
    Domain.objects.filter(name="a.example").update(**change)
    assert worker.store.commit(worker.batch([worker.page(entry)])).lost == ["a.example"]
    assert (Document.objects.count(), CrawlLog.objects.count()) == (0, 0)


def test_a_page_of_a_domain_that_is_nobodys_is_dropped(worker: Worker) -> None:
    (entry,) = worker.take("a.example")
    del worker.claimed["a.example"]
    worker.store.commit(worker.batch([worker.page(entry)]))
    assert Document.objects.count() == 0


def test_outcomes(worker: Worker) -> None:
    """Each becomes what it says, and is counted as what it is."""
    (entry,) = worker.take("a.example")
    links = [found(worker.crawl, f"{A}{word}") for word in ("failed", "later", "refused", "unasked", "moved")]
    worker.store.commit(worker.batch([worker.page(entry)], *links))
    by_word = {one.url.removeprefix(A): one for one in worker.take("a.example")}
    refused = {"outcome": Outcome.REFUSED, "status": "blocked", "document": None, "refusal": "robots"}
    failed = {"outcome": Outcome.FAILED, "document": None, "failure_count": 1}
    pages = [
        worker.page(by_word["failed"], status="failed", error="HTTP 404", **failed),
        worker.page(by_word["later"], status="pending", next_crawl_after=worker.store.now() + 60, **failed),
        worker.page(by_word["refused"], **refused),
        worker.page(by_word["unasked"], was_attempted=False, **refused),
        worker.page(by_word["moved"], outcome=Outcome.REDIRECT, document=None),
    ]
    worker.store.commit(worker.batch(pages))
    assert counters(worker) | {"bytes_downloaded": 0} == {
        "pages_crawled": 1, "pages_queued": 2, "pages_failed": 1, "pages_refused": 2, "bytes_downloaded": 0,
    }  # fmt: skip
    assert domain("a.example").frontier_size == 1
    assert worker.take("a.example") == [], "it is not due yet"
    due = worker.store.next_due("a.example", [worker.crawl.pk])
    assert due is not None
    assert due > worker.store.now()
    assert CrawlLog.objects.filter(outcome="refused").count() == 1, "what was never asked for is no attempt"
    assert [row.crawl_count for row in FrontierURL.objects.filter(url__endswith="unasked")] == [0]


def test_a_url_met_again_is_one_url(worker: Worker) -> None:
    (entry,) = worker.take("a.example")
    again, new = found(worker.crawl, A, depth=5), found(worker.crawl, f"{A}new")
    done = worker.store.commit(worker.batch([worker.page(entry)], again, new))
    assert done.ids[worker.crawl.pk, entry.url_hash] == entry.id
    assert done.added_by_domain == {"a.example": 1}
    assert FrontierURL.objects.get(pk=entry.id).depth == 0


def test_the_same_batch_in_doubt_writes_nothing_twice(worker: Worker) -> None:
    (entry,) = worker.take("a.example")
    links = [found(worker.crawl, f"{A}{number}") for number in range(3)]
    batch = worker.batch([worker.page(entry, targets=[links[0].url_hash], anchors=[""])], *links)
    first = worker.store.commit(batch)
    before = counters(worker)
    batch.is_in_doubt = True
    second = worker.store.commit(batch)
    assert second.ids == first.ids
    assert counters(worker) == before
    assert (CrawlLog.objects.count(), domain("a.example").pages_crawled) == (1, 1)


def test_the_first_with_some_content_is_the_original(worker: Worker) -> None:
    (entry,) = worker.take("a.example")
    worker.store.commit(worker.batch([worker.page(entry)], *(found(worker.crawl, f"{A}{n}") for n in range(3))))
    first, second, third = worker.take("a.example")
    same = {"document": facts("same")}
    worker.store.commit(worker.batch([worker.page(first, **same), worker.page(second, **same)]))
    worker.store.commit(worker.batch([worker.page(third, **same)]))
    rows = dict(Document.objects.values_list("url_hash", "duplicate_of"))
    assert (rows[first.url_hash], rows[second.url_hash], rows[third.url_hash]) == (None, *[first.url_hash] * 2)


def test_images_are_stored_once_with_every_page_that_shows_them(worker: Worker) -> None:
    (one,), (other,) = worker.take("a.example"), worker.take("b.example")
    image = ImageSeen("f" * 64, "http://i.example/x.png", "an alt", 10, 20)
    pages = [worker.page(entry, images=[image, image]) for entry in (one, other)]
    worker.store.commit(worker.batch(pages))
    assert Image.objects.get().alt == "an alt"
    assert sorted(Provenance.objects.values_list("source_domain", flat=True)) == ["a.example", "b.example"]


def test_robots_have_a_history(worker: Worker) -> None:
    (entry,) = worker.take("a.example")
    file = RobotsFile("http://a.example", NOW, NOW + 60, 200, b"User-agent: *\nDisallow: /x\n")
    changed = file._replace(fetched_at=NOW + 20, body=b"")
    for each in (file, file._replace(fetched_at=NOW + 10), changed):
        batch = worker.batch([])
        batch.robots = [("a.example", each)]
        batch.domains = {"a.example": DomainNews(worker.claimed["a.example"], NOW, 0, 0)}
        worker.store.commit(batch)
    rows = list(RobotsRecord.objects.order_by("id").values_list("checked_count", "body_hash"))
    assert [count for count, _ in rows] == [2, 1]
    assert domain("a.example").robots_txt_hash == rows[-1][1]
    assert entry.domain == "a.example"


def test_texts_that_a_database_may_not_like(worker: Worker) -> None:
    """Lone surrogates and NUL cannot be; quotes, percent signs and the highest characters can."""
    (entry,) = worker.take("a.example")
    title = "100 % 'quoted' \"twice\" {braces} \N{GRINNING FACE} \uffff %s"
    link = found(worker.crawl, f"{A}%25?q='--")
    page = worker.page(entry, document=facts(title=title), targets=[link.url_hash], anchors=[title])
    worker.store.commit(worker.batch([page], link))
    assert Document.objects.get().title == title


# The budget.


def test_pages_are_set_aside_spent_and_given_back() -> None:
    crawl = running_crawl(A, max_pages=60)
    worker, other = Worker(crawl), Worker(crawl, "other")
    worker.claim()
    assert [one.store.reserve(crawl.pk, 50) for one in (worker, other, other)] == [50, 10, 0]
    (entry,) = worker.take("a.example")
    worker.store.commit(worker.batch([worker.page(entry)]))
    assert dict(PageBudget.objects.values_list("worker", "pages")) == {"worker": 49, "other": 10}
    worker.store.give_back()
    assert other.store.reserve(crawl.pk, 50) == 49
    assert other.store.reserve(crawl.pk, 50) == 0


def test_what_the_dead_had_set_aside_is_free_when_their_time_is_up() -> None:
    crawl = running_crawl(A, max_pages=60)
    worker, other = Worker(crawl), Worker(crawl, "other")
    assert worker.store.reserve(crawl.pk, 60) == 60
    PageBudget.objects.update(expires_at=PAST)
    worker.store.renew([])
    assert other.store.reserve(crawl.pk, 60) == 0, "it lives"
    PageBudget.objects.update(expires_at=PAST)
    assert other.store.reserve(crawl.pk, 60) == 60


# Ends.


def test_a_crawl_that_found_something_meanwhile_goes_on(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was read as idle, and then another worker committed."""
    stale = worker.crawl
    stale.pages_queued = 0
    monkeypatch.setattr(worker.store, "_running", lambda: [stale])
    assert worker.store.finish_idle_crawls() == []
    worker.crawl.refresh_from_db()
    assert worker.crawl.status == "running"


def test_a_database_that_is_full(worker: Worker) -> None:
    """Whatever statement of the commit fails: nothing of it is there, and it can be made again."""
    (entry,) = worker.take("a.example")
    batch = worker.batch([worker.page(entry)], found(worker.crawl, f"{A}1"))
    before = counters(worker)
    with (
        connection.execute_wrapper(Failing(after=12)),
        pytest.raises(StoreUnavailable, match="database or disk is full"),
    ):
        worker.store.commit(batch)
    assert (counters(worker), Document.objects.count(), FrontierURL.objects.count()) == (before, 0, 2)
    worker.store.commit(batch)
    assert (counters(worker)["pages_crawled"], Document.objects.count()) == (1, 1)


class Failing:
    """Fails the statement after so many."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise OperationalError("database or disk is full")
        return execute(sql, params, many, context)
