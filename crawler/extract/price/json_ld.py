"""schema.org objects out of ``<script type="application/ld+json">``, mended where that is possible. Nothing raises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from html import unescape
from typing import Any, Final

MOST_VALUES_IN_A_SCRIPT: Final = 20  # JSON texts one after another

_WRAPPED_IN = ("<!--", "-->", "//<![CDATA[", "//]]>", "<![CDATA[", "]]>", "//", "/*", "*/", ";")
# Strings are matched first, so that nothing in them is taken for a comment or a comma at an end. What is never closed
# reaches to the end: were it no match, every quote after it would be tried as well.
_STRING_OR_FLAW = re.compile(r'"[^"\\]*+(?:\\.?[^"\\]*+)*(?:"|\Z)|/\*(?:.*?\*/|.*)|//[^\n]*|,(?=\s*[}\]])', re.DOTALL)
_BAD_ESCAPE = re.compile(r'\\(?![\\/"bfnrtu])')
_decoder = json.JSONDecoder(parse_float=Decimal, strict=False)

_A_PRODUCT = re.compile(
    r'"@type"\s{0,20}:\s{0,20}\[?\s{0,20}"(?:https?://schema\.org/)?(?:Product|Offer|AggregateOffer)"'
)
_PRICE = re.compile(r'"(?:price|lowPrice)"\s{0,20}:\s{0,20}"?([^",}\]\n]{1,40})')
_CURRENCY = re.compile(r'"priceCurrency"\s{0,20}:\s{0,20}"([^"\n]{1,10})"')
_AVAILABILITY = re.compile(r'"availability"\s{0,20}:\s{0,20}"([^"\n]{1,60})"')


def values_of(script: str) -> tuple[list[Any], bool]:
    """The JSON values of a script, and whether it had to be mended for them."""
    text = _unwrapped(script)
    if not text:
        return [], False
    for attempt in (_as_is, _without_flaws, _unescaped):
        try:
            return list(_values(attempt(text))), attempt is not _as_is
        except (ValueError, RecursionError):  # malformed, a number of 5,000 digits, nested a thousand deep
            continue
    return picked_out(text), True


def _unwrapped(script: str) -> str:
    """Without the comment marks that were to hide it from old browsers, written in many ways."""
    text = script.strip()
    for _ in range(3):
        for mark in _WRAPPED_IN:
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def picked_out(text: str) -> list[Any]:
    """What looks like a product's first offer in a text that is no JSON at all."""
    product = _A_PRODUCT.search(text)
    price = _PRICE.search(text, product.start()) if product else None
    if not price:
        return []
    offer = {"@type": "Offer", "price": price[1].strip()}
    for name, pattern in (("priceCurrency", _CURRENCY), ("availability", _AVAILABILITY)):
        if found := pattern.search(text):
            offer[name] = found[1]
    return [{"@type": "Product", "offers": offer}]


def _values(text: str) -> Iterator[Any]:
    """All values of a text; a broken one after a good one is left out."""
    position = 0
    for number in range(MOST_VALUES_IN_A_SCRIPT):
        try:
            value, position = _decoder.raw_decode(text, position)
        except ValueError:
            if number == 0:
                raise
            return
        yield value
        while position < len(text) and text[position] in " \t\r\n;,":
            position += 1
        if position >= len(text):
            return


def _as_is(text: str) -> str:
    return text


def _without_flaws(text: str) -> str:
    """Without comments, commas at an end, and escapes that JSON does not know."""
    return _BAD_ESCAPE.sub(r"\\\\", _STRING_OR_FLAW.sub(_kept, text))


def _kept(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else ""


def _unescaped(text: str) -> str:
    """Written as if it were HTML: ``{&quot;@type&quot;: …}``."""
    return _without_flaws(unescape(text))
