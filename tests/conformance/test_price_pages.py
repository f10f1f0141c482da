"""Accuracy on saved shop pages and on price strings, with floors that may only rise.

The pages are the shops' and stay outside the project: in the folder named by CRAWLER_PRICE, else in
``../shared/price``.
"""

from __future__ import annotations

import gzip
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crawler.extract.price import PriceReading, read_price
from crawler.extract.price.amounts import amount_in
from crawler.extract.price.symbols import currency_in

_NAMED = os.environ.get("CRAWLER_PRICE")
FOLDER = Path(_NAMED) if _NAMED else Path(__file__).resolve().parents[3] / "shared" / "price"
if not FOLDER.is_dir():
    pytest.skip("no saved shop pages: set CRAWLER_PRICE or provide ../shared/price", allow_module_level=True)


class Read(NamedTuple):
    row: dict[str, Any]
    reading: PriceReading

    @property
    def is_right(self) -> bool:
        prices = {Decimal(str(price)) for price in self.row["gold_price"] or ()}
        return self.reading.price in prices


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").split("\n") if line]


def read(row: dict[str, Any]) -> Read:
    page = gzip.decompress((FOLDER / "pages" / row["file"]).read_bytes())
    return Read(row, read_price(page, row["url"] or f"https://{row['site']}/"))


@pytest.fixture(scope="module")
def pages() -> list[Read]:
    return [read(row) for row in rows("index.jsonl")]


@pytest.fixture(scope="module")
def products(pages: list[Read]) -> list[Read]:
    return [page for page in pages if page.row["kind"] == "product" and page.row["gold_price"]]


def test_most_products_have_the_right_price(products: list[Read]) -> None:
    """39 of them say their price to no machine; those wait for the sources that read scripts and the visible page."""
    wrong = [page.row["file"] for page in products if not page.is_right and page.reading.price is not None]
    assert (len(products), sum(page.is_right for page in products) >= 140, len(wrong) <= 4) == (183, True, True), wrong


def test_right_prices_have_the_right_currency(products: list[Read]) -> None:
    right = [page for page in products if page.is_right]
    other = [page.row["file"] for page in right if page.reading.currency != page.row["gold_currency"]]
    assert not other


def test_pages_that_sell_nothing_have_no_price(pages: list[Read]) -> None:
    nothing = [page for page in pages if not page.row["gold_price"]]
    loud = [page.row["file"] for page in nothing if page.reading.price is not None]
    assert len(nothing) >= 150
    assert len(loud) <= 2, loud


def test_confidence_means_something(products: list[Read]) -> None:
    """Of what we are sure of, almost everything is right."""
    sure = [page for page in products if page.reading.confidence >= 0.8]
    assert len(sure) >= 130
    assert sum(page.is_right for page in sure) >= 0.97 * len(sure)


def test_stock_is_right_where_it_is_told(products: list[Read]) -> None:
    told = [page for page in products if page.row["gold_in_stock"] is not None and page.reading.in_stock is not None]
    right = [page for page in told if page.reading.in_stock == page.row["gold_in_stock"]]
    assert len(told) >= 80
    assert len(right) >= 0.93 * len(told)


def test_most_titles_are_right(products: list[Read]) -> None:
    """Labels are weak (a heading that agrees with the title), so one may be part of the other."""
    labelled = [page for page in products if page.row["gold_title"]]
    pairs = [((page.reading.title or "").lower(), page.row["gold_title"].lower()) for page in labelled]
    right = [bool(ours) and (gold in ours or (len(ours) > 10 and ours in gold)) for ours, gold in pairs]
    assert sum(right) >= 0.86 * len(labelled)


def test_price_strings() -> None:
    """What their authors know they get wrong does not count."""
    strings = [row for row in rows("strings_dev.jsonl") if not row.get("xfail")]
    wrong = [row["text"] for row in strings if not says(row)]
    assert len(strings) >= 1_000
    assert len(wrong) <= 9, wrong


def says(row: dict[str, Any]) -> bool:
    currency = currency_in(row["currency_hint"] or "") or currency_in(row["text"])
    expected = None if row["price"] is None else Decimal(str(row["price"]))
    return amount_in(row["text"], currency) == expected
