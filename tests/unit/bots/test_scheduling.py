"""Which policy a URL belongs to, and when it becomes a job."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry
from crawler.bots import actions, tasks
from crawler.bots.actions import scheduling
from crawler.bots.models import CrawlJob, CrawlPolicy, ProductURL
from crawler.domains.models import Domain
from crawler.foundation.errors import Conflict, InvalidInput

pytestmark = pytest.mark.django_db
SHOP = "shop.example.com"


def policy(name: str = "Default", **fields: Any) -> CrawlPolicy:
    domain, _ = Domain.objects.get_or_create(name=SHOP)
    return CrawlPolicy.objects.create(domain=domain, name=name, **fields)


def add(*paths: str) -> actions.AddedURLs:
    return actions.add_product_urls([f"https://{SHOP}/{path}" for path in paths])


def owners() -> dict[str, str | None]:
    rows = ProductURL.objects.values_list("url", "policy__name")
    return {url.removeprefix(f"https://{SHOP}/"): name for url, name in rows}


def test_the_highest_priority_that_matches_wins() -> None:
    policy("all", priority=5)
    policy("books", priority=10, url_pattern="/books/")
    policy("old books", priority=10, url_pattern="/books/old")
    policy("too low", priority=1, url_pattern="/toys/")
    add("books/1", "books/old", "toys/1")
    assert owners() == {"books/1": "books", "books/old": "books", "toys/1": "all"}


def test_urls_follow_their_policies() -> None:
    add("books/1", "toys/1")
    assert owners() == {"books/1": None, "toys/1": None}
    books = policy("books", url_pattern="books")
    assert actions.assign_policies() == 1
    assert owners() == {"books/1": "books", "toys/1": None}
    policy("all", priority=1)
    actions.assign_policies()
    assert owners() == {"books/1": "books", "toys/1": "all"}
    actions.change_policy(SYSTEM, books, {"url_pattern": "toys"})
    actions.assign_policies()
    assert owners() == {"books/1": "all", "toys/1": "books"}
    actions.delete_policy(SYSTEM, books)
    actions.assign_policies()
    assert owners() == {"books/1": "all", "toys/1": "all"}
    assert actions.assign_policies() == 0, "settled"


def test_a_url_that_loses_its_policy_rests() -> None:
    books = policy("books", url_pattern="books")
    add("books/1")
    actions.change_policy(SYSTEM, books, {"url_pattern": "toys"})
    actions.assign_policies()
    assert ProductURL.objects.get().next_due_at is None
    assert actions.schedule_due() == 0


def test_a_url_with_a_job_is_not_due_when_it_gets_another_policy() -> None:
    books = policy("books")
    add("books/1")
    actions.schedule_due()
    actions.delete_policy(SYSTEM, books)
    policy("new")
    tasks.schedule_due()
    assert CrawlJob.objects.count() == 1
    assert ProductURL.objects.get().next_due_at is None


def test_adding_tells_what_came_of_it() -> None:
    policy("books", url_pattern="books")
    first = add("books/1", "books/1?utm_source=x", "toys/1")
    assert (first.added, first.known, first.refused, first.without_policy) == (2, 1, 0, 1)
    again = actions.add_product_urls([f"https://{SHOP}/books/1", "ftp://x/", "nonsense"])
    assert (again.added, again.known, again.refused) == (0, 1, 2)
    assert [url for url, _ in again.refusals] == ["ftp://x/", "nonsense"]


def test_due_urls_become_jobs_once() -> None:
    policy(priority=7, max_retries=2, timeout_seconds=30, respect_host_limits=False)
    add("1", "2")
    assert tasks.schedule_due() == "made 2 jobs of URLs that were due; 0 URLs changed their policy"
    assert actions.schedule_due() == 0
    for job in CrawlJob.objects.all():
        assert (job.status, job.priority, job.max_retries, job.lock_ttl_seconds) == ("pending", 7, 2, 30)
        assert (job.host_limited, job.retry_count, job.fence, job.id.version) == (False, 0, 0, 7)
    assert ProductURL.objects.filter(next_due_at=None).count() == 2


def test_what_is_due_although_it_has_an_open_job_makes_no_second() -> None:
    policy()
    add("1")
    actions.schedule_due()
    ProductURL.objects.update(next_due_at=timezone.now() - timedelta(days=1))
    assert actions.schedule_due() == 0
    assert CrawlJob.objects.count() == 1


def test_what_is_not_due_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "BATCH", 2)
    policy()
    add("1", "2", "3", "4", "5")
    soon = ProductURL.objects.filter(url__endswith="/5")
    soon.update(next_due_at=timezone.now() + timedelta(hours=1))
    assert actions.schedule_due() == 4


def test_policies_that_are_switched_off_rest_and_keep_their_urls() -> None:
    books = policy("books")
    add("books/1")
    actions.change_policy(SYSTEM, books, {"enabled": False}, reason="closed")
    assert actions.schedule_due() == 0
    assert owners() == {"books/1": "books"}
    actions.change_policy(SYSTEM, books, {"enabled": True})
    assert actions.schedule_due() == 1


def test_a_changed_policy_changes_its_pending_jobs() -> None:
    books = policy("books")
    add("books/1")
    actions.schedule_due()
    actions.change_policy(SYSTEM, books, {"priority": 9, "timeout_seconds": 60})
    job = CrawlJob.objects.get()
    assert (job.priority, job.lock_ttl_seconds, job.max_retries) == (9, 60, 3)
    entry = AuditEntry.objects.get(action="changed")
    assert entry.after == {"priority": 9, "timeout_seconds": 60}


def test_policies_are_checked() -> None:
    domain = Domain.objects.create(name=SHOP)
    with pytest.raises(InvalidInput) as wrong:
        actions.create_policy(SYSTEM, domain, "x", priority=21, url_pattern="(")
    assert set(wrong.value.fields) == {"priority", "url_pattern"}
    actions.create_policy(SYSTEM, domain, "x")
    with pytest.raises(Conflict):
        actions.create_policy(SYSTEM, domain, "x")


@pytest.fixture
def job() -> CrawlJob:
    policy()
    add("1")
    actions.schedule_due()
    return CrawlJob.objects.get()


def test_resetting_and_giving_up(job: CrawlJob) -> None:
    with pytest.raises(Conflict):
        actions.reset_job(SYSTEM, job)
    job.lock_for_bot("bot-001")
    reset = actions.reset_job(SYSTEM, job, reason="stuck")
    assert (reset.status, reset.locked_by, reset.fence) == ("pending", None, 2)
    failed = actions.force_fail_job(SYSTEM, job, reason="not worth it")
    assert (failed.status, failed.last_error) == ("failed", "not worth it")
    assert ProductURL.objects.get().next_due_at is not None
    ProductURL.objects.update(next_due_at=timezone.now() - timedelta(seconds=1))
    actions.schedule_due()
    with pytest.raises(Conflict):
        actions.reset_job(SYSTEM, failed)
    assert [entry.action for entry in AuditEntry.objects.all()] == ["failed", "reset"]


def test_extending_a_lock(job: CrawlJob) -> None:
    with pytest.raises(Conflict):
        actions.extend_lock(SYSTEM, job, 60)
    job.lock_for_bot("bot-001")
    longer = actions.extend_lock(SYSTEM, job, 300)
    assert longer.locked_until == longer.locked_at + timedelta(seconds=900)  # type: ignore[operator]


def test_removing_a_url_removes_its_open_job(job: CrawlJob) -> None:
    actions.remove_product_url(SYSTEM, ProductURL.objects.get())
    assert not CrawlJob.objects.exists()
