"""The pages of results. What a bot sent as HTML never runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from crawler.bots import html
from crawler.bots.admin.results import change_of
from crawler.bots.models import BotConfig, CrawlJob, CrawlResult
from tests.unit.bots.admin_browser import SHOP, browser_of, make_jobs, make_policy, place, text_of

pytestmark = pytest.mark.django_db
EVIL = "<html><script>alert('evil')</script><p>Größe</p></html>"


@pytest.fixture
def browser() -> Client:
    return browser_of("viewer")


@pytest.fixture
def job() -> CrawlJob:
    make_policy()
    return make_jobs(1)[0]


def make_result(job: CrawlJob, price: str = "9.99", **more: Any) -> CrawlResult:
    fields = {"job_id": uuid4(), "product_url_hash": job.product_url_hash, "bot_id": "bot-1", "currency": "EUR"}
    made: CrawlResult = CrawlResult.objects.create(price=Decimal(price), **(fields | more))
    return made


def kept(job: CrawlJob) -> CrawlResult:
    where = html.keep("bot-1", {job.pk: (f"https://{SHOP}/product/0", EVIL)})
    return make_result(job, storage_path=where[job.pk])


def test_the_list(browser: Client, job: CrawlJob, django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        make_result(job, f"{number}.100001", previous_price=Decimal("1"), previous_currency="EUR")
    with django_assert_max_num_queries(7):
        page = text_of(browser.get(place("crawlresult")))
    assert "19.100001" in page
    assert "+18.100001 (+1810.0 %)" in page
    assert f"https://{SHOP}/product/0" in page


@pytest.mark.parametrize(
    ("price", "old", "currency", "said"),
    [
        ("9.99", None, None, "first"),
        ("9.99", "9.99", "EUR", "unchanged"),
        ("9.00", "10.00", "EUR", "−1 (-10.0 %)"),
        ("5", "0", "EUR", "+5"),
        ("5", "6", "USD", "was in USD"),
    ],
)
def test_what_changed(job: CrawlJob, price: str, old: str | None, currency: str | None, said: str) -> None:
    before = {"previous_price": Decimal(old) if old else None, "previous_currency": currency}
    assert change_of(CrawlResult.objects.get(pk=make_result(job, price, **before).pk))[1] == said


def test_filters_and_searches(browser: Client, job: CrawlJob) -> None:
    BotConfig.objects.create(bot_id="bot-2")
    one = make_result(job, "1.01", in_stock=False)
    two = make_result(job, "2.02", bot_id="bot-2", currency="USD", product_url_hash="0" * 64)
    prices = {"1.01", "2.02"}

    def shown(**asked: str) -> set[str]:
        page = text_of(browser.get(place("crawlresult"), asked))
        return {price for price in prices if price in page}

    assert shown() == prices
    assert shown(q=str(one.pk)) == shown(q=str(one.job_id)) == {"1.01"}
    assert shown(q=job.product_url_hash) == shown(q=f"{SHOP}/product") == {"1.01"}
    assert shown(q="bot-2") == shown(bot="bot-2") == shown(currency="usd") == shown(in_stock="yes") == {"2.02"}
    assert shown(domain=SHOP) == shown(in_stock="no") == {"1.01"}
    assert shown(created="day") == prices
    assert shown(html="yes") == set()
    assert str(two.pk) in text_of(browser.get(place("crawlresult")))


def test_the_page_shows_parsed_data_as_text(browser: Client, job: CrawlJob) -> None:
    result = make_result(job, parsed_data={"note": "<script>x()</script>", "größe": [1, 2]})
    page = text_of(browser.get(place("crawlresult", "change", result.pk)))
    assert "&lt;script&gt;x()" in page
    assert "<script>x()" not in page
    assert "größe" in page
    assert f"{result.job_id} (forgotten)" in page


def test_raw_html_is_shown_as_text(browser: Client, job: CrawlJob) -> None:
    page = text_of(browser.get(place("crawlresult", "raw_html", kept(job).pk)))
    assert "&lt;script&gt;alert(" in page
    assert "<script>alert(" not in page
    assert 'sandbox=""' in page


def test_raw_html_in_a_frame_has_no_rights(browser: Client, job: CrawlJob) -> None:
    answer = browser.get(place("crawlresult", "framed", kept(job).pk))
    assert answer.content.decode() == EVIL
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox; default-src 'none';")
    assert "allow-" not in policy
    assert "script-src" not in policy
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_raw_html_is_downloaded_as_text(browser: Client, job: CrawlJob) -> None:
    result = kept(job)
    answer = browser.get(place("crawlresult", "download", result.pk))
    assert answer.content.decode() == EVIL
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{result.pk}.txt"'


def test_raw_html_that_is_not_there(browser: Client, job: CrawlJob) -> None:
    without, lost = make_result(job), make_result(job, storage_path="bots/gone.warc.gz#0+10")
    assert "No raw_html was sent" in text_of(browser.get(place("crawlresult", "raw_html", without.pk)))
    for what in ("download", "framed"):
        for result in (without, lost):
            answer = browser.get(place("crawlresult", what, result.pk))
            assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/plain")
    assert browser.get(place("crawlresult", "download", uuid4())).status_code == 404


def test_strangers_see_nothing(job: CrawlJob) -> None:
    result = kept(job)
    for what in ("change", "raw_html", "download", "framed"):
        assert Client().get(place("crawlresult", what, result.pk)).status_code == 302


def test_results_are_never_changed(job: CrawlJob) -> None:
    result, admin = make_result(job), browser_of("admin")
    assert admin.get(place("crawlresult", "add")).status_code == 403
    assert admin.post(place("crawlresult", "change", result.pk), {"price": "1"}).status_code == 403
    assert admin.get(place("crawlresult", "delete", result.pk)).status_code == 403
