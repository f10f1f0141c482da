"""What a source says of a page's price, and what all of them say together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from crawler.extract.currencies import decimals_of

# In the order of their worth. The last two are none yet: they report nothing.
SOURCES: Final = ("jsonld", "og", "microdata", "script_data", "html_ml")


@dataclass(frozen=True, slots=True)
class SourceReading:
    """One source. ``price`` is None where it says nothing, and then ``confidence`` is 0."""

    price: Decimal | None = None
    currency: str | None = None
    confidence: float = 0.0
    title: str | None = None
    in_stock: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"price": _number(self.price), "currency": self.currency, "confidence": self.confidence}


NOTHING: Final = SourceReading()


@dataclass(frozen=True, slots=True)
class PriceReading:
    """``price`` is None when the page names none; ``currency`` is an ISO 4217 code, or None when nobody says.

    ``price_sources`` are the short names of those sources that say this very price, the best first.
    """

    url: str
    price: Decimal | None = None
    currency: str | None = None
    title: str | None = None
    in_stock: bool | None = None
    confidence: float = 0.0
    price_sources: tuple[str, ...] = ()
    by_source: Mapping[str, SourceReading] = field(default_factory=dict)

    @property
    def price_formatted(self) -> str | None:
        """``1,290,000 VND``, ``1,299.00 EUR``; with more decimals where the price has more."""
        if self.price is None:
            return None
        places = max(decimals_of(self.currency), _places(self.price))
        return f"{self.price:,.{places}f} {self.currency or ''}".strip()

    def parsed_data(self) -> dict[str, Any]:
        """The documented structure, ready for JSON."""
        return {
            "source_url": self.url,
            "price_formatted": self.price_formatted,
            "price_sources": list(self.price_sources),
            "confidence": self.confidence,
            "price_extraction": {
                f"extract_price_from_{name}": self.by_source.get(name, NOTHING).as_dict() for name in SOURCES
            },
        }


def _number(price: Decimal | None) -> int | float | None:
    """A JSON number; prices have far fewer digits than a float keeps."""
    if price is None:
        return None
    return int(price) if price == price.to_integral_value() else float(price)


def _places(price: Decimal) -> int:
    """Decimals that are not zeros at the end."""
    exponent = price.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
