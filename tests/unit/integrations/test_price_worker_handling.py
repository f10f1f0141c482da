"""From a job to its answer: what is submitted of pages of many kinds."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from crawler.integrations.client import Failure, GiveBack, Job, Result
from crawler.integrations.price_worker import Pages
from crawler.integrations.price_worker.handling import PriceHandler
from tests.faults.shop import Answer, Shop, leads_to, product, zipped


def job(url: str, retry_count: int = 0) -> Job:
    return Job("1", url, 5, 3, 600, retry_count, datetime(2027, 1, 1, tzinfo=UTC))


def result(pages: Pages, url: str, **options: bool) -> Result:
    answer = PriceHandler(pages, **options)(job(url))
    assert isinstance(answer, Result), answer
    return answer


def test_a_product_page_is_a_result_with_the_documented_data(shop: Shop, pages: Pages) -> None:
    url = shop.sells("/red-shoes", "1290000", "VND", "OutOfStock")
    found = result(pages, url)
    assert (found.price, found.currency, found.title, found.in_stock) == (Decimal(1290000), "VND", "Red shoes", False)
    assert found.raw_html is None and found.parsed_data is not None
    assert found.parsed_data["source_url"] == url
    assert found.parsed_data["price_formatted"] == "1,290,000 VND"
    assert found.parsed_data["price_extraction"]["extract_price_from_jsonld"]["price"] == 1290000


@pytest.mark.parametrize(
    "answer",
    [
        zipped(product("Café", "5.00")),
        Answer(product("Café", "5.00").encode("cp1252"), headers={"Content-Type": "text/html; charset=windows-1252"}),
        Answer(
            b"<meta charset=iso-8859-1>" + product("Café", "5.00").encode("cp1252"),
            headers={"Content-Type": "text/html"},
        ),
        Answer(product("Café", "5.00").encode() + b"<p>" * 300_000),
        Answer(product("Café", "5.00").encode(), headers={}),
    ],
    ids=["zipped", "charset in the header", "charset in the page", "longer than is read", "without a type"],
)
def test_pages_are_read_however_they_are_sent(shop: Shop, pages: Pages, answer: Answer) -> None:
    shop.answers["/x"] = answer
    found = result(pages, shop.url("/x"))
    assert (found.price, found.currency, found.title) == (Decimal("5.00"), "EUR", "Café")


def test_after_a_redirect_the_last_address_is_the_source(shop: Shop, pages: Pages) -> None:
    url = shop.sells("/new", "5.00")
    shop.answers["/old"] = leads_to("/new")
    found = result(pages, shop.url("/old"))
    assert found.parsed_data is not None and found.parsed_data["source_url"] == url


def test_the_page_is_sent_when_it_is_wanted(shop: Shop, pages: Pages) -> None:
    shop.answers["/x"] = Answer(product("Café", "5.00").encode() + b"\0")
    assert result(pages, shop.url("/x"), sends_html=True).raw_html == product("Café", "5.00") + "\ufffd"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(b"<h1>About us</h1>"), "no price found"),
        (Answer(product("x", "5.00", "points").encode()), "a price without a currency found: 5.00"),
        (Answer(status=404), "HTTP 404"),
        (
            Answer(b"x", headers={"Content-Type": "text/html", "Content-Encoding": "lzma"}),
            "cannot be read: unknown content encoding 'lzma'",
        ),
    ],
)
def test_a_failure_says_what_was_wrong(shop: Shop, pages: Pages, answer: Answer, reason: str) -> None:
    shop.answers["/x"] = answer
    assert PriceHandler(pages)(job(shop.url("/x"))) == Failure(reason)


def test_a_page_that_broke_off_is_read_in_the_last_attempt(shop: Shop, pages: Pages) -> None:
    shop.answers["/x"] = Answer(product("x", "5.00").encode(), missing=100)
    handle = PriceHandler(pages)
    first, last = handle(job(shop.url("/x"))), handle(job(shop.url("/x"), retry_count=2))
    assert isinstance(first, Failure) and first.reason.startswith("the answer broke off after ")
    assert isinstance(last, Result) and last.price == Decimal("5.00")


def test_what_was_not_tried_is_given_back(shop: Shop, pages: Pages) -> None:
    pages.stop()
    with pytest.raises(GiveBack):
        PriceHandler(pages)(job(shop.sells("/x", "5.00")))
