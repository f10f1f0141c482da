"""Which of a page's schema.org objects is the product that the page sells.

Products reached as something's relation (``isRelatedTo``, the list of a category) are not the page's own. Of several
that remain, the page's own has its URL, or its name; a page full of products of which none is its own is a list, and
sells nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from crawler.web.urls import InvalidURL, normalize

MOST_OBJECTS: Final = 2_000
DEEPEST: Final = 8
MOST_UNNAMED: Final = 1  # more products without a sign of which is the page's own are a list
MOST_LONE_OFFERS: Final = 3  # more offers without a product are a list

# Types in lower case.
PRODUCTS: Final = frozenset(
    "product productgroup productmodel individualproduct someproducts vehicle car motorcycle book softwareapplication"
    " mobileapplication webapplication videogame course game movie musicalbum".split()
)
OFFERS: Final = frozenset(("offer", "aggregateoffer"))
_PREFIX: Final = re.compile(r".*[/#:]")  # http://schema.org/Product, schema:Product
# What leads from a product or a page to things it does not sell itself.
_ELSEWHERE: Final = frozenset(
    "isRelatedTo isSimilarTo isAccessoryOrSparePartFor isConsumableFor itemListElement review reviews hasPart isPartOf"
    " offers hasVariant itemOffered makesOffer hasOfferCatalog relatedProduct seller brand manufacturer".split()
)

Thing = Mapping[str, Any]


class Subject(NamedTuple):
    """What is known of the page itself."""

    url: str
    identities: frozenset[str]  # of its URLs, as `identity` makes them
    places: frozenset[str]  # likewise by `place`
    names: tuple[str, ...]  # title, heading, in lower case


def types_of(thing: Thing) -> set[str]:
    """Without their vocabulary, in lower case."""
    value = thing.get("@type")
    names = value[:10] if isinstance(value, list) else [value]
    return {_PREFIX.sub("", name[:200].rstrip("/")).lower() for name in names if isinstance(name, str)}


def identity(url: str, base: str) -> str:
    """The one spelling of a URL; empty when it is none."""
    try:
        return normalize(url[:2000], base)
    except InvalidURL:
        return ""


def place(url: str) -> str:
    """Host and path of an identity, for links to the same page that differ in their query. Empty for a host's root."""
    return url.partition("//")[2].partition("?")[0].removeprefix("www.").rstrip("/") if url.count("/") > 2 else ""


def main_product(things: Iterable[Thing], subject: Subject) -> Thing | None:
    """The page's own product, or an offer that stands alone; None when there is none, or when all are a list's."""
    found = list(things)
    products = [thing for thing in found if types_of(thing) & PRODUCTS and _sells(thing)]
    if not products:
        offers = [thing for thing in found if types_of(thing) & OFFERS or "offers" in thing]
        return offers[0] if 0 < len(offers) <= MOST_LONE_OFFERS else None
    own = _with_own_url(products, subject)
    named = [thing for thing in own or products if _has_name(thing, subject)]
    if named or own:
        return (named or own)[0]
    names = {str(thing.get("name"))[:200] for thing in products}
    return products[0] if len(names) <= MOST_UNNAMED else None


def all_things(roots: Iterable[Any]) -> Iterator[Thing]:
    """The objects of a page that may be its own, the outer ones first."""
    waiting = deque((root, 0) for root in islice(roots, MOST_OBJECTS))
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        value, depth = waiting.popleft()
        below: Iterator[Any]
        if isinstance(value, list):
            below = iter(value)
        elif isinstance(value, Mapping):
            yield value
            below = _parts(value)
        else:
            continue
        if depth < DEEPEST:
            waiting.extend((part, depth + 1) for part in islice(below, MOST_OBJECTS - len(waiting)))


def _parts(thing: Thing) -> Iterator[Any]:
    return (value for name, value in thing.items() if isinstance(value, list | Mapping) and name not in _ELSEWHERE)


def _sells(thing: Thing) -> bool:
    return any(name in thing for name in ("offers", "price", "hasVariant", "lowPrice"))


def _with_own_url(products: list[Thing], subject: Subject) -> list[Thing]:
    """Those with the page's URL; else those that differ from it in the query alone, if that makes one product."""
    urls = [[identity(url, subject.url) for url in _urls(thing)] for thing in products]
    exact = [thing for thing, its in zip(products, urls, strict=True) if not subject.identities.isdisjoint(its)]
    if exact:
        return exact
    near = [thing for thing, its in zip(products, urls, strict=True) if not subject.places.isdisjoint(map(place, its))]
    return near if len({str(thing.get("name"))[:200] for thing in near}) == 1 else []


def _urls(thing: Thing) -> Iterator[str]:
    offers = thing.get("offers")
    offers = offers[:20] if isinstance(offers, list) else [offers]
    for one in (thing, *(offer for offer in offers if isinstance(offer, Mapping))):
        for name in ("url", "@id", "mainEntityOfPage"):
            value = one.get(name)
            value = value.get("@id") if isinstance(value, Mapping) else value
            if isinstance(value, str) and "/" in value:
                yield value


def _has_name(thing: Thing, subject: Subject) -> bool:
    name = thing.get("name")
    if not isinstance(name, str) or len(name.strip()) < 3:
        return False
    plain = " ".join(name[:500].lower().split())
    return any(plain in known or (len(known) >= 8 and known in plain) for known in subject.names)
