"""Prices of saved shop pages: how many are right, and how many pages a second, beside extruct with price-parser.

Run as ``python -m benchmarks.extract.bench_price``. The pages are not part of the project: CRAWLER_PRICE names their
folder, else it is ``../shared/price``. extruct has to be installed; without price-parser only plain decimals are read
for the peer. The peer reads the same three sources and takes the first product's first offer, as its users do.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from crawler.extract.price import read_price

SYNTAXES = ["json-ld", "opengraph", "microdata"]


class Page(NamedTuple):
    html: bytes
    url: str
    sells: bool
    prices: frozenset[Decimal]


class Score(NamedTuple):
    right: int
    wrong: int
    quiet: int  # pages that sell nothing and give no price
    pages_per_second: float


def main() -> None:
    pages = list(_pages(_folder()))
    sides: dict[str, Callable[[Page], Decimal | None]] = {"crawlspace": _ours, _name_of_peer(): _peers}
    products, others = sum(bool(page.prices) for page in pages), sum(not page.sells for page in pages)
    scores = {name: _score(pages, price_of) for name, price_of in sides.items()}
    print(f"{len(pages)} pages, mean {sum(len(page.html) for page in pages) / len(pages) / 1000:.0f} KB")
    for name, score in scores.items():
        share = f"{score.right / products:6.1%} of {products} prices right, {score.wrong} wrong"
        print(f"{name:24} {share}, {score.quiet}/{others} quiet, {score.pages_per_second:6.1f} pages/s")
    ours, peers = scores.values()
    print(
        f"ratio: {ours.right / peers.right:.2f} x right, {ours.pages_per_second / peers.pages_per_second:.2f} x speed"
    )


def _folder() -> Path:
    named = os.environ.get("CRAWLER_PRICE")
    folder = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "price"
    if not folder.is_dir():
        print("no saved shop pages: set CRAWLER_PRICE or provide ../shared/price")
        sys.exit(0)
    return folder


def _pages(folder: Path) -> Iterator[Page]:
    for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        prices = frozenset(Decimal(str(price)) for price in row["gold_price"] or ())
        html = gzip.decompress((folder / "pages" / row["file"]).read_bytes())
        sells = row["kind"] == "product"
        yield Page(html, row["url"] or f"https://{row['site']}/", sells, prices if sells else frozenset())


def _score(pages: list[Page], price_of: Callable[[Page], Decimal | None]) -> Score:
    """Seconds of our own processor time, as the machine may have other work."""
    began = time.process_time()
    found = [price_of(page) for page in pages]
    seconds = time.process_time() - began
    both = list(zip(pages, found, strict=True))
    return Score(
        sum(price in page.prices for page, price in both if page.prices),
        sum(price is not None and price not in page.prices for page, price in both if page.prices),
        sum(price is None for page, price in both if not page.sells),
        len(pages) / seconds,
    )


def _ours(page: Page) -> Decimal | None:
    return read_price(page.html, page.url).price


def _peers(page: Page) -> Decimal | None:
    import extruct

    try:
        data = extruct.extract(
            page.html.decode("utf-8", "replace"), base_url=page.url, syntaxes=SYNTAXES, uniform=True, errors="ignore"
        )
    except Exception:  # noqa: BLE001 - what it does not survive has no price
        return None
    for thing in (*data["json-ld"], *data["microdata"]):
        if (price := _first_price(thing)) is not None:
            return price
    return next((price for tags in data["opengraph"] if (price := _amount(_meta_price(tags))) is not None), None)


def _first_price(thing: Any) -> Decimal | None:
    """Of the first product below, its first offer."""
    if isinstance(thing, list):
        return next((price for one in thing if (price := _first_price(one)) is not None), None)
    if not isinstance(thing, dict):
        return None
    if thing.get("@type") == "Product":
        offers = thing.get("offers")
        offer = offers[0] if isinstance(offers, list) and offers else offers
        return _amount(offer.get("price") or offer.get("lowPrice")) if isinstance(offer, dict) else None
    return _first_price(thing.get("@graph"))


def _meta_price(tags: dict[str, Any]) -> Any:
    return next((tags[name] for name in ("product:price:amount", "og:price:amount") if name in tags), None)


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, int | float):
        return Decimal(str(value))
    if not isinstance(value, str):
        return None
    try:
        from price_parser import Price
    except ImportError:
        return _plain(value)
    return Price.fromstring(value).amount


def _plain(value: str) -> Decimal | None:
    try:
        return Decimal(value.strip())
    except InvalidOperation:
        return None


def _name_of_peer() -> str:
    try:
        import price_parser  # noqa: F401 - only whether it is there
    except ImportError:
        return "extruct"
    return "extruct + price-parser"


if __name__ == "__main__":
    main()
