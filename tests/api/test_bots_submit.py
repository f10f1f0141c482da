"""POST /api/crawl/submit/: shapes, codes, decimals, and what is never done twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.utils import timezone

from crawler.archive import read
from crawler.bots import actions
from crawler.bots.models import CrawlJob, CrawlResult, ProductURL
from tests.api.bots import Bot, make_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def bot() -> Bot:
    return Bot()


def job_of(bot: Bot, **policy: Any) -> str:
    make_jobs(1, **policy)
    (job,) = bot.pull(1)
    return str(job["job_id"])


def overdue(job_id: str) -> None:
    CrawlJob.objects.filter(pk=job_id).update(locked_at=timezone.now() - timedelta(minutes=11))


def test_success_stores_a_result(bot: Bot) -> None:
    job_id = job_of(bot)
    answer = bot.submit(job_id, title="Amazing Product", in_stock=True, parsed_data={"sku": "ABC123", "rating": 4.5})
    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == {"success", "data"}
    assert set(body["data"]) == {"result_id", "job_id", "status", "price", "currency", "policy_next_run"}
    assert (body["data"]["job_id"], body["data"]["status"]) == (job_id, "done")
    assert (body["data"]["price"], body["data"]["currency"]) == (99.99, "USD")
    due = datetime.fromisoformat(body["data"]["policy_next_run"])
    assert abs(due - timezone.now() - timedelta(hours=24)) < timedelta(minutes=1)
    result = CrawlResult.objects.get(pk=UUID(body["data"]["result_id"]))
    assert (str(result.job_id), result.bot_id, result.title) == (job_id, "bot-001", "Amazing Product")
    assert (result.price, result.currency, result.in_stock) == (Decimal("99.99"), "USD", True)
    assert result.parsed_data == {"sku": "ABC123", "rating": 4.5}
    job = CrawlJob.objects.get(pk=job_id)
    assert (job.status, job.locked_by, job.locked_at) == (CrawlJob.STATE_DONE, None, None)


def test_a_product_knows_its_last_result_and_a_result_the_one_before(bot: Bot) -> None:
    bot.submit(job_of(bot), price="10.50", in_stock=False)
    ProductURL.objects.update(next_due_at=timezone.now() - timedelta(seconds=1))
    actions.schedule_due()
    (job,) = bot.pull()
    bot.submit(job["job_id"], price="12", title="Now in stock")
    newest = CrawlResult.objects.first()
    assert newest is not None
    assert (newest.previous_price, newest.previous_currency, newest.previous_in_stock) == (
        Decimal("10.5"),
        "USD",
        False,
    )
    product = ProductURL.objects.get()
    assert (product.last_price, product.last_title, product.last_in_stock) == (Decimal(12), "Now in stock", True)


def test_failures_are_tried_again_and_then_are_final(bot: Bot) -> None:
    job_id = job_of(bot, max_retries=3)
    for attempt in (1, 2):
        answer = bot.fail(job_id)
        assert answer.status_code == 200
        assert answer.json()["data"] == {
            "job_id": job_id, "status": "pending", "retry_count": attempt, "max_retries": 3,
            "message": "Job marked for retry",
        }  # fmt: skip
        assert [job["retry_count"] for job in bot.pull()] == [attempt]
    answer = bot.fail(job_id, "Timeout after 3 retries")
    assert answer.status_code == 200
    assert answer.json()["data"] == {
        "job_id": job_id, "status": "failed", "retry_count": 3, "max_retries": 3,
        "error": "Timeout after 3 retries", "message": "Retries exhausted",
    }  # fmt: skip
    job = CrawlJob.objects.get(pk=job_id)
    assert (job.status, job.last_error) == ("failed", "Timeout after 3 retries")
    assert not CrawlResult.objects.exists()


@pytest.mark.parametrize(("failures", "minutes"), [(0, 5), (1, 10), (2, 20), (3, 40), (4, 40), (900, 40)])
def test_final_failures_back_off(bot: Bot, failures: int, minutes: int) -> None:
    job_id = job_of(bot, max_retries=1)
    ProductURL.objects.update(failure_streak=failures)
    bot.fail(job_id)
    due = ProductURL.objects.get().next_due_at
    assert due is not None
    assert abs(due - timezone.now() - timedelta(minutes=minutes)) < timedelta(seconds=30)


def test_a_second_submit_stores_nothing(bot: Bot) -> None:
    job_id = job_of(bot)
    bot.submit(job_id)
    answer = bot.submit(job_id, price=1)
    assert answer.status_code == 400
    assert answer.json()["error"] == "job_not_locked"
    assert CrawlResult.objects.get().price == Decimal("99.99")


def test_with_a_key_the_first_answer_is_replayed(bot: Bot) -> None:
    job_id = job_of(bot)
    body = {"job_id": job_id, "success": True, "price": 5, "currency": "EUR"}
    first = bot.post("submit", body, **{"Idempotency-Key": "k1"})
    second = bot.post("submit", body, **{"Idempotency-Key": "k1"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert second["Idempotent-Replayed"] == "true"
    assert CrawlResult.objects.count() == 1
    other = bot.post("submit", body | {"price": 6}, **{"Idempotency-Key": "k1"})
    assert (other.status_code, other.json()["error"]) == (422, "validation_error")


def test_keys_belong_to_one_bot_that_proved_itself(bot: Bot) -> None:
    job_id = job_of(bot)
    body = {"bot_id": "bot-001", "job_id": job_id, "success": True, "price": 5, "currency": "EUR"}
    keyed = {"Idempotency-Key": "k1"}
    assert bot.send("submit", body, Authorization=f"Bearer {bot.token}", **keyed).status_code == 201
    assert bot.send("submit", body, Authorization="Bearer wrong", **keyed).status_code == 401


def test_a_late_submit_expires_the_job(bot: Bot) -> None:
    job_id = job_of(bot)
    overdue(job_id)
    for _ in range(2):
        answer = bot.submit(job_id)
        assert answer.status_code == 400
        assert answer.json() == {"success": False, "error": "lock_expired", "detail": "Lock TTL exceeded"}
        job = CrawlJob.objects.get(pk=job_id)
        assert (job.status, job.locked_by) == (CrawlJob.STATE_EXPIRED, None)
    assert not CrawlResult.objects.exists()


def test_a_late_submit_with_a_key_expires_the_job_too(bot: Bot) -> None:
    job_id = job_of(bot)
    overdue(job_id)
    keyed = {"Idempotency-Key": "k1"}
    body = {"job_id": job_id, "success": False}
    answers = [bot.post("submit", body, **keyed) for _ in range(2)]
    assert [answer.json()["error"] for answer in answers] == ["lock_expired"] * 2
    assert CrawlJob.objects.get(pk=job_id).status == "expired"


def test_a_late_submit_under_requeue_is_a_failed_attempt(bot: Bot) -> None:
    job_id = job_of(bot, requeue_expired=True)
    overdue(job_id)
    assert bot.submit(job_id).json()["error"] == "lock_expired"
    job = CrawlJob.objects.get(pk=job_id)
    assert (job.status, job.retry_count) == ("pending", 1)


def test_jobs_of_others(bot: Bot) -> None:
    job_id = job_of(bot)
    answer = Bot("bot-002").submit(job_id)
    assert answer.status_code == 403
    assert answer.json() == {
        "success": False, "error": "not_assigned", "detail": "Job locked by another bot, not bot-002",
    }  # fmt: skip
    assert CrawlJob.objects.get(pk=job_id).locked_by == "bot-001"


def test_unknown_jobs(bot: Bot) -> None:
    unknown = str(uuid4())
    answer = bot.submit(unknown)
    assert answer.status_code == 404
    assert answer.json() == {"success": False, "error": "job_not_found", "detail": f"Job {unknown} not found"}


def test_jobs_that_nobody_pulled(bot: Bot) -> None:
    make_jobs(1)
    answer = bot.submit(str(CrawlJob.objects.get().pk))
    assert (answer.status_code, answer.json()["error"]) == (400, "job_not_locked")


def test_the_fence_of_an_earlier_lock_opens_nothing(bot: Bot) -> None:
    job_id = job_of(bot)
    bot.fail(job_id)
    (again,) = bot.pull()
    assert again["fence"] == 2
    answer = bot.submit(job_id, fence=1)
    assert (answer.status_code, answer.json()["error"]) == (403, "not_assigned")
    assert bot.submit(job_id, fence=2).status_code == 201


@pytest.mark.parametrize(
    ("sent", "price"),
    [
        ("99.99", "99.99"),
        ("0", "0"),
        ("1290000.0", "1290000.0"),
        ('"99.99"', "99.99"),
        ("123456789012.123456", "123456789012.123456"),
        ("0.1", "0.1"),
        ("1e3", "1000"),
        ('"0.000001"', "0.000001"),
        ("-0", "0"),
    ],
)
def test_prices_are_exact(bot: Bot, sent: str, price: str) -> None:
    job_id = job_of(bot)
    shown = f'"bot_id": "bot-001", "api_token": "{bot.token}"'
    answer = bot.send(
        "submit", f'{{{shown}, "job_id": "{job_id}", "success": true, "price": {sent}, "currency": "USD"}}'
    )
    assert answer.status_code == 201
    assert f'"price": {price},' in answer.content.decode(), "a JSON number, digit by digit"
    assert CrawlResult.objects.get().price == Decimal(price)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"price": None, "currency": "USD"}, {"price": ["This field is required."]}),
        ({"price": 1}, {"currency": ["This field is required."]}),
        ({}, {"price": ["This field is required."], "currency": ["This field is required."]}),
        ({"price": -0.01, "currency": "USD"}, {"price": ["Ensure this value is greater than or equal to 0.00."]}),
        ({"price": 10**12, "currency": "USD"}, {"price": ["Decimal value too large."]}),
        ({"price": "1e99", "currency": "USD"}, {"price": ["Decimal value too large."]}),
        ({"price": 0.1234567, "currency": "USD"}, {"price": ["Ensure that there are no more than 6 decimal places."]}),
        ({"price": "dear", "currency": "USD"}, {"price": ["A valid number is required."]}),
        ({"price": "NaN", "currency": "USD"}, {"price": ["A valid number is required."]}),
        ({"price": True, "currency": "USD"}, {"price": ["A valid number is required."]}),
        ({"price": 1, "currency": "USDA"}, {"currency": ["Ensure this field has exactly 3 characters."]}),
        ({"price": 1, "currency": "ABC"}, {"currency": ['"ABC" is not an ISO 4217 currency.']}),
        ({"price": 1, "currency": "USD", "success": "yes"}, {"success": ["Must be a valid boolean."]}),
        ({"price": 1, "currency": "USD", "job_id": "nonsense"}, {"job_id": ["Must be a valid UUID."]}),
        ({"price": 1, "currency": "USD", "title": "a\0b"}, {"title": ["Null characters are not allowed."]}),
        ({"price": 1, "currency": "USD", "title": 7}, {"title": ["Not a valid string."]}),
        (
            {"price": 1, "currency": "USD", "parsed_data": [1]},
            {"parsed_data": ['Expected a dictionary of items but got type "list".']},
        ),
        (
            {"price": 1, "currency": "USD", "parsed_data": {"a": ["\0"]}},
            {"parsed_data": ["Null characters are not allowed."]},
        ),
        (
            {"price": 1, "currency": "USD", "parsed_data": {"a": "\ud800"}},
            {"parsed_data": ["Not valid Unicode: it has half a surrogate pair."]},
        ),
    ],
)
def test_wrong_fields_are_named_and_nothing_happens(bot: Bot, body: dict[str, Any], detail: dict[str, Any]) -> None:
    job_id = job_of(bot)
    answer = bot.post("submit", {"job_id": job_id, "success": True} | body)
    assert answer.status_code == 400
    assert answer.json() == {"success": False, "error": "validation_error", "detail": detail}
    assert CrawlJob.objects.get(pk=job_id).status == "locked"


def test_missing_fields_are_named(bot: Bot) -> None:
    required = ["This field is required."]
    assert bot.post("submit").json()["detail"] == {"job_id": required, "success": required}


def test_lower_case_currencies_are_understood(bot: Bot) -> None:
    assert bot.submit(job_of(bot), currency="vnd").json()["data"]["currency"] == "VND"


def test_text_of_any_kind_is_kept(bot: Bot) -> None:
    bot.submit(job_of(bot), title="Ça coûte 5 €", parsed_data={"价格": "5 \\u0000 ✓", "x": 0.1})
    result = CrawlResult.objects.get()
    assert (result.title, result.parsed_data) == ("Ça coûte 5 €", {"价格": "5 \\u0000 ✓", "x": 0.1})


def test_raw_html_rests_in_the_archive(bot: Bot) -> None:
    page = "<html>" + "Preis: 5 € " * 1000 + "</html>"
    bot.submit(job_of(bot), raw_html=page)
    result = CrawlResult.objects.get()
    assert result.storage_path is not None
    record = read(settings.CRAWLSPACE.archive_url, result.storage_path)
    assert record.body.decode() == page
    assert record.url == "https://example.com/product/0"
    assert int(result.storage_path.rpartition("+")[2]) < len(page) / 5, "compressed"


def test_raw_html_of_a_job_that_is_not_held_is_not_kept(bot: Bot) -> None:
    job_id = job_of(bot)
    other = Bot("bot-002")
    assert other.submit(job_id, raw_html="<html>").status_code == 403
    assert bot.submit(job_id).status_code == 201
    assert CrawlResult.objects.get().storage_path is None
