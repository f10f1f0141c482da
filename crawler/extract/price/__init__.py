"""The price that a page asks for its product, from what the page says about itself to machines.

    reading = read_price(html, "https://shop.example/p/1")
    reading.price, reading.currency        Decimal("1290000"), "VND"
    reading.parsed_data()                  as bots submit it

Five sources, in the order of their worth: JSON-LD, Open Graph and other meta tags, microdata; data in scripts and the
visible page come later and report nothing yet. The page is taken apart once. Nothing raises, whatever it contains, and
time and memory are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import unescape
from urllib.parse import urlsplit

from crawler.extract.metadata import meta_tags
from crawler.extract.metadata.meta_tags import MetaTags
from crawler.extract.price import json_ld, microdata, open_graph
from crawler.extract.price.combining import combined
from crawler.extract.price.offers import offer_of
from crawler.extract.price.page import LONGEST_HTML, Page, take_apart
from crawler.extract.price.products import Subject, Thing, all_things, identity, main_product, place
from crawler.extract.price.reading import NOTHING, PriceReading, SourceReading
from crawler.extract.price.symbols import country_of
from crawler.web.charset import decode

__all__ = ["PriceReading", "SourceReading", "read_price"]

LONGEST_NAME = 1_000


def read_price(html: bytes | str, url: str, *, content_type: str | None = None) -> PriceReading:
    """What the page at ``url`` costs. ``content_type`` is its header, which may name the charset of bytes."""
    if isinstance(html, bytes):
        html = decode(html[: LONGEST_HTML * 4], content_type).text
    page = take_apart(html)
    tags, country = meta_tags.collect(page.tree), country_of(_host(url))
    subject = _subject(page, tags, url)
    readings = {
        "jsonld": _from_json_ld(page, subject, country),
        "og": open_graph.read(tags, country),
        "microdata": _from_microdata(page, subject, country),
    }
    return combined(url, readings, _title(page, tags))


def _from_json_ld(page: Page, subject: Subject, country: str) -> SourceReading:
    roots, is_mended = [], False
    for script in page.json_ld:
        values, was_mended = json_ld.values_of(script)
        roots += values
        is_mended |= was_mended
    things = list(all_things(roots))
    return _reading(things, subject, country, 0.85 if is_mended else 0.95)


def _from_microdata(page: Page, subject: Subject, country: str) -> SourceReading:
    return _reading(list(all_things(microdata.items_of(page.tree))), subject, country, 0.85)


def _reading(things: list[Thing], subject: Subject, country: str, confidence: float) -> SourceReading:
    product = main_product(things, subject)
    by_id: Mapping[str, Thing] = {
        str(thing["@id"]): thing for thing in reversed(things) if len(thing) > 2 and "@id" in thing
    }
    offer = offer_of(product, subject, country, by_id) if product else None
    if product is None or offer is None:
        return NOTHING
    name = product.get("name")
    title = meta_tags.tidy(unescape(name[: LONGEST_NAME * 4]), LONGEST_NAME) if isinstance(name, str) else None
    share = 1.0 if offer.currency else 0.7
    return SourceReading(offer.price, offer.currency, round(confidence * share, 4), title or None, offer.in_stock)


def _subject(page: Page, tags: MetaTags, url: str) -> Subject:
    links = (node.attributes for node in page.tree.css('link[rel="canonical"]')[:3])
    urls = [url, meta_tags.first(tags, ("og:url",)), *(link.get("href") for link in links)]
    identities = {identity(text, url) for text in urls if text}
    texts = [_heading(page), meta_tags.first(tags, ("og:title", "twitter:title")), _title(page, {})]
    names = tuple(text.lower() for text in texts if text)
    return Subject(url, frozenset(identities - {""}), frozenset(map(place, identities)) - {""}, names)


def _heading(page: Page) -> str | None:
    node = page.tree.css_first("h1")
    return (meta_tags.tidy(node.text() or "", LONGEST_NAME) if node else None) or None


def _title(page: Page, tags: MetaTags) -> str | None:
    node = page.tree.css_first("title")
    text = meta_tags.tidy(node.text() or "", LONGEST_NAME) if node else ""
    return meta_tags.first(tags, ("og:title", "twitter:title")) or text or None


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
