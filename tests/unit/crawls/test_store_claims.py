"""Who works on which domain: claims, their end, what a domain becomes when work on it ends, and the store's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawler.crawls.models import Crawl
from crawler.crawls.store import store as store_module
from crawler.domains.models import Domain
from crawler.engine.contract import Ending, RobotsFile
from crawler.foundation.clock import database_now
from tests.unit.crawls.store_batches import NOW, Worker, found, running_crawl

pytestmark = pytest.mark.django_db

NAMES = [f"{letter}.example" for letter in "abcde"]
PAST, FUTURE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)


@pytest.fixture
def worker() -> Worker:
    return Worker(running_crawl(*(f"http://{name}/" for name in NAMES)))


@pytest.fixture
def other(worker: Worker) -> Worker:
    return Worker(worker.crawl, "other")


def test_no_two_workers_have_one_domain(worker: Worker, other: Worker) -> None:
    first, second = worker.claim(2), other.claim(2)
    assert (len(first), len(second)) == (2, 2)
    assert not set(first) & set(second)
    assert worker.claim(10) == sorted(set(NAMES) - set(first) - set(second))
    assert other.claim(10) == []
    assert other.store.others_at_work()


def test_a_claim_that_ran_out_is_free_and_its_fence_grows(worker: Worker, other: Worker) -> None:
    worker.claim()
    Domain.objects.filter(name="a.example").update(claim_expires_at=PAST)
    assert other.claim() == ["a.example"]
    assert other.claimed["a.example"].fence == worker.claimed["a.example"].fence + 1
    assert worker.store.renew(list(worker.claimed.values())) == ["a.example"]
    until = Domain.objects.get(name="b.example").claim_expires_at
    assert until is not None
    assert until > datetime.now(UTC) + timedelta(minutes=29)


@pytest.mark.parametrize(
    "changes",
    [
        {"frontier_size": 0}, {"status": "blocked"}, {"status": "unreachable"}, {"status": "exhausted"},
        {"next_crawl_after": FUTURE},
    ],
)  # fmt: skip
def test_domains_that_are_not_due(worker: Worker, changes: dict[str, Any]) -> None:
    Domain.objects.filter(name="a.example").update(**changes)
    assert worker.claim() == NAMES[1:]


def test_the_most_promising_come_first(worker: Worker) -> None:
    Domain.objects.filter(name="c.example").update(priority_score=5)
    Domain.objects.exclude(name__in=["c.example", "e.example"]).update(last_crawled_at=PAST)
    assert [worker.claim(1), worker.claim(1)] == [["c.example"], ["e.example"]]


def test_only_what_the_crawls_want(worker: Worker) -> None:
    """A domain whose URLs belong to a paused crawl is nobody's business now."""
    paused = running_crawl("http://z.example/", name="paused")
    Crawl.objects.filter(pk=paused.pk).update(status="paused")
    assert worker.claim() == NAMES
    assert Worker(running_crawl("http://a.example/x", name="third"), "third").claim() == []


def test_a_claim_brings_what_is_known(worker: Worker, other: Worker) -> None:
    worker.claim()
    (entry,) = worker.take("a.example")
    batch = worker.batch([worker.page(entry)], found(worker.crawl, "http://a.example/1"))
    batch.robots = [("a.example", RobotsFile("http://a.example", NOW, NOW + 60, 200, b"User-agent: *"))]
    news = batch.domains["a.example"]
    news.next_request_at, news.backoff_level, news.consecutive_errors = NOW + 7, 3, 4
    worker.store.commit(batch)
    worker.store.release([Ending(worker.claimed["a.example"])])
    other.claim()
    claimed = other.claimed["a.example"]
    assert (claimed.next_request_at, claimed.backoff_level, claimed.consecutive_errors) == (NOW + 7, 3, 4)
    assert [(file.origin, file.body) for file in claimed.robots] == [("http://a.example", b"User-agent: *")]


# Endings.


def end(worker: Worker, **how: Any) -> Domain:
    worker.store.release([Ending(worker.claimed["a.example"], **how)])
    return Domain.objects.get(name="a.example")


def days_from_now(domain: Domain) -> int:
    assert domain.next_crawl_after is not None
    return round((domain.next_crawl_after - datetime.now(UTC)) / timedelta(days=1))


def test_given_back_with_work_left(worker: Worker) -> None:
    worker.claim()
    ended = end(worker)
    assert (ended.status, ended.claimed_by, ended.next_crawl_after) == ("active", None, None)
    assert worker.claim() == ["a.example"]


def test_given_back_until_later(worker: Worker) -> None:
    worker.claim()
    ended = end(worker, not_before=worker.store.now() + 3 * 86_400)
    assert (ended.status, days_from_now(ended)) == ("active", 3)
    assert worker.claim() == []


def test_given_back_with_nothing_left(worker: Worker) -> None:
    worker.claim()
    (entry,) = worker.take("a.example")
    worker.store.commit(worker.batch([worker.page(entry)]))
    ended = end(worker)
    assert (ended.status, days_from_now(ended)) == ("exhausted", 14)


def test_new_urls_wake_a_domain_that_was_done(worker: Worker) -> None:
    worker.claim()
    (entry,), (other,) = worker.take("a.example"), worker.take("b.example")
    worker.store.commit(worker.batch([worker.page(entry)]))
    end(worker)
    worker.store.commit(worker.batch([worker.page(other)], found(worker.crawl, "http://a.example/new")))
    assert worker.claim() == ["a.example"]


@pytest.mark.parametrize(
    ("code", "status", "days"),
    [("login_required", "blocked", 30), ("rate_limited", "blocked", 7), ("dns_failure", "unreachable", 7)],
)
def test_hosts_that_refuse_us_are_left_alone(worker: Worker, code: str, status: str, days: int) -> None:
    worker.claim()
    ended = end(worker, blocked=code, block_reason="it said so")
    assert (ended.status, ended.block_reason_code, ended.block_reason, ended.claimed_by) == (
        status,
        code,
        "it said so",
        None,
    )
    assert (days_from_now(ended), ended.block_retries, ended.frontier_size) == (days, 1, 1)


def test_a_claim_that_is_lost_cannot_be_given_back(worker: Worker, other: Worker) -> None:
    worker.claim()
    Domain.objects.filter(name="a.example").update(claim_expires_at=PAST)
    other.claim()
    assert end(worker, blocked="forbidden").claimed_by == "other"
    assert Domain.objects.get(name="a.example").status != "blocked"


# The clock.


def test_noise_in_the_databases_clock_is_not_followed(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A delay would be cut short by it. A clock that was really set is followed."""
    store = worker.store
    before = store.clock_offset
    for seconds, follows in [(0.4, False), (-0.4, False), (3600.0, True)]:
        monkeypatch.setattr(store_module, "database_now", lambda more=seconds: database_now() + timedelta(seconds=more))
        store.running_crawls()
        assert (abs(store.clock_offset - before) > 1) == follows
