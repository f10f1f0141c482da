"""Prices in ``<meta>`` tags: Open Graph's products, and the labelled data of Twitter's cards."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.extract.metadata.meta_tags import MetaTags, first
from crawler.extract.price.amounts import amount_of
from crawler.extract.price.availability import is_in_stock
from crawler.extract.price.reading import NOTHING, SourceReading
from crawler.extract.price.symbols import currency_in

# The price to pay first: a sale price beside a price is the lower one.
AMOUNTS = ("product:sale_price:amount", "product:price:amount", "og:price:amount", "product:price", "og:price")
CURRENCIES = (
    "product:sale_price:currency", "product:price:currency", "og:price:currency", "product:currency", "og:currency",
)  # fmt: skip
AVAILABILITIES = ("product:availability", "og:availability")
PRICE_LABELS = frozenset("price preis prix prezzo precio preço prijs cena giá цена ราคา fiyat pris".split())


def read(tags: MetaTags, country: str) -> SourceReading:
    stated = first(tags, CURRENCIES)
    for text in _amounts(tags):
        currency = (currency_in(stated, country) if stated else None) or currency_in(text, country)
        price = amount_of(text, currency)
        if price is not None:
            confidence = 0.9 if currency else 0.6
            return SourceReading(
                price, currency, confidence, first(tags, ("og:title",)), is_in_stock(_availability(tags))
            )
    return NOTHING


def _amounts(tags: MetaTags) -> Iterator[str]:
    yield from (tags[name][0] for name in AMOUNTS if name in tags)
    for number in (1, 2):
        label = first(tags, (f"twitter:label{number}",)) or ""
        if label.lower().strip(" :") in PRICE_LABELS:
            yield from tags.get(f"twitter:data{number}", ())[:1]


def _availability(tags: MetaTags) -> str | None:
    return first(tags, AVAILABILITIES)
