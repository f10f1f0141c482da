"""`/api/v1/products/{hash}/prices`: history by range and interval."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from crawler.bots import actions
from crawler.bots.models import CrawlResult, ProductURL
from crawler.foundation.ids import new_id
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db
# A Wednesday, the Sunday after, the Monday after that, and the month after.
HISTORY = [
    ("2026-01-28T10:15:00", "10.10", "EUR", True),
    ("2026-01-28T10:45:00", "9.99", "EUR", True),
    ("2026-01-28T23:59:59", "12", "EUR", False),
    ("2026-02-01T12:00:00", "11.000001", "EUR", True),
    ("2026-02-02T00:00:00", "13", "USD", True),
    ("2026-02-02T08:00:00", "123456789012.123456", "EUR", True),
]


@pytest.fixture
def viewer(api_of: Callable[[str], Api]) -> Api:
    return api_of("viewer")


@pytest.fixture
def url_hash(db: None) -> str:
    actions.add_product_urls(["https://example.com/1", "https://example.com/2"])
    for url in ProductURL.objects.all():
        for at, price, currency, in_stock in HISTORY if url.url.endswith("1") else HISTORY[:1]:
            result = CrawlResult.objects.create(
                job_id=new_id(), product_url_hash=url.pk, bot_id="b", price=Decimal(price), currency=currency,
                in_stock=in_stock, title="=1+1",
            )  # fmt: skip
            CrawlResult.objects.filter(pk=result.pk).update(created_at=datetime.fromisoformat(at).replace(tzinfo=UTC))
    return str(ProductURL.objects.get(url="https://example.com/1").pk)


def ask(api: Api, url_hash: str, query: str = "", path: str = "") -> Any:
    return api.get(f"/api/v1/products/{url_hash}/prices{path}?{query}")


def buckets(answer: Any) -> list[tuple[Any, ...]]:
    names = ("start", "currency", "min", "max", "first", "last", "count")
    return [tuple(str(one[name]).removesuffix("T00:00:00Z") for name in names) for one in answer.json()["prices"]]


def test_every_point_oldest_first(viewer: Api, url_hash: str) -> None:
    answer = ask(viewer, url_hash)
    told = answer.json()
    assert [one["at"] for one in told["prices"]] == [f"{at}Z" for at, *_ in HISTORY]
    assert (told["interval"], told["url_hash"]) == ("raw", url_hash)
    assert '"price": 123456789012.123456,' in answer.content.decode()
    assert told["summary"] == [
        {"currency": "EUR", "min": 9.99, "max": 123456789012.123456, "first": 10.1, "last": 123456789012.123456,
         "count": 5, "in_stock": True},
        {"currency": "USD", "min": 13, "max": 13, "first": 13, "last": 13, "count": 1, "in_stock": True},
    ]  # fmt: skip


def test_by_day(viewer: Api, url_hash: str) -> None:
    answer = ask(viewer, url_hash, "interval=day&to=2026-02-01")
    assert buckets(answer) == [
        ("2026-01-28", "EUR", "9.99", "12", "10.1", "12", "3"),
        ("2026-02-01", "EUR", "11.000001", "11.000001", "11.000001", "11.000001", "1"),
    ]
    assert [one["in_stock"] for one in answer.json()["prices"]] == [False, True]


def test_by_hour(viewer: Api, url_hash: str) -> None:
    found = ask(viewer, url_hash, "interval=hour&to=2026-01-28").json()["prices"]
    assert [(one["start"], one["count"]) for one in found] == [("2026-01-28T10:00:00Z", 2), ("2026-01-28T23:00:00Z", 1)]


def test_weeks_begin_on_monday(viewer: Api, url_hash: str) -> None:
    found = ask(viewer, url_hash, "interval=week").json()["prices"]
    assert [(one["start"][:10], one["currency"], one["count"]) for one in found] == [
        ("2026-01-26", "EUR", 4),
        ("2026-02-02", "EUR", 1),
        ("2026-02-02", "USD", 1),
    ]


def test_by_month_and_currency(viewer: Api, url_hash: str) -> None:
    found = ask(viewer, url_hash, "interval=month").json()["prices"]
    assert [(one["start"][:10], one["currency"], one["last"]) for one in found] == [
        ("2026-01-01", "EUR", 12),
        ("2026-02-01", "EUR", 123456789012.123456),
        ("2026-02-01", "USD", 13),
    ]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("from=2026-01-28T10:45:00Z", 5),
        ("from=2026-01-28T11:45:00%2B01:00", 5),
        ("from=2026-01-28T11:45:00+01:00", 5),
        ("from=2026-01-28T10:45:00.001", 4),
        ("to=2026-01-28T10:45:00Z", 1),
        ("from=2026-01-28&to=2026-01-28", 3),
        ("from=2026-02-01&to=2026-02-02T00:00:00Z", 1),
        ("from=2030-01-01", 0),
    ],
)
def test_ranges(viewer: Api, url_hash: str, query: str, count: int) -> None:
    told = ask(viewer, url_hash, query).json()
    assert len(told["prices"]) == count
    assert sum(one["count"] for one in told["summary"]) == count
    assert sum(one["count"] for one in ask(viewer, url_hash, f"{query}&interval=hour").json()["prices"]) == count


@pytest.mark.parametrize("interval", ["raw", "hour", "day", "week", "month"])
def test_page_by_page(viewer: Api, url_hash: str, interval: str) -> None:
    whole = ask(viewer, url_hash, f"interval={interval}").json()["prices"]
    seen, cursor = [], ""
    while cursor is not None:
        told = ask(viewer, url_hash, f"interval={interval}&limit=1{f'&cursor={cursor}' if cursor else ''}").json()
        seen += told["prices"]
        cursor = told["pagination"]["next_cursor"]
    assert seen == whole


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=soon", "from"),
        ("to=2026-13-01", "to"),
        ("from=2026-02-01&to=2026-01-01", "from"),
        ("from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z", "from"),
        ("interval=minute", "interval"),
        ("cursor=x", "cursor"),
        ("interval=day&cursor=x~EUR", "cursor"),
        ("limit=0", "limit"),
    ],
)
def test_wrong_questions_name_the_field(viewer: Api, url_hash: str, query: str, field: str) -> None:
    answer = ask(viewer, url_hash, query)
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field), answer.content


def test_prices_as_a_file(viewer: Api, url_hash: str) -> None:
    answer = ask(viewer, url_hash, "from=2026-02-01", "/export")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["at"], row["price"], row["currency"]) for row in rows] == [
        ("2026-02-01T12:00:00Z", "11.000001", "EUR"),
        ("2026-02-02T00:00:00Z", "13", "USD"),
        ("2026-02-02T08:00:00Z", "123456789012.123456", "EUR"),
    ]
    assert rows[0]["title"] == "'=1+1"
    lines = b"".join(ask(viewer, url_hash, "format=ndjson", "/export").streaming_content).decode().splitlines()
    assert len(lines) == 6
    assert '"price": 9.99,' in lines[1]


def test_a_removed_product_keeps_its_history(viewer: Api, url_hash: str) -> None:
    ProductURL.objects.all().delete()
    assert len(ask(viewer, url_hash).json()["prices"]) == 6
