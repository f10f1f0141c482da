"""`/api/v1/products/changes`: what changed, for people and for those who poll."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from crawler.bots import actions
from crawler.bots.models import ProductChange
from crawler.foundation.clock import database_now
from tests.api.conftest import Api
from tests.unit.bots.test_changes import Shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(api_of: Callable[[str], Api]) -> Api:
    return api_of("viewer")


@pytest.fixture
def shop(db: None) -> Shop:
    """Up by 10 %, down by a third, sold out."""
    made = Shop()
    for price, in_stock in (("10", True), ("11", True), ("7.333333", True), ("7.333333", False)):
        made.says(price, in_stock=in_stock, title="Tea")
    return made


def ask(api: Api, query: str = "") -> Any:
    return api.get(f"/api/v1/products/changes?{query}")


def kinds(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [one["kind"] for one in answer.json()["changes"]]


def test_a_change_shows_at_once_and_says_everything(viewer: Api, shop: Shop) -> None:
    answer = ask(viewer)
    assert kinds(answer) == ["out_of_stock", "price_down", "price_up"]
    down = answer.json()["changes"][1]
    assert (down["price"], down["previous"]) == (7.333333, {"price": 11, "currency": "USD", "in_stock": True})
    assert (down["percent"], down["number"], down["domain"], down["title"]) == (-33.333336, 2, "example.com", "Tea")
    assert answer.json()["changes"][0]["percent"] is None
    assert answer.json()["pagination"] == {"limit": 100, "next_cursor": None}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("kind=price_up", ["price_up"]),
        ("min_percent=9.999999", ["price_down", "price_up"]),
        ("min_percent=10", ["price_down"]),
        ("min_percent=33.333336", ["price_down"]),
        ("min_percent=33.333337", []),
        ("domain=EXAMPLE.com&kind=out_of_stock", ["out_of_stock"]),
        ("domain=other.example", []),
        ("since=2020-01-01", ["out_of_stock", "price_down", "price_up"]),
        ("since=2999-01-01", []),
        ("order=oldest&limit=2", ["price_up", "price_down"]),
    ],
)
def test_filters(viewer: Api, shop: Shop, query: str, found: list[str]) -> None:
    assert kinds(ask(viewer, query)) == found


def test_since_leaves_out_what_was_before(viewer: Api, shop: Shop) -> None:
    actions.publish_changes()
    now = database_now()
    ProductChange.objects.filter(number=1).update(
        created_at=now - timedelta(hours=2), published_at=now - timedelta(hours=2)
    )
    since = (now - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert kinds(ask(viewer, f"since={since}")) == ["out_of_stock", "price_down"]


def test_page_by_page(viewer: Api, shop: Shop) -> None:
    first = ask(viewer, "limit=2").json()
    assert first["pagination"]["next_cursor"] == "2"
    assert kinds(ask(viewer, "limit=2&cursor=2")) == ["price_up"]


def test_polling_misses_nothing(viewer: Api, shop: Shop) -> None:
    first = ask(viewer, "order=oldest&limit=2").json()
    rest = ask(viewer, f"order=oldest&cursor={first['poll_cursor']}").json()
    assert [one["kind"] for one in rest["changes"]] == ["out_of_stock"]
    nothing = ask(viewer, f"order=oldest&cursor={rest['poll_cursor']}").json()
    assert (nothing["changes"], nothing["poll_cursor"]) == ([], rest["poll_cursor"])
    shop.says("8", in_stock=True)
    later = ask(viewer, f"order=oldest&cursor={nothing['poll_cursor']}")
    assert sorted(kinds(later)) == ["back_in_stock", "price_up"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("kind=cheaper", "kind"), ("min_percent=-1", "min_percent"), ("since=x", "since"), ("order=random", "order"),
     ("cursor=x", "cursor"), ("limit=0", "limit"), ("url_hash=x", "url_hash")],
)  # fmt: skip
def test_wrong_questions_name_the_field(viewer: Api, query: str, field: str) -> None:
    answer = ask(viewer, query)
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field), answer.content


def test_the_products_that_changed(viewer: Api, shop: Shop) -> None:
    listed = viewer.get("/api/v1/products?changed_since=2020-01-01&sort=-changed").json()["products"]
    assert [one["last_changed_at"] is None for one in listed] == [False]
    assert viewer.get("/api/v1/products?changed_since=2999-01-01").json()["products"] == []
