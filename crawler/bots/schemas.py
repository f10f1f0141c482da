"""The shapes of /api/crawl: what requests are checked against, and what its description is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Context, Decimal, InvalidOperation
from itertools import chain
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from crawler.bots.currencies import CURRENCIES
from crawler.bots.exact import PRICE_DIGITS, PRICE_PLACES, ExactFloat

MOST_JOBS_IN_A_REQUEST = 500
LARGEST_FENCE = 2**31 - 1
DEEPEST = 100  # levels of parsed_data
MILLIONTH, WIDE = Decimal(1).scaleb(-PRICE_PLACES), Context(prec=PRICE_DIGITS + 1)
LONGEST_WAIT_SECONDS = 30


def wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("wrong", "{message}", {"message": message})


# Python would also take 1_000 and other scripts' digits.
NUMERIC = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
LONGEST_NUMBER = 400


def exact_price(value: Any) -> Decimal:
    """A JSON number or a numeric string, digit by digit."""
    if isinstance(value, bool) or not isinstance(value, int | str | ExactFloat):
        raise wrong("A valid number is required.")
    text = value.text if isinstance(value, ExactFloat) else str(value).strip()
    if len(text) > LONGEST_NUMBER or not NUMERIC.fullmatch(text):
        raise wrong("A valid number is required.")
    try:
        price = Decimal(text)
    except InvalidOperation:
        raise wrong("A valid number is required.") from None
    return within_digits(price)


def within_digits(price: Decimal) -> Decimal:
    if price < 0:
        raise wrong("Ensure this value is greater than or equal to 0.00.")
    if price.adjusted() >= PRICE_DIGITS - PRICE_PLACES:
        raise wrong("Decimal value too large.")
    if price != price.quantize(MILLIONTH, context=WIDE):
        raise wrong(f"Ensure that there are no more than {PRICE_PLACES} decimal places.")
    return abs(price)  # -0 is 0


def known_currency(value: str) -> str:
    if len(value) != 3:
        raise wrong("Ensure this field has exactly 3 characters.")
    if value.upper() not in CURRENCIES:
        raise wrong(f'"{value}" is not an ISO 4217 currency.')
    return value.upper()


def storable(value: str) -> str:
    """Text that every database takes."""
    if "\0" in value:
        raise wrong("Null characters are not allowed.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong("Not valid Unicode: it has half a surrogate pair.") from None
    return value


def as_fence(value: int) -> int:
    if not 0 <= value <= LARGEST_FENCE:
        raise wrong(f"Ensure this value is between 0 and {LARGEST_FENCE}.")
    return value


def as_json(value: Any) -> str:
    if not isinstance(value, dict):
        raise wrong(f'Expected a dictionary of items but got type "{type(value).__name__}".')
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise wrong("A number in it is too large.") from None
    if "\\u0000" in text or text.count("[") + text.count("{") > DEEPEST:
        _walk(value)
    return storable(text)


def _walk(value: Any) -> None:
    """Level by level, as whoever sends it decides how deep it is."""
    level = [value]
    for _ in range(DEEPEST):
        level = [part for one in level for part in _parts(one)]
        if any(isinstance(one, str) and "\0" in one for one in level):
            raise wrong("Null characters are not allowed.")
        if not any(isinstance(one, dict | list) for one in level):
            return
    raise wrong(f"It is nested more than {DEEPEST} levels deep.")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return chain(value.keys(), value.values())
    return value if isinstance(value, list) else ()


Text = Annotated[str, AfterValidator(storable)]
BotId = Annotated[str, Field(max_length=100), AfterValidator(storable)]
PartOfName = Annotated[str, Field(max_length=255), AfterValidator(storable)]
Price = Annotated[Decimal, BeforeValidator(exact_price, json_schema_input_type=float | str)]
Currency = Annotated[str, AfterValidator(known_currency)]
Fence = Annotated[StrictInt, AfterValidator(as_fence)]
ParsedData = Annotated[str, BeforeValidator(as_json, json_schema_input_type=dict[str, Any])]
JobIds = Annotated[list[UUID], Field(min_length=1, max_length=MOST_JOBS_IN_A_REQUEST)]


class Identified(BaseModel):
    """Both are required unless `Authorization: Bearer TOKEN` is sent."""

    bot_id: BotId | None = None
    api_token: str | None = None


class PullIn(Identified):
    max_jobs: Annotated[int, Field(ge=1, description="Capped by the bot's max_jobs_per_pull and by 100.")] = 10
    domain: Annotated[PartOfName | None, Field(description="Only domains whose name contains this.")] = None
    wait_seconds: Annotated[
        float, Field(ge=0, description="Wait so long for a job when there is none; capped by 30.")
    ] = 0


class ResultIn(BaseModel):
    """What became of one job."""

    job_id: UUID
    success: StrictBool
    fence: Fence | None = None
    price: Price | None = None
    currency: Currency | None = None
    title: Text | None = None
    in_stock: StrictBool | None = None
    parsed_data: ParsedData | None = None
    raw_html: str | None = None
    error_msg: Text | None = None

    @model_validator(mode="after")
    def success_has_a_price(self) -> ResultIn:
        missing = [name for name in ("price", "currency") if self.success and getattr(self, name) is None]
        if missing:
            raise PydanticCustomError("missing_fields", "{fields}", {"fields": ",".join(missing)})
        return self


class SubmitIn(ResultIn, Identified):
    pass


class BatchIn(Identified):
    results: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_JOBS_IN_A_REQUEST)]


class JobsIn(Identified):
    job_ids: JobIds


class JobOut(BaseModel):
    job_id: UUID
    url: str
    priority: Annotated[int, Field(ge=1, le=20)]
    max_retries: int
    timeout_seconds: int
    retry_count: int
    locked_until: datetime
    fence: int


class PullData(BaseModel):
    jobs: list[JobOut]
    count: int
    skipped: int


class PullOut(BaseModel):
    success: Literal[True]
    data: PullData


class DoneData(BaseModel):
    result_id: UUID
    job_id: UUID
    status: Literal["done"]
    price: float
    currency: str
    policy_next_run: datetime | None


class DoneOut(BaseModel):
    success: Literal[True]
    data: DoneData


class NotDoneData(BaseModel):
    job_id: UUID
    status: Literal["pending", "failed"]
    retry_count: int
    max_retries: int
    message: str
    error: str | None = None


class NotDoneOut(BaseModel):
    success: Literal[True]
    data: NotDoneData


class ErrorOut(BaseModel):
    """What every problem looks like, whatever its status."""

    success: Literal[False]
    error: str
    detail: str | dict[str, list[str]]


class BatchOne(BaseModel):
    """The answer that this result would have got alone, with its status code."""

    job_id: str | None
    status_code: int
    success: bool
    data: DoneData | NotDoneData | None = None
    error: str | None = None
    detail: str | dict[str, list[str]] | None = None


class BatchData(BaseModel):
    results: list[BatchOne]
    count: int
    accepted: int


class BatchOut(BaseModel):
    success: Literal[True]
    data: BatchData


class ExtendedOne(BaseModel):
    job_id: UUID
    locked_until: datetime


class HeartbeatData(BaseModel):
    extended: list[ExtendedOne]
    lost: list[UUID]


class HeartbeatOut(BaseModel):
    success: Literal[True]
    data: HeartbeatData


class ReleaseData(BaseModel):
    released: list[UUID]
    lost: list[UUID]


class ReleaseOut(BaseModel):
    success: Literal[True]
    data: ReleaseData
