"""Prices as exact decimals on both databases, and numbers of JSON that still know their text."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from django.db import models

PRICE_DIGITS, PRICE_PLACES = 18, 6
MICRO = Decimal(10) ** PRICE_PLACES


class ExactFloat(float):
    """A JSON number with a fraction or exponent: a float to everybody, with its own digits for who needs them all."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> ExactFloat:
        made = super().__new__(cls, text)
        made.text = text
        return made


def load_json(body: bytes | str) -> Any:
    """Raises ValueError for what is not JSON, NaN and Infinity included."""
    return json.loads(body, parse_float=ExactFloat, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def as_number(price: Decimal) -> str:
    """The JSON number, digit by digit."""
    return format(price, "f")


class PriceField(models.DecimalField):  # type: ignore[type-arg]
    """A decimal with six places. SQLite has no exact decimals, so there it is a whole number of millionths: it still
    sorts and compares right."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"max_digits": PRICE_DIGITS, "decimal_places": PRICE_PLACES} | options))

    def get_internal_type(self) -> str:
        return "PriceField"  # not "DecimalField": Django would read that through a float

    def db_type(self, connection: Any) -> str:
        return "bigint" if connection.vendor == "sqlite" else f"numeric({self.max_digits}, {self.decimal_places})"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return value
        return price_for(connection.vendor, self.to_python(value))

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        return self.get_db_prep_value(value, connection)

    def from_db_value(self, value: Any, expression: object, connection: Any) -> Decimal | None:
        return price_from(connection.vendor, value)


def price_for(vendor: str, price: Decimal | None) -> Any:
    """A price as the column takes it."""
    if price is None or vendor != "sqlite":
        return price
    return int((price * MICRO).to_integral_value())


def price_from(vendor: str, value: Any) -> Decimal | None:
    """A price from the column, without the zeros that only fill it up."""
    if value is None:
        return None
    price = (Decimal(value) / MICRO if vendor == "sqlite" else Decimal(value)).normalize()
    return price.quantize(Decimal(1)) if price == price.to_integral_value() else price
