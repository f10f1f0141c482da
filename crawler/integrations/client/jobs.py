"""What a bot gets, and what it may answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from crawler.integrations.client.errors import InvalidResult

PRICE_DIGITS, PRICE_PLACES = 12, 6  # before and after the point
LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True)
class Job:
    """One URL to visit. It is yours until `locked_until`; the loops extend that for you."""

    job_id: str
    url: str
    priority: int
    max_retries: int
    timeout_seconds: int
    retry_count: int
    locked_until: datetime
    fence: int | None = None

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Job:
        """From a server's `jobs`; what a later server adds is passed over."""
        return cls(
            job_id=str(data["job_id"]),
            url=str(data["url"]),
            priority=int(data["priority"]),
            max_retries=int(data["max_retries"]),
            timeout_seconds=int(data["timeout_seconds"]),
            retry_count=int(data["retry_count"]),
            locked_until=moment(data["locked_until"]),
            fence=data.get("fence"),
        )


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


@dataclass(frozen=True, slots=True)
class Result:
    """What was found. Checked here, so that a mistake shows where it was made: raises InvalidResult.

    A price is a Decimal, an int, or their text; a float is taken for the digits Python prints of it.
    """

    price: Decimal | int | float | str
    currency: str
    title: str | None = None
    in_stock: bool | None = True  # None: the page does not say, which counts as yes
    parsed_data: dict[str, Any] | None = None
    raw_html: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "price", exact_price(self.price))
        object.__setattr__(self, "currency", currency_code(self.currency))
        _check_kind("title", self.title, str)
        _check_kind("in_stock", self.in_stock, bool)
        _check_kind("parsed_data", self.parsed_data, dict)
        _check_kind("raw_html", self.raw_html, str)
        if self.title is not None and "\0" in self.title:
            raise InvalidResult("title: null characters are not allowed")
        as_json(self.parsed_data)

    def body(self) -> dict[str, Any]:
        """The fields of a submit. The price goes as text, digit by digit."""
        sent = {"success": True, "price": format(self.price, "f"), "currency": self.currency}
        names = ("title", "in_stock", "parsed_data", "raw_html")
        return sent | {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class Failure:
    """The page could not be read. The server tries the job again until its attempts are used up."""

    reason: str

    def body(self) -> dict[str, Any]:
        text = str(self.reason).replace("\0", "").encode(errors="replace").decode()
        return {"success": False, "error_msg": text[:LONGEST_ERROR]}

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """An exception in one short line."""
        text = str(error).strip().partition("\n")[0]
        return cls(f"{type(error).__name__}: {text}" if text else type(error).__name__)


class GiveBack(Exception):
    """Raise it in a handler to give the job back unharmed: another bot may have it, no attempt is counted."""


Answer = Result | Failure | GiveBack


def exact_price(value: Any) -> Decimal:
    """Raises InvalidResult for what the server would not take."""
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float | str):
        raise InvalidResult(f"price: a Decimal, int or text is needed, not {value!r}")
    try:
        price = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        raise InvalidResult(f"price: {value!r} is not a number") from None
    if not price.is_finite():
        raise InvalidResult(f"price: {value!r} is not a finite number")
    if price < 0:
        raise InvalidResult(f"price: {value!r} is negative")
    if price.adjusted() >= PRICE_DIGITS or -int(price.normalize().as_tuple().exponent) > PRICE_PLACES:
        raise InvalidResult(
            f"price: {value!r} has more than {PRICE_DIGITS} digits before or {PRICE_PLACES} after the point"
        )
    return abs(price)


def currency_code(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 3 or not (value.isascii() and value.isalpha()):
        raise InvalidResult(f"currency: three letters are needed, like EUR, not {value!r}")
    return value.upper()


def as_json(value: Any) -> str:
    """Raises InvalidResult for what JSON has no words for. Decimals become numbers, dates their ISO text."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidResult(f"parsed_data: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _check_kind(name: str, value: Any, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise InvalidResult(f"{name}: a {kind.__name__} is needed, not {value!r}")
