"""What a schema.org product costs: its offers, in all the forms in which shops write them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from crawler.extract.price.amounts import amount_of
from crawler.extract.price.availability import is_in_stock
from crawler.extract.price.products import OFFERS, Subject, Thing, identity, types_of
from crawler.extract.price.symbols import currency_in

MOST_OFFERS: Final = 300  # looked at
# Prices that nobody is asked to pay.
_CROSSED_OUT: Final = ("listprice", "strikethroughprice", "srp", "msrp", "regularprice", "invoiceprice")


class Offer(NamedTuple):
    price: Decimal
    currency: str | None
    in_stock: bool | None
    is_own: bool = False  # its URL is the page's
    is_used: bool = False


def offer_of(product: Thing, subject: Subject, country: str, by_id: Mapping[str, Thing]) -> Offer | None:
    """The offer that the page makes: the one with its URL, else the first new one in stock, else the first."""
    return min(_offers(product, subject, country, by_id), key=_rank, default=None)


def _rank(offer: Offer) -> tuple[bool, bool, bool, bool]:
    return not offer.is_own, offer.is_used, offer.price == 0, offer.in_stock is False


def _offers(product: Thing, subject: Subject, country: str, by_id: Mapping[str, Thing]) -> Iterator[Offer]:
    """The product's own, then those below it. References may lead in circles, so what is looked at is counted."""
    waiting = deque([product])
    for _ in range(MOST_OFFERS):
        if not waiting:
            return
        thing = waiting.popleft()
        if (own := _own_offer(thing, subject, country)) is not None:
            yield own
        if own is None or not types_of(thing) & OFFERS:  # what is below an offer with a price are its parts
            waiting.extend(_below(thing, by_id))


def _below(thing: Thing, by_id: Mapping[str, Thing]) -> Iterator[Thing]:
    for name in ("offers", "hasVariant"):
        value = thing.get(name)
        for one in value[:MOST_OFFERS] if isinstance(value, list) else [value]:
            if isinstance(one, Mapping):
                yield by_id.get(str(one.get("@id")), one) if len(one) <= 2 else one


def _own_offer(thing: Thing, subject: Subject, country: str) -> Offer | None:
    for stated in _statements(thing):
        text = stated.get("priceCurrency") or thing.get("priceCurrency")
        currency = currency_in(text, country) if isinstance(text, str) else None
        for name in ("price", "lowPrice", "minPrice"):
            value = _first(stated.get(name))
            if currency is None and isinstance(value, str):
                currency = currency_in(value, country)
            price = amount_of(value, currency)
            if price is not None:
                return Offer(
                    price, currency, is_in_stock(thing.get("availability")), _is_own(thing, subject), _is_used(thing)
                )
    return None


def _statements(thing: Thing) -> Iterator[Thing]:
    """Where the price may stand: in the object, else in its price specifications, the one to pay first."""
    yield thing
    specifications = thing.get("priceSpecification")
    listed = specifications[:20] if isinstance(specifications, list) else [specifications]
    usable = [one for one in listed if isinstance(one, Mapping) and not _is_crossed_out(one)]
    yield from sorted(usable, key=lambda one: "referenceQuantity" in one)


def _is_crossed_out(specification: Thing) -> bool:
    return str(specification.get("priceType")).lower().endswith(_CROSSED_OUT)


def _first(value: Any) -> Any:
    """A price may be a list of one, or an object with its value in it."""
    value = value[0] if isinstance(value, list) and value else value
    return value.get("@value", value.get("value")) if isinstance(value, Mapping) else value


def _is_own(thing: Thing, subject: Subject) -> bool:
    url = thing.get("url")
    return isinstance(url, str) and "/" in url and identity(url, subject.url) in subject.identities


def _is_used(thing: Thing) -> bool:
    return str(thing.get("itemCondition")).rstrip("/").lower().endswith(("usedcondition", "refurbishedcondition"))
