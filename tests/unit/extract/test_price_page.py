"""Pages as bytes, odd markup, and pages that were made to take long."""

import json
from decimal import Decimal

import pytest

from crawler.extract.price import read_price
from crawler.extract.price.page import LARGEST_TREE, take_apart

URL = "https://shop.example/p/1"
DATA = {"@type": "Product", "name": "Café crème", "offers": {"price": "4,50 €"}}
SCRIPT = f'<script type="application/ld+json">{json.dumps(DATA, ensure_ascii=False)}</script>'


def price_of(html: bytes | str) -> Decimal | None:
    return read_price(html, URL).price


def test_bytes_are_decoded_as_the_page_or_its_header_says() -> None:
    declared = f"<meta charset=windows-1252>{SCRIPT}".encode("cp1252")
    assert read_price(declared, URL).title == "Café crème"
    headed = read_price(SCRIPT.encode("utf-16-le"), URL, content_type="text/html; charset=utf-16le")
    assert (headed.price, headed.currency) == (Decimal("4.50"), "EUR")


@pytest.mark.parametrize(
    "script",
    [
        SCRIPT.replace('"application/ld+json"', "application/ld+json"),
        SCRIPT.replace('"application/ld+json"', "'application/ld+json; charset=utf-8' id=x"),
        SCRIPT.replace("<script type=", '<SCRIPT data-x="a>b" TYPE='),
        f"<script>if (a < b) document.write('<b>');</script>{SCRIPT}",
        f"<svg><title>x</title></svg><svg/>{SCRIPT}",
        f"<!-- a comment with <script> in it -->{SCRIPT}",
        SCRIPT.removesuffix("</script>"),
    ],
)
def test_scripts_are_found_however_they_are_written(script: str) -> None:
    assert price_of(f"<html><body><p>x</p>{script}") == Decimal("4.50")


@pytest.mark.parametrize(
    "script", [f"<!--{SCRIPT}-->", f"<script>var x = '{SCRIPT[:-9]}';</script>", f"<style>{SCRIPT}</style>"]
)
def test_scripts_are_not_found_where_there_are_none(script: str) -> None:
    assert price_of(f"<html><body>{script}") is None


def test_scripts_are_no_part_of_the_tree() -> None:
    page = take_apart(f"<p itemprop=price>1</p><script>var a = '<b>';</script><style>b {{}}</style>{SCRIPT}<i>x</i>")
    assert [node.tag for node in page.tree.css("body *")] == ["p", "i"]
    assert page.json_ld == [json.dumps(DATA, ensure_ascii=False)]


HOSTILE = {
    "nothing": "",
    "NUL": "\0" * 1000,
    "half a surrogate pair": "\ud800<meta itemprop=price content=\udfff>",
    "nested deeply": "<div itemscope itemprop=offers>" * 50_000 + "<b itemprop=price>1 €</b>",
    "formatting left open": "<p><b><i>" * 30_000 + "<b itemprop=price>",
    "a crowd of attributes": "<b itemprop=price " + " ".join(f"a{number}=1" for number in range(50_000)) + ">1</b>",
    "prices within prices": "<b itemprop=price>x" * 5_000 + "1 €",
    "many offers": "<b itemscope itemtype=Offer><i itemprop=price>1 €</i></b>" * 5_000,
    "many objects": "<b itemscope itemtype=Product><i itemprop=price>1</i></b>" * 20_000,
    "comments never closed": "<!--" * 100_000,
    "scripts never closed": "<script>" * 100_000,
    "drawings never closed": "<svg>" * 100_000,
    "quotes never closed": '<script a="' * 50_000,
    "a deep value": SCRIPT.replace("4,50 €", "x")
    + '<script type="application/ld+json">'
    + '{"a":' * 200_000
    + "</script>",
    "a deep list": '<script type="application/ld+json">' + "[" * 500_000 + "</script>",
    "a wide value": '<script type="application/ld+json">['
    + '{"@type":"Product","offers":[{},{}]},' * 30_000
    + "{}]</script>",
    "many scripts": '<script type="application/ld+json">{"@type":"Product"}</script>' * 5_000,
    "blanks": f'<script type="application/ld+json">{{{" " * 900_000}}}x</script>',
    "comments within": f'<script type="application/ld+json">{{{"/*" * 400_000}}}</script>',
    "commas": f'<script type="application/ld+json">{{{", " * 400_000}}}</script>',
    "quotes": '<script type="application/ld+json">{' + '"' * 900_001 + "</script>",
    "escaped quotes": '<script type="application/ld+json">{' + '\\"' * 400_000 + "</script>",
    "backslashes": '<script type="application/ld+json">{"' + "\\" * 900_001 + "</script>",
    "entities": '<script type="application/ld+json">{' + "&amp;" * 200_000 + "</script>",
    "half a product": '<script type="application/ld+json">' + '{"@type":"Product" "price":' * 30_000 + "</script>",
    "a long number": '<script type="application/ld+json">{"@type":"Product","price":' + "9" * 500_000 + "}</script>",
    "digits": "<b itemprop=price>" + "1," * 500_000 + "</b>",
    "meta tags": '<meta property="og:price:amount" content="1">' * 50_000,
    "a big page": "<p itemprop=x>text</p>" * (LARGEST_TREE // 10),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_pages_are_read_in_time(kind: str) -> None:
    reading = read_price(HOSTILE[kind], URL)
    assert reading.price is None or reading.price >= 0
    json.dumps(reading.parsed_data())
