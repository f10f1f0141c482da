"""What a result changes against the one before it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.bots import actions
from crawler.bots.models import CrawlJob, ProductChange, ProductURL
from crawler.bots.percent import micro_percent_up, percent
from tests.api.bots import Bot, policy_for

URL = "https://example.com/product/1"


class Shop:
    """A product that a bot visits again and again."""

    def __init__(self) -> None:
        policy_for()
        actions.add_product_urls([URL])
        self.bot = Bot()

    def says(self, price: str, currency: str = "USD", *, in_stock: bool = True, **more: Any) -> None:
        ProductURL.objects.filter(next_due_at__isnull=False).update(next_due_at="2020-01-01T00:00:00Z")
        actions.schedule_due()
        job = CrawlJob.objects.get(status="pending")
        job.lock_for_bot(self.bot.bot_id)
        answer = self.bot.submit(str(job.id), price=price, currency=currency, in_stock=in_stock, **more)
        assert answer.status_code == 201, answer.content


@pytest.fixture
def shop(db: None) -> Shop:
    return Shop()


def kinds() -> list[str]:
    return list(ProductChange.objects.order_by("id").values_list("kind", flat=True))


def test_the_first_result_and_the_same_again_are_no_change(shop: Shop) -> None:
    shop.says("10.00")
    shop.says("10")
    assert kinds() == []
    assert ProductURL.objects.get().last_changed_at is None


def test_a_price_that_moves(shop: Shop) -> None:
    for price in ("10", "11", "9.90", "9.90"):
        shop.says(price, title="A kettle")
    up, down = ProductChange.objects.order_by("id")
    assert (up.kind, up.previous_price, up.price, up.percent_at_most) == ("price_up", 10, 11, 10)
    assert (down.kind, down.price, down.percent_at_most) == ("price_down", Decimal("9.9"), 10)
    assert (down.url, down.title, down.currency, down.number) == (URL, "A kettle", "USD", None)
    assert ProductURL.objects.get().last_changed_at == down.created_at


def test_stock_and_price_are_two_changes(shop: Shop) -> None:
    shop.says("10")
    shop.says("10", in_stock=False)
    shop.says("8", in_stock=True)
    assert sorted(kinds()) == ["back_in_stock", "out_of_stock", "price_down"]


def test_another_currency_is_neither_up_nor_down(shop: Shop) -> None:
    shop.says("10")
    shop.says("900", "JPY")
    change = ProductChange.objects.get()
    assert (change.kind, change.previous_currency, change.currency) == ("currency_changed", "USD", "JPY")
    assert change.percent_at_most is None


def test_failures_change_nothing(shop: Shop) -> None:
    shop.says("10")
    ProductURL.objects.update(next_due_at="2020-01-01T00:00:00Z")
    actions.schedule_due()
    job = CrawlJob.objects.get(status="pending")
    job.lock_for_bot("bot-001")
    shop.bot.fail(str(job.id))
    assert kinds() == []


PRICES = ["0", "0.000001", "3", "10", "11", "29.99", "333333.333333", "999999999999.999999", "0.07"]


@pytest.mark.parametrize("old", PRICES)
def test_percentages_are_the_same_everywhere(shop: Shop, old: str) -> None:
    for new in PRICES:
        if new == old:
            continue
        ProductURL.objects.update(last_price=Decimal(old), last_currency="USD", last_in_stock=True)
        ProductChange.objects.all().delete()
        shop.says(new)
        kept = ProductChange.objects.get().percent_at_most
        expected = micro_percent_up(int(Decimal(old) * 10**6), int(Decimal(new) * 10**6))
        assert kept == Decimal(expected) / 10**6, new


def test_more_than_is_exact() -> None:
    assert micro_percent_up(3_000_000, 4_000_000) == 33_333_334, "rounded up, so more than 33.333333"
    assert micro_percent_up(10_000_000, 11_000_000) == 10_000_000, "not more than 10"
    assert micro_percent_up(10_000_000, 11_000_001) > 10_000_000


@pytest.mark.parametrize(
    ("old", "new", "shown"), [("3", "4", "33.333333"), ("10", "9", "-10"), ("0", "5", None), ("8", "0", "-100")]
)
def test_percentages_for_people(old: str, new: str, shown: str | None) -> None:
    found = percent(Decimal(old), Decimal(new))
    assert (None if found is None else format(found, "f")) == shown
