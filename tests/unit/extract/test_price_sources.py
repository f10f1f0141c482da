"""Prices of whole pages, by source: what shops write, and which of several prices is the page's own."""

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.extract.price import PriceReading, read_price

URL = "https://shop.example/p/red-shoes"
OFFER = {"@type": "Offer", "price": "129.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}


def page(*json_ld: object, head: str = "", body: str = "") -> str:
    scripts = "".join(
        f'<script type="application/ld+json">{each if isinstance(each, str) else json.dumps(each)}</script>'
        for each in json_ld
    )
    return f"<!DOCTYPE html><html><head><title>Red shoes | Shop</title>{head}{scripts}</head><body>{body}</body></html>"


def product(**fields: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "Product", "name": "Red shoes", "offers": OFFER} | fields


def priced(price: object, name: str = "Other", **fields: Any) -> dict[str, Any]:
    return product(name=name, offers=OFFER | {"price": price}, **fields)


def told(html: str) -> tuple[str | None, str | None]:
    reading = read_price(html, URL)
    return (None if reading.price is None else str(reading.price)), reading.currency


def test_a_product_in_json_ld() -> None:
    reading = read_price(page(product()), URL)
    assert (reading.price, reading.currency, reading.in_stock) == (Decimal("129.90"), "EUR", True)
    assert (reading.title, reading.price_sources, reading.confidence) == ("Red shoes", ("jsonld",), 0.95)


JSON_LD: dict[str, tuple[Any, tuple[str | None, str | None]]] = {
    "a list": ([{"@type": "WebSite"}, product()], ("129.90", "EUR")),
    "a graph": ({"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, product()]}, ("129.90", "EUR")),
    "the page's main entity": ({"@type": "ItemPage", "mainEntity": product()}, ("129.90", "EUR")),
    "several types": (product(**{"@type": ["Product", "Car"]}), ("129.90", "EUR")),
    "a type with a prefix": (product(**{"@type": "schema:product"}), ("129.90", "EUR")),
    "a type by its address": (product(**{"@type": "http://schema.org/Product"}), ("129.90", "EUR")),
    "a number": (priced(1290000), ("1290000", "EUR")),
    "exact decimals": ('{"@type":"Product","offers":{"price":0.10,"priceCurrency":"EUR"}}', ("0.10", "EUR")),
    "a price with its sign": (product(offers={"price": "1 299,00 €"}), ("1299.00", "EUR")),
    "a currency by its sign": (product(offers={"price": "5", "priceCurrency": "€"}), ("5", "EUR")),
    "thousands in a currency without decimals": (
        product(offers=OFFER | {"price": "50.700", "priceCurrency": "VND"}),
        ("50700", "VND"),
    ),
    "the lowest of many offers": (
        product(offers={"@type": "AggregateOffer", "lowPrice": "9.50", "highPrice": "12", "priceCurrency": "USD"}),
        ("9.50", "USD"),
    ),
    "offers in an aggregate without its own price": (
        product(offers={"@type": "AggregateOffer", "priceCurrency": "EUR", "offers": [OFFER]}),
        ("129.90", "EUR"),
    ),
    "a price specification": (
        product(offers={"@type": "Offer", "priceSpecification": {"price": "7.00", "priceCurrency": "GBP"}}),
        ("7.00", "GBP"),
    ),
    "the price to pay, not the one crossed out": (
        product(
            offers={
                "@type": "Offer",
                "priceSpecification": [
                    {"price": "20", "priceCurrency": "GBP", "priceType": "https://schema.org/ListPrice"},
                    {"price": "15", "priceCurrency": "GBP"},
                ],
            }
        ),
        ("15", "GBP"),
    ),
    "the variant whose address is the page's": (
        product(offers=[OFFER | {"url": f"{URL}/blue", "price": "1"}, OFFER | {"url": URL, "price": "2"}]),
        ("2", "EUR"),
    ),
    "the first variant in stock": (
        product(offers=[OFFER | {"price": "1", "availability": "OutOfStock"}, OFFER | {"price": "2"}]),
        ("2", "EUR"),
    ),
    "new rather than used": (
        product(offers=[OFFER | {"price": "1", "itemCondition": "https://schema.org/UsedCondition"}, OFFER]),
        ("129.90", "EUR"),
    ),
    "variants of a group": (
        {"@type": "ProductGroup", "name": "Red shoes", "hasVariant": [priced("33", "Red shoes 42")]},
        ("33", "EUR"),
    ),
    "an offer by reference": (
        {"@graph": [product(offers={"@id": "#offer"}), OFFER | {"@id": "#offer"}]},
        ("129.90", "EUR"),
    ),
    "references in a circle": (
        {"@graph": [product(offers={"@id": "#a"}), {"@id": "#a", "@type": "Offer", "offers": {"@id": "#a"}}]},
        (None, None),
    ),
    "a price in a list": (product(offers=OFFER | {"price": ["4.50"]}), ("4.50", "EUR")),
    "a sold out product": (product(offers=OFFER | {"availability": "SoldOut"}), ("129.90", "EUR")),
    "free of charge": (product(offers=OFFER | {"price": 0}), ("0", "EUR")),
    "nothing in no currency": (product(offers={"@type": "Offer", "price": "0.00"}), (None, None)),
    "no offer": ({"@type": "Product", "name": "Red shoes"}, (None, None)),
    "an empty price": (product(offers=OFFER | {"price": ""}), (None, None)),
    "an article": ({"@type": "NewsArticle", "headline": "Prices rise by 5 %"}, (None, None)),
    "not a number": ('{"@type":"Product","offers":{"price":NaN,"priceCurrency":"EUR"}}', (None, None)),
}


@pytest.mark.parametrize("case", JSON_LD)
def test_json_ld_as_shops_write_it(case: str) -> None:
    data, expected = JSON_LD[case]
    assert told(page(data)) == expected


GOOD = '{"@type":"Product","offers":{"@type":"Offer","price":"5.00","priceCurrency":"EUR"}}'
FLAWS = {
    "commas at an end": GOOD.replace("}", ",}"),
    "comments": "/* shop */" + GOOD.replace(",", ", // here\n", 1),
    "CDATA": f"//<![CDATA[\n{GOOD}\n//]]>",
    "CDATA in a comment": f"/*<![CDATA[*/{GOOD}/*]]>*/",
    "an HTML comment": f"<!-- {GOOD} -->",
    "a semicolon": f"{GOOD};",
    "entities": GOOD.replace('"', "&quot;"),
    "control characters": GOOD.replace("{", '{"description":"two\nlines\tand \x01",', 1),
    "unknown escapes": GOOD.replace("{", '{"name":"it\\\'s",', 1),
    "two values": f'{{"@type":"WebSite"}}\n{GOOD}',
    "quotes in a text": GOOD.replace('"offers"', '"name":"17" screen","offers"'),
    "a value cut off": GOOD.replace("}}", ',"url":"htt'),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_broken_json_ld_is_mended(flaw: str) -> None:
    assert told(page(FLAWS[flaw])) == ("5.00", "EUR")


def test_what_was_mended_is_less_sure() -> None:
    assert read_price(page(FLAWS["comments"]), URL).confidence < read_price(page(product()), URL).confidence


def test_of_several_products_the_one_with_the_pages_address_counts() -> None:
    others = [priced(number, f"Other {number}", url=f"https://shop.example/p/{number}") for number in range(1, 9)]
    assert told(page([*others[:4], product(url=URL + "/?ref=1"), *others[4:]])) == ("129.90", "EUR")


def test_addresses_may_be_relative_and_may_differ_in_their_query() -> None:
    hats = [priced(number, f"Hat {number}", url=f"/show?id={number}") for number in range(1, 9)]
    shown = page(hats, head='<link rel="canonical" href="/show?id=3">')
    assert told(shown) == ("3", "EUR")
    assert read_price(page(hats), "https://shop.example/show?id=5&utm_source=mail").price == Decimal(5)
    assert read_price(page(hats), "https://shop.example/show").price is None


def test_of_several_products_the_one_with_the_pages_name_counts() -> None:
    assert told(page([priced(1, "Hat"), priced(2, "Coat"), product()])) == ("129.90", "EUR")


def test_related_products_do_not_count() -> None:
    assert told(page({"@type": "WebPage", "isRelatedTo": [priced(1)], "name": "x"})) == (None, None)
    assert told(page(product(isSimilarTo=[priced(1, "Red shoes")]))) == ("129.90", "EUR")


def test_a_list_of_products_has_no_price() -> None:
    listed = [priced(number, f"Other {number}", url=f"https://shop.example/p/{number}") for number in range(1, 9)]
    assert told(page({"@type": "ItemList", "itemListElement": listed})) == (None, None)
    assert told(page(listed)) == (None, None)


def meta(**contents: str) -> str:
    return "".join(
        f'<meta property="{name.replace("__", ":")}" content="{content}">' for name, content in contents.items()
    )


META = {
    "product": (meta(product__price__amount="12.50", product__price__currency="usd"), ("12.50", "USD")),
    "og": (meta(og__price__amount="1,250", og__price__currency="VND"), ("1250", "VND")),
    "on sale": (
        meta(product__price__amount="12.50", product__sale_price__amount="9.99", product__price__currency="USD"),
        ("9.99", "USD"),
    ),
    "by name": (meta(og__price__amount="3", og__price__currency="EUR").replace("property", "name"), ("3", "EUR")),
    "a card": (meta(twitter__label1="Price", twitter__data1="£39.95"), ("39.95", "GBP")),
    "another card": (meta(twitter__label1="Written by", twitter__data1="$5"), (None, None)),
}


@pytest.mark.parametrize("case", META)
def test_meta_tags(case: str) -> None:
    head, expected = META[case]
    reading = read_price(page(head=head), URL)
    assert (reading.price and str(reading.price), reading.currency) == expected
    assert reading.price_sources == (("og",) if expected[0] else ())


def test_meta_tags_tell_the_stock() -> None:
    head = meta(product__price__amount="1", product__price__currency="EUR")
    stock = {"in stock": True, "instock": True, "oos": False, "out of stock": False, "preorder": False, "?": None}
    for word, expected in stock.items():
        html = page(head=head + meta(product__availability=word))
        assert read_price(html, URL).in_stock is expected


def item(kind: str, contents: str, prop: str = "", vocabulary: str = "https://schema.org/") -> str:
    role = f' itemprop="{prop}"' if prop else ""
    return f'<div{role} itemscope itemtype="{vocabulary}{kind}">{contents}</div>'


def shoes(contents: str, prop: str = "") -> str:
    return item("Product", f'<h1 itemprop="name">Red shoes</h1>{contents}', prop)


CONTENT = '<span itemprop="price" content="5.50">5,50</span><meta itemprop="priceCurrency" content="EUR">'
LOWEST = '<meta itemprop="lowPrice" content="3"><meta itemprop="priceCurrency" content="EUR">'
TEXT = '<b itemprop="price">7 €</b>'
OLD = "http://data-vocabulary.org/"
OLD_OFFER = item("Offer", '<meta itemprop="currency" content="USD"><i itemprop="price">2.99</i>', "offerDetails", OLD)
MICRODATA = {
    "an offer": (shoes(item("Offer", CONTENT, "offers")), ("5.50", "EUR")),
    "text with its sign": (shoes(item("Offer", TEXT.replace("7 €", "1.290.000 ₫"), "offers")), ("1290000", "VND")),
    "a price in the product": (shoes(TEXT), ("7", "EUR")),
    "an offer that nobody owns": (item("Offer", TEXT), ("7", "EUR")),
    "an offer that is not named": (shoes(item("Offer", TEXT)), ("7", "EUR")),
    "no object at all": (f"<p>{TEXT}</p>", ("7", "EUR")),
    "an aggregate": (shoes(item("AggregateOffer", LOWEST, "offers")), ("3", "EUR")),
    "other vocabularies": (item("Product", OLD_OFFER, vocabulary=OLD), ("2.99", "USD")),
    "in the page": (item("WebPage", shoes(TEXT, "mainEntity")), ("7", "EUR")),
    "capitals": (shoes(TEXT).replace("itemprop", "ITEMPROP").replace("itemscope", "ITEMSCOPE"), ("7", "EUR")),
}


@pytest.mark.parametrize("case", MICRODATA)
def test_microdata(case: str) -> None:
    body, expected = MICRODATA[case]
    assert told(page(body=body)) == expected


def test_related_products_in_microdata_do_not_count() -> None:
    shelf = "".join(
        item("Product", f'<i itemprop="name">Hat {number}</i><b itemprop="price">{number} €</b>')
        for number in range(1, 9)
    )
    assert told(page(body=shoes(TEXT) + shelf)) == ("7", "EUR")
    assert told(page(body=shelf + shoes(TEXT))) == ("7", "EUR")
    assert told(page(body=shelf)) == (None, None)


def test_many_prices_without_a_product_are_a_list() -> None:
    prices = [f'<b itemprop="price">{number} €</b>' for number in range(1, 9)]
    assert told(page(body="".join(prices))) == (None, None)
    assert told(page(body="".join(item("Offer", price) for price in prices))) == (None, None)


def reading_of(**prices: str) -> PriceReading:
    """A page on which each source names a price of its own."""
    og, microdata = prices.get("og"), prices.get("microdata")
    head = meta(product__price__amount=str(og), product__price__currency="EUR")
    body = shoes(f'<b itemprop="price">{microdata} €</b>')
    data = [priced(prices["jsonld"], "Red shoes")] if "jsonld" in prices else []
    return read_price(page(*data, head=head if og else "", body=body if microdata else ""), URL)


def test_sources_that_agree_make_it_surer_and_others_less_sure() -> None:
    alone, agreed = reading_of(jsonld="5"), reading_of(jsonld="5", og="5.00", microdata="5")
    doubtful = reading_of(jsonld="5", og="6")
    assert agreed.price_sources == ("jsonld", "microdata", "og")
    assert doubtful.price == Decimal(5) and doubtful.price_sources == ("jsonld",)
    assert agreed.confidence > alone.confidence > doubtful.confidence


def test_a_price_of_nothing_gives_way() -> None:
    assert reading_of(jsonld="0", microdata="6").price == Decimal(6)


def test_what_the_best_source_leaves_out_others_tell() -> None:
    data = {"@type": "Product", "name": "Red shoes", "offers": {"@type": "Offer", "price": "5"}}
    head = meta(product__price__amount="5", product__price__currency="EUR", product__availability="oos")
    reading = read_price(page(data, head=head), URL)
    assert (reading.currency, reading.in_stock, reading.price_sources) == ("EUR", False, ("jsonld", "og"))


def test_parsed_data_has_the_documented_structure() -> None:
    nothing = {"price": None, "currency": None, "confidence": 0.0}
    shown = read_price(page(product(offers={"price": 1290000, "priceCurrency": "VND"})), URL).parsed_data()
    assert shown == {
        "source_url": URL,
        "price_formatted": "1,290,000 VND",
        "price_sources": ["jsonld"],
        "confidence": 0.95,
        "price_extraction": {
            "extract_price_from_jsonld": {"price": 1290000, "currency": "VND", "confidence": 0.95},
            "extract_price_from_og": nothing,
            "extract_price_from_microdata": nothing,
            "extract_price_from_script_data": nothing,
            "extract_price_from_html_ml": nothing,
        },
    }
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize(
    ("price", "currency", "formatted"),
    [
        ("1299", "EUR", "1,299.00 EUR"),
        ("19.9", "EUR", "19.90 EUR"),
        ("0.125", "USD", "0.125 USD"),
        ("1290000.00", "VND", "1,290,000 VND"),
        ("1.5", "KWD", "1.500 KWD"),
        ("5", None, "5.00"),
    ],
)
def test_prices_are_formatted_as_their_currency_is_written(price: str, currency: str | None, formatted: str) -> None:
    assert PriceReading(URL, Decimal(price), currency).price_formatted == formatted


def test_a_page_without_a_price_still_has_its_title() -> None:
    reading = read_price(page(), URL)
    assert (reading.price, reading.title, reading.confidence) == (None, "Red shoes | Shop", 0.0)
    assert reading.parsed_data()["price_formatted"] is None
