"""The Python names that the bot document shows."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from crawler.bots.models import CrawlJob, CrawlPolicy, CrawlResult, InvalidTransition, ProductURL
from crawler.domains.models import Domain
from crawler.web.urls import url_hash

pytestmark = pytest.mark.django_db


@pytest.fixture
def policy() -> CrawlPolicy:
    Domain.objects.create(name="amazon.co.jp")
    return CrawlPolicy.objects.create(
        domain=Domain.objects.get(name="amazon.co.jp"),
        name="Default Policy",
        url_pattern="",
        frequency_hours=24,
        priority=5,
        enabled=True,
    )


@pytest.fixture
def job(policy: CrawlPolicy) -> CrawlJob:
    product = ProductURL.objects.create(url="https://www.amazon.co.jp/dp/1?utm_source=x#top")
    return CrawlJob.objects.create(policy=policy, product_url_hash=product.url_hash)


def test_a_new_url_finds_its_place(policy: CrawlPolicy) -> None:
    product = ProductURL.objects.create(url="https://www.amazon.co.jp/dp/1/?utm_source=x#top")
    assert product.url_hash == url_hash("https://www.amazon.co.jp/dp/1")
    assert product.url == "https://www.amazon.co.jp/dp/1/?utm_source=x", "asked for as it was given"
    assert (product.domain.name, product.policy) == ("amazon.co.jp", policy)
    assert product.next_due_at is not None


def test_a_job_takes_from_its_policy_what_it_is_not_given(policy: CrawlPolicy, job: CrawlJob) -> None:
    assert (job.priority, job.max_retries, job.lock_ttl_seconds) == (5, 3, 600)
    assert (job.status, job.retry_count, job.last_error) == (CrawlJob.STATE_PENDING, 0, "")
    other = ProductURL.objects.create(url="https://amazon.co.jp/dp/2")
    own = CrawlJob.objects.create(policy=policy, product_url_hash=other.pk, priority=20, lock_ttl_seconds=30)
    assert (own.priority, own.lock_ttl_seconds, own.max_retries) == (20, 30, 3)


def test_urls_of_a_deleted_policy_rest(policy: CrawlPolicy, job: CrawlJob) -> None:
    ProductURL.objects.create(url="https://amazon.co.jp/dp/2")
    CrawlPolicy.objects.all().delete()
    assert ProductURL.objects.filter(policy=None, next_due_at=None).count() == ProductURL.objects.count() == 2
    job.refresh_from_db()
    assert (job.policy, job.status) == (None, CrawlJob.STATE_PENDING)


def test_the_constants() -> None:
    names = ("PENDING", "LOCKED", "DONE", "FAILED", "EXPIRED")
    assert [getattr(CrawlJob, f"STATE_{name}") for name in names] == [name.lower() for name in names]


def test_locking_and_success(policy: CrawlPolicy, job: CrawlJob) -> None:
    assert job.lock_for_bot("bot-001") is True
    assert (job.status, job.locked_by, job.fence) == ("locked", "bot-001", 1)
    assert job.locked_at is not None
    assert job.lock_for_bot("bot-002") is False
    assert not job.is_lock_expired()
    assert job.can_retry()
    job.mark_done()
    assert (job.status, job.locked_by) == ("done", None)
    assert CrawlJob.objects.filter(locked_at=None).exists()
    assert abs(job.product_url.next_due_at - timezone.now() - timedelta(hours=24)) < timedelta(minutes=1)  # type: ignore[operator]
    assert policy.next_run_at == job.product_url.next_due_at


def test_failures(job: CrawlJob) -> None:
    for attempt in (1, 2):
        job.lock_for_bot("bot-001")
        job.mark_failed("timeout", auto_retry=True)
        assert (job.status, job.retry_count, job.last_error) == ("pending", attempt, "timeout")
    job.lock_for_bot("bot-001")
    job.mark_failed("gone")
    assert (job.status, job.retry_count, job.can_retry()) == ("failed", 3, False)
    assert job.product_url.failure_streak == 1


def test_a_failure_without_retry_is_final(job: CrawlJob) -> None:
    job.lock_for_bot("bot-001")
    job.mark_failed("404", auto_retry=False)
    assert job.status == "failed"


def test_expiry_follows_from_locked_at_and_its_seconds(job: CrawlJob) -> None:
    job.lock_for_bot("bot-001")
    CrawlJob.objects.update(locked_at=timezone.now() - timedelta(seconds=601))
    assert job.is_lock_expired()
    CrawlJob.objects.update(lock_ttl_seconds=900)
    assert not job.is_lock_expired(), "more time was given"
    CrawlJob.objects.update(lock_ttl_seconds=1)
    job.mark_expired()
    assert (job.status, job.locked_by) == ("expired", None)


def test_nothing_is_done_twice(job: CrawlJob) -> None:
    with pytest.raises(InvalidTransition):
        job.mark_done()
    job.lock_for_bot("bot-001")
    stale = CrawlJob.objects.get(pk=job.pk)
    job.mark_failed("x")
    job.lock_for_bot("bot-002")
    with pytest.raises(InvalidTransition):
        stale.mark_done()
    assert CrawlJob.objects.get(pk=job.pk).locked_by == "bot-002"


def test_a_url_has_one_open_job(policy: CrawlPolicy, job: CrawlJob) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        CrawlJob.objects.create(policy=policy, product_url_hash=job.product_url_hash)
    job.lock_for_bot("bot-001")
    with pytest.raises(IntegrityError), transaction.atomic():
        CrawlJob.objects.create(policy=policy, product_url_hash=job.product_url_hash)
    job.mark_done()
    CrawlJob.objects.create(policy=policy, product_url_hash=job.product_url_hash)


def test_the_policy_as_a_whole(policy: CrawlPolicy) -> None:
    assert policy.next_run_at is None
    waits: list[int] = []
    for _ in range(5):
        policy.schedule_next_run(success=False)
        assert policy.next_run_at is not None
        waits.append(round((policy.next_run_at - timezone.now()).total_seconds() / 60))
    assert waits == [5, 10, 20, 40, 40]
    assert policy.schedule_next_run(success=True) == policy.next_run_at


@pytest.mark.parametrize(("field", "value"), [("priority", 0), ("priority", 21), ("frequency_hours", 0)])
def test_the_database_knows_the_bounds(policy: CrawlPolicy, field: str, value: int) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        CrawlPolicy.objects.update(**{field: value})


def test_a_pattern_is_a_regular_expression(policy: CrawlPolicy) -> None:
    policy.url_pattern = "("
    with pytest.raises(ValidationError):
        policy.save()
    policy.url_pattern = r"(?=x)"
    with pytest.raises(ValidationError):
        policy.save()


@pytest.mark.parametrize("price", ["0", "99.99", "999999999999.999999", "0.000001", "1000", "1E+3", "12.50"])
def test_prices_come_back_as_they_went_in(job: CrawlJob, price: str) -> None:
    CrawlResult.objects.create(job=job, product_url_hash=job.product_url_hash, bot_id="b", price=price, currency="USD")
    assert CrawlResult.objects.get().price == Decimal(price)
    assert "E" not in str(CrawlResult.objects.get().price).replace("1E-6", "")
    assert CrawlResult.objects.filter(price__lte=Decimal(price), price__gte=Decimal(price)).count() == 1
