"""The pages of jobs: found quickly, and freed when they are stuck."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry
from crawler.bots import actions
from crawler.bots.admin import job_list, large, pages
from crawler.bots.admin.jobs import JobAdmin
from crawler.bots.models import BotConfig, CrawlJob, CrawlResult
from tests.unit.bots.admin_browser import SHOP, browser_of, make_jobs, make_policy, place, text_of

pytestmark = pytest.mark.django_db
OTHER = "books.example.org"


@pytest.fixture
def browser() -> Client:
    return browser_of("operator")


@pytest.fixture
def jobs() -> list[CrawlJob]:
    make_policy()
    return make_jobs(4)


def shown(browser: Client, **asked: Any) -> set[str]:
    """Ids of the jobs in the list."""
    page = text_of(browser.get(place("crawljob"), asked))
    return {str(key) for key in CrawlJob.objects.values_list("pk", flat=True) if str(key) in page}


def act(browser: Client, name: str, *jobs: CrawlJob) -> str:
    chosen = {"action": name, "_selected_action": [job.pk for job in jobs]}
    return text_of(browser.post(place("crawljob"), chosen, follow=True))


def finish(job: CrawlJob, bot_id: str) -> CrawlResult:
    assert job.lock_for_bot(bot_id)
    job.mark_done()
    return CrawlResult.objects.create(
        job=job, product_url_hash=job.product_url_hash, bot_id=bot_id, price="9.99", currency="EUR"
    )


def test_filters(browser: Client, jobs: list[CrawlJob]) -> None:
    policy = make_policy("Other", OTHER, priority=9)
    other = make_jobs(1, OTHER)[0]
    BotConfig.objects.create(bot_id="bot-1")
    finish(jobs[0], "bot-1")
    assert jobs[1].lock_for_bot("bot-1")
    CrawlJob.objects.filter(pk=other.pk).update(created_at=other.created_at - timedelta(days=3))
    keys = [str(job.pk) for job in jobs]
    assert shown(browser, status="done") == {keys[0]}
    assert shown(browser, status="locked") == {keys[1]}
    assert shown(browser, status="pending") == {keys[2], keys[3], str(other.pk)}
    assert shown(browser, domain=OTHER) == shown(browser, domain="books.") == {str(other.pk)}
    assert shown(browser, domain="nobody.example") == set()
    assert shown(browser, policy__id__exact=policy.pk) == {str(other.pk)}
    assert shown(browser, bot="bot-1") == {keys[0], keys[1]}
    assert shown(browser, priority="9") == {str(other.pk)}
    assert shown(browser, created="hour") == set(keys)
    assert len(shown(browser, created="week")) == 5
    assert shown(browser, domain=SHOP, status="done", bot="bot-1") == {keys[0]}


def test_searches(browser: Client, jobs: list[CrawlJob]) -> None:
    make_policy("Other", OTHER)
    other = make_jobs(1, OTHER)[0]
    BotConfig.objects.create(bot_id="bot-1")
    finish(jobs[0], "bot-1")
    actions.force_fail_job(SYSTEM, jobs[1])
    keys = [str(job.pk) for job in jobs]
    assert shown(browser, q=keys[2]) == {keys[2]}
    assert shown(browser, q="bot-1") == {keys[0]}
    for number in (0, 1, 2):  # done, failed, pending
        assert shown(browser, q=jobs[number].product_url_hash) == {keys[number]}
        assert shown(browser, q=f"https://{SHOP}/product/{number}") == {keys[number]}
    assert shown(browser, q=f"{SHOP}/product/") == set(keys)
    assert shown(browser, q=OTHER) == {str(other.pk)}
    assert shown(browser, q="nothing like it") == set()


@pytest.mark.parametrize(
    "asked",
    [
        {"policy__id__exact": "x"},
        {"policy__id__exact": "9" * 30},
        {"priority": "²"},
        {"priority": "9" * 30},
        {"created": "x"},
        {"status": "x"},
        {"q": "%'\"\\"},
        {"p": "x"},
        {"domain": "http://["},
    ],
)
def test_nonsense_in_the_address(browser: Client, jobs: list[CrawlJob], asked: dict[str, str]) -> None:
    assert browser.get(place("crawljob"), asked, follow=True).status_code == 200


def test_jobs_are_reset(browser: Client, jobs: list[CrawlJob]) -> None:
    assert jobs[0].lock_for_bot("bot-1")
    assert jobs[1].lock_for_bot("bot-1")
    jobs[1].mark_expired()
    page = act(browser, "reset_jobs", *jobs[:3])
    assert "2 job(s) are pending again" in page
    assert "1 left as they were: A job that is pending cannot be reset" in page
    assert set(CrawlJob.objects.values_list("status", flat=True)) == {"pending"}
    assert AuditEntry.objects.filter(action="reset", actor="the-operator").count() == 2


def test_jobs_are_failed_and_locks_extended(browser: Client, jobs: list[CrawlJob]) -> None:
    assert "1 job(s) have failed for good" in act(browser, "fail_jobs", jobs[0])
    jobs[0].refresh_from_db()
    assert jobs[0].status == "failed"
    assert jobs[1].lock_for_bot("bot-1")
    before = jobs[1].locked_until
    assert "1 lock(s) extended" in act(browser, "extend_locks", jobs[1], jobs[2])
    jobs[1].refresh_from_db()
    assert jobs[1].locked_until - before == timedelta(seconds=600)


def test_an_action_is_bounded(browser: Client, jobs: list[CrawlJob], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_AT_ONCE", 3)
    page = act(browser, "fail_jobs", *jobs)
    assert "Only the first 3 were looked at" in page
    assert CrawlJob.objects.filter(status="failed").count() == 3


@pytest.mark.parametrize(("verb", "status"), [("reset_this", "pending"), ("fail_this", "failed")])
def test_a_job_is_freed_on_its_page(browser: Client, jobs: list[CrawlJob], verb: str, status: str) -> None:
    assert jobs[0].lock_for_bot("bot-1")
    assert "Cancel" in text_of(browser.get(place("crawljob", verb, jobs[0].pk)))
    jobs[0].refresh_from_db()
    assert jobs[0].status == "locked"
    page = text_of(browser.post(place("crawljob", verb, jobs[0].pk), follow=True))
    assert f"The job is {status} now." in page
    page = text_of(browser.post(place("crawljob", "extend_this", jobs[0].pk), follow=True))
    assert "cannot be extended" in page


def test_the_lock_time_is_changed(browser: Client, jobs: list[CrawlJob]) -> None:
    assert jobs[0].lock_for_bot("bot-1")
    change = place("crawljob", "change", jobs[0].pk)
    assert browser.post(change, {"lock_ttl_seconds": "1800", "priority": "7"}).status_code == 302
    jobs[0].refresh_from_db()
    assert (jobs[0].lock_ttl_seconds, jobs[0].priority, jobs[0].locked_by) == (1800, 7, "bot-1")
    assert jobs[0].locked_at is not None
    assert jobs[0].locked_until - jobs[0].locked_at == timedelta(seconds=1800)
    assert AuditEntry.objects.get(action="changed").after == {"lock_ttl_seconds": 1800, "priority": 7}
    assert "greater than or equal to 1" in text_of(browser.post(change, {"lock_ttl_seconds": "0", "priority": "7"}))


def test_what_is_over_is_not_changed(browser: Client, jobs: list[CrawlJob]) -> None:
    finish(jobs[0], "bot-1")
    browser.post(place("crawljob", "change", jobs[0].pk), {"lock_ttl_seconds": "1800", "priority": "7"})
    jobs[0].refresh_from_db()
    assert jobs[0].lock_ttl_seconds == 600


def test_the_page_of_a_job_has_its_story(browser: Client, jobs: list[CrawlJob]) -> None:
    result = finish(jobs[0], "bot-1")
    page = text_of(browser.get(place("crawljob", "change", jobs[0].pk)))
    assert f"https://{SHOP}/product/0" in page
    assert place("crawlresult", "change", result.pk) in page
    assert place("producturl", "change", jobs[0].product_url_hash) in page
    assert "9.99 EUR" in page


def test_a_page_of_jobs_takes_few_queries(
    browser: Client, jobs: list[CrawlJob], django_assert_max_num_queries: Any
) -> None:
    make_policy("Other", OTHER)
    make_jobs(30, OTHER)
    with django_assert_max_num_queries(8):
        assert f"https://{OTHER}/product/29" in text_of(browser.get(place("crawljob")))


def test_long_lists_are_counted_to_a_bound(
    browser: Client, jobs: list[CrawlJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, job in enumerate(jobs):
        CrawlJob.objects.filter(pk=job.pk).update(priority=number + 1)

    def order() -> list[str]:
        page = text_of(browser.get(place("crawljob"), {"o": "3"}))
        return sorted((str(job.pk) for job in jobs), key=page.index)

    assert order() == [str(job.pk) for job in jobs]  # by priority, as asked for
    monkeypatch.setattr(large, "MOST_COUNTED", 2)
    assert order() == sorted((str(job.pk) for job in jobs), reverse=True)  # by id, along its index
    assert "more than 2" in text_of(browser.get(place("crawljob")))


def test_long_lists_of_a_domain(browser: Client, jobs: list[CrawlJob], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_list, "MOST_COUNTED", 2)
    monkeypatch.setattr(large, "MOST_COUNTED", 2)
    monkeypatch.setattr(JobAdmin, "list_per_page", 1)
    finish(jobs[1], "bot-1")
    for days, job in enumerate((jobs[1], jobs[3], jobs[0], jobs[2])):
        CrawlJob.objects.filter(pk=job.pk).update(created_at=job.created_at - timedelta(days=days))
    assert shown(browser, domain=SHOP) == {str(jobs[1].pk)}
    assert shown(browser, domain=SHOP, p="2") == {str(jobs[3].pk)}


def test_viewers_cannot_write(jobs: list[CrawlJob]) -> None:
    viewer = browser_of("viewer")
    assert text_of(viewer.get(place("crawljob")))
    act(viewer, "fail_jobs", jobs[0])
    assert viewer.post(place("crawljob", "fail_this", jobs[0].pk)).status_code == 403
    form = {"lock_ttl_seconds": "1800", "priority": "7"}
    assert viewer.post(place("crawljob", "change", jobs[0].pk), form).status_code == 403
    jobs[0].refresh_from_db()
    assert (jobs[0].status, jobs[0].lock_ttl_seconds) == ("pending", 600)
