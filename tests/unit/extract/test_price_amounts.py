"""Price strings: which mark separates what, which number of several, which currency."""

from decimal import Decimal

import pytest

from crawler.extract.currencies import CURRENCIES, decimals_of
from crawler.extract.price.amounts import amount_in, amount_of
from crawler.extract.price.symbols import country_of, currency_in

WRITTEN = {
    "1.290.000 ₫": "1290000",
    "1 299,00 €": "1299.00",
    "1\u202f299,00\u00a0€": "1299.00",
    "€1,299.00": "1299.00",
    "1.299,00 €": "1299.00",
    "CHF 1'299.–": "1299",
    "1.899,-": "1899",
    "₹1,54,999.50": "154999.50",
    "49€99": "49.99",
    "$249 99": "249.99",
    "173 34 Lei": "173.34",
    "$ 12 . 48": "12.48",
    "36. 24": "36.24",
    "$.75": "0.75",
    "99p": "0.99",
    "0": "0",
    "Free!": "0",
    "1.234": "1234",
    "0.999": "0.999",
    "1234.567": "1234.567",
    "１２，８００円": "12800",
    "٢٦٥ جنيه": "265",
    "1.5万元": "15000.0",
    "₹2.5 lakh": "250000.0",
    "from $19.95 – $24.95": "19.95",
    "From 26 to 50 €": "26",
    "Renewed (2) from $599.66": "599.66",
    "Ray-Ban RX6378 $180.00": "180.00",
    "EGP 13,499 -17%": "13499",
    "-17% 20,00 €": "20.00",
    "1 250": "1250",
    "1.11000000000000009770": "1.11",
    "26.5000": "26.50",
}
NO_PRICE = [
    "",
    "Call for price",
    "4.5 out of 5",
    "(1,024 reviews)",
    "15.08.2017",
    "50 %",
    "1234567890123",
    "৳",
    "..",
    "€",
]


@pytest.mark.parametrize(("text", "amount"), WRITTEN.items())
def test_a_text_says_its_amount_exactly(text: str, amount: str) -> None:
    assert str(amount_in(text)) == amount


@pytest.mark.parametrize("text", NO_PRICE)
def test_a_text_without_a_price_says_none(text: str) -> None:
    assert amount_in(text) is None


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [("50.700", "VND", "50700"), ("37.100", "IDR", "37100"), ("2 999,000", "TND", "2999"), ("12.990", "KWD", "12.99")],
)
def test_the_currency_tells_what_three_digits_after_a_mark_are(text: str, currency: str, amount: str) -> None:
    assert amount_in(text, currency) == Decimal(amount)


@pytest.mark.parametrize(
    ("value", "currency", "amount"),
    [
        (1290000, "VND", "1290000"),
        (Decimal("19.90"), "EUR", "19.90"),
        ("19.90", "EUR", "19.90"),
        ("1.299", "USD", "1.299"),
        ("50.700", "VND", "50700"),
        (Decimal("50.700"), "VND", "50700"),
        ("1290000.00", "VND", "1290000.00"),
        ("19.989999771118164", "USD", "19.99"),
        ("1,299.00", "USD", "1299.00"),
        ("12,99", "EUR", "12.99"),
        ("€ 12,99", "EUR", "12.99"),
    ],
)
def test_values_for_machines_have_a_decimal_point(value: object, currency: str, amount: str) -> None:
    assert str(amount_of(value, currency)) == amount


@pytest.mark.parametrize(
    "value", [None, True, False, [], {}, "", "n/a", -5, Decimal("NaN"), float("inf"), 10**40, "1e5"]
)
def test_other_values_are_no_amount(value: object) -> None:
    assert amount_of(value, "EUR") in (None, Decimal(1))  # "1e5" is read as a text, in which 1 is the first number


@pytest.mark.parametrize(
    ("text", "country", "code"),
    [
        ("EUR", "", "EUR"),
        ("eur", "", "EUR"),
        ("€", "", "EUR"),
        ("VNĐ", "", "VND"),
        ("$", "", "USD"),
        ("$", "ca", "CAD"),
        ("US $", "ca", "USD"),
        ("A$1,049.00", "", "AUD"),
        ("12 kr", "se", "SEK"),
        ("12 kr", "", None),
        ("¥", "cn", "CNY"),
        ("RUR", "", "RUB"),
        ("149元", "", "CNY"),
        ("Klee", "", None),
        ("12,50", "", None),
        ("HRK", "", None),
    ],
)
def test_a_text_names_its_currency(text: str, country: str, code: str | None) -> None:
    assert currency_in(text, country) == code


def test_countries_are_two_letters_at_the_end_of_a_host() -> None:
    assert [country_of(host) for host in ("shop.example.co.uk", "example.com", "127.0.0.1", "")] == ["uk", "", "", ""]


def test_every_currency_has_a_number_of_decimals() -> None:
    assert {decimals_of(code) for code in CURRENCIES} == {0, 2, 3}
    assert (decimals_of("VND"), decimals_of("EUR"), decimals_of("KWD"), decimals_of(None)) == (0, 2, 3, 2)
