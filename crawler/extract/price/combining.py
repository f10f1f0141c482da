"""One answer out of what the sources say."""

from __future__ import annotations

from collections.abc import Mapping

from crawler.extract.price.reading import PriceReading, SourceReading

# Microdata stands where the price is shown; meta tags often have it without tax, or as it was.
BY_WORTH = ("jsonld", "microdata", "og", "script_data", "html_ml")
HIGHEST = 0.99
DOUBT = 0.7  # what is left of the confidence when sources name different prices


def combined(url: str, readings: Mapping[str, SourceReading], title: str | None) -> PriceReading:
    """The price of the best source; those that agree make it surer, those that differ less so."""
    found = {name: readings[name] for name in BY_WORTH if name in readings and _is_price(readings[name])}
    if not found:
        return PriceReading(url, title=title, by_source=readings)
    best = found[min(found, key=lambda name: (found[name].price == 0, BY_WORTH.index(name)))]
    agreeing = [name for name, one in found.items() if one.price == best.price and _same(one.currency, best.currency)]
    confidence = _confidence([found[name].confidence for name in agreeing])
    if len(agreeing) < len(found):
        confidence *= DOUBT
    ordered = [best, *(found[name] for name in found if found[name] is not best)]
    return PriceReading(
        url,
        best.price,
        next((one.currency for one in ordered if one.currency), None),
        next((one.title for one in ordered if one.title), title),
        next((one.in_stock for one in ordered if one.in_stock is not None), None),
        round(confidence, 4),
        tuple(agreeing),
        readings,
    )


def _is_price(reading: SourceReading) -> bool:
    """Nothing in no currency is what free things say, and forms that nobody filled in."""
    return bool(reading.price) or (reading.price is not None and reading.currency is not None)


def _same(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _confidence(each: list[float]) -> float:
    doubt = 1.0
    for one in each:
        doubt *= 1.0 - one
    return min(HIGHEST, 1.0 - doubt)
