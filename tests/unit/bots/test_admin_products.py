"""The pages of products: prices, visits, and how URLs come in."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from crawler.accounts.models import AuditEntry
from crawler.bots import actions
from crawler.bots.models import CrawlJob, CrawlResult, ProductURL
from tests.unit.bots.admin_browser import SHOP, browser_of, make_jobs, make_policy, make_products, place, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser() -> Client:
    return browser_of("operator")


def shown(browser: Client, **asked: Any) -> list[str]:
    """Numbers of the products in the list, in order."""
    page = text_of(browser.get(place("producturl"), asked))
    return list(dict.fromkeys(re.findall(rf"{SHOP}/product/(\d+)", page)))


def add_price(product: ProductURL, price: str, currency: str = "EUR", **more: Any) -> CrawlResult:
    made: CrawlResult = CrawlResult.objects.create(
        job_id=uuid4(), product_url_hash=product.pk, bot_id="bot-1", price=Decimal(price), currency=currency, **more
    )
    return made


def test_filters_and_searches(browser: Client) -> None:
    policy = make_policy(url_pattern="product/[01]$")
    products = make_products(4)
    actions.add_product_urls(["https://other.example.net/product/9"])
    known = {"last_price": Decimal("5"), "last_currency": "EUR", "last_in_stock": False}
    ProductURL.objects.filter(pk=products[2].pk).update(**known)
    assert shown(browser) == ["0", "1", "2", "3"]
    assert shown(browser, policy__id__exact=policy.pk) == ["0", "1"]
    assert shown(browser, in_stock="no") == shown(browser, priced="yes") == ["2"]
    assert shown(browser, priced="no") == ["0", "1", "3"]
    assert shown(browser, domain="shop.") == ["0", "1", "2", "3"]
    assert shown(browser, domain="other.example.net") == []
    assert shown(browser, q=products[3].pk) == shown(browser, q=products[3].pk[:12]) == ["3"]
    assert shown(browser, q=f"https://{SHOP}/product/1") == shown(browser, q=f"{SHOP}/product/1") == ["1"]
    assert shown(browser, q=f"https://{SHOP}/prod") == shown(browser, q=SHOP) == ["0", "1", "2", "3"]
    assert shown(browser, q=f"http://{SHOP}/prod") == []
    assert shown(browser, q="https://sho") == ["0", "1", "2", "3"]


def test_a_long_beginning_is_compared_to_its_end(browser: Client) -> None:
    long = "x" * 200
    actions.add_product_urls([f"https://{SHOP}/{long}/product/{number}" for number in (1, 2)])

    def found(path: str) -> int:
        page = text_of(browser.get(place("producturl"), {"q": f"https://{SHOP}/{long}/{path}"}))
        return len(set(re.findall(r"bots/producturl/([0-9a-f]{64})/change", page)))

    assert (found("product/"), found("product/2"), found("prices/")) == (2, 1, 0)


def test_a_page_of_products_takes_few_queries(browser: Client, django_assert_max_num_queries: Any) -> None:
    make_policy()
    make_products(40)
    with django_assert_max_num_queries(6):
        assert len(shown(browser)) == 40


def test_the_page_has_the_prices_for_the_chart(browser: Client) -> None:
    make_policy()
    product = make_products(1)[0]
    for price, currency in (("10", "EUR"), ("9.50", "EUR"), ("11.123456", "USD")):
        add_price(product, price, currency, title="A <b>thing</b>")
    page = text_of(browser.get(place("producturl", "change", product.pk)))
    data = re.search(r'<script id="price-chart-data" type="application/json">(.*?)</script>', page)
    assert data
    chart = json.loads(data[1])
    assert len(chart["times"]) == 3
    assert chart["lines"] == [
        {"currency": "EUR", "prices": [10.0, 9.5, None]},
        {"currency": "USD", "prices": [None, None, 11.123456]},
    ]
    assert "11.123456 USD" in page
    assert "A &lt;b&gt;thing" in page
    assert "bots/uplot/uPlot.iife.min.js" in page


def test_a_product_without_prices(browser: Client) -> None:
    product = make_products(1)[0]
    page = text_of(browser.get(place("producturl", "change", product.pk)))
    assert "No prices yet" in page
    assert "not visited until a policy" in page


def test_products_are_made_due(browser: Client) -> None:
    make_policy()
    products = make_products(3)
    later = timezone.now() + timedelta(days=1)
    ProductURL.objects.update(next_due_at=later)
    chosen = {"action": "make_due", "_selected_action": [product.pk for product in products[:2]]}
    assert "2 product(s) are due" in text_of(browser.post(place("producturl"), chosen, follow=True))
    assert actions.schedule_due() == 2
    page = text_of(browser.post(place("producturl", "make_this_due", products[0].pk), follow=True))
    assert "Its URL has an open job" in page
    page = text_of(browser.post(place("producturl", "make_this_due", products[2].pk), follow=True))
    assert "Due since" in page
    assert AuditEntry.objects.filter(action="made due", actor="the-operator").count() == 3


@pytest.mark.parametrize(("enabled", "reason"), [(False, "Its policy is switched off"), (None, "No policy covers")])
def test_what_cannot_be_due(browser: Client, enabled: bool | None, reason: str) -> None:
    if enabled is not None:
        make_policy(enabled=enabled)
    product = make_products(1)[0]
    assert reason in text_of(browser.post(place("producturl", "make_this_due", product.pk), follow=True))


def test_admins_remove_products() -> None:
    make_policy()
    first, second = make_jobs(2)
    result = add_price(ProductURL.objects.get(pk=first.product_url_hash), "1")
    admin = browser_of("admin")
    assert "results stay" in text_of(admin.get(place("producturl", "remove_this", first.product_url_hash)))
    admin.post(place("producturl", "remove_this", first.product_url_hash))
    chosen = {"action": "remove", "_selected_action": [second.product_url_hash]}
    page = text_of(admin.post(place("producturl"), chosen))
    assert "results stay" in page
    assert f'name="_selected_action" value="{second.product_url_hash}"' in page
    assert ProductURL.objects.count() == 1
    admin.post(place("producturl"), chosen | {"confirmed": "yes"})
    assert (ProductURL.objects.count(), CrawlJob.objects.count()) == (0, 0)
    assert CrawlResult.objects.filter(pk=result.pk).exists()
    assert "(removed)" in text_of(admin.get(place("crawlresult", "change", result.pk)))
    assert AuditEntry.objects.filter(action="removed").count() == 2


def test_urls_are_pasted(browser: Client) -> None:
    urls = f"https://{SHOP}/a\n\n  https://{SHOP}/b\nnot a url\nhttps://{SHOP}/a\n"
    page = text_of(browser.post(place("producturl", "import_urls"), {"urls": urls}))
    assert "<strong>2</strong> added, 0 known already, 1 repeated, 1 refused" in page
    assert "not a url" in page
    assert f"{SHOP}: 2" in page
    assert ProductURL.objects.count() == 2
    assert AuditEntry.objects.filter(action="imported", actor="the-operator").exists()


def test_an_import_makes_policies_or_nothing_at_all(browser: Client) -> None:
    form = {"urls": f"https://{SHOP}/a", "frequency_hours": "6", "dry_run": "on"}
    assert "Nothing was written yet" in text_of(browser.post(place("producturl", "import_urls"), form))
    assert not ProductURL.objects.exists()
    del form["dry_run"]
    assert "1 policies made" in text_of(browser.post(place("producturl", "import_urls"), form))
    product = ProductURL.objects.get()
    assert product.policy is not None
    assert product.policy.frequency_hours == 6


def test_a_file_of_urls_is_imported(browser: Client) -> None:
    file = SimpleUploadedFile("urls.csv", f"\ufeffid;url\r\n1;https://{SHOP}/a\r\n2;https://{SHOP}/b\r\n".encode())
    page = text_of(browser.post(place("producturl", "import_urls"), {"file": file}))
    assert "<strong>2</strong> added" in page
    assert ProductURL.objects.count() == 2


def test_an_empty_import_is_told(browser: Client) -> None:
    assert "Paste URLs, or choose a file" in text_of(browser.post(place("producturl", "import_urls"), {"urls": " "}))
    both = {"urls": "https://x.example/", "file": SimpleUploadedFile("urls.txt", b"https://y.example/")}
    assert "not both" in text_of(browser.post(place("producturl", "import_urls"), both))
    wrong = {"file": SimpleUploadedFile("urls.json", b"{")}
    assert "Not JSON" in text_of(browser.post(place("producturl", "import_urls"), wrong)).partition("import-form")[2]
    assert not ProductURL.objects.exists()


def test_viewers_cannot_write() -> None:
    viewer, product = browser_of("viewer"), make_products(1)[0]
    assert text_of(viewer.get(place("producturl", "change", product.pk)))
    for what, key in (
        ("import_urls", ()),
        ("add", ()),
        ("make_this_due", (product.pk,)),
        ("remove_this", (product.pk,)),
    ):
        assert viewer.post(place("producturl", what, *key), {"urls": "https://x.example/"}).status_code == 403
    operator = browser_of("operator")
    assert operator.post(place("producturl", "remove_this", product.pk)).status_code == 403
    assert ProductURL.objects.count() == 1
