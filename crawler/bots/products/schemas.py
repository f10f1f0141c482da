"""The shapes of `/api/v1/products`. Prices are JSON numbers, written digit by digit."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import AfterValidator

from crawler.accounts.schemas import CursorPage, StrictSchema
from crawler.bots.exact import PRICE_DIGITS, PRICE_PLACES
from crawler.bots.models import ChangeKind
from crawler.bots.schemas import known_currency, storable

MOST_URLS_IN_A_POST = 1_000
PriceIn = Annotated[
    Decimal, Field(ge=0, max_digits=PRICE_DIGITS, decimal_places=PRICE_PLACES, json_schema_extra={"type": "number"})
]
TextIn = Annotated[str, AfterValidator(storable)]
Limit = Annotated[int, Field(ge=1, le=1000)]
FrequencyHours = Annotated[
    int,
    Field(
        ge=1,
        le=100_000,
        description="Domains of these URLs that have no policy get one named Default that visits them so often.",
    ),
]


class ProductFilters(Schema):
    domain: TextIn | None = Field(None, description="Exactly this domain.")
    url: TextIn | None = Field(None, description="Exactly this URL, in any spelling.")
    q: TextIn | None = Field(None, description="How the URL begins, with http:// or https://.")
    in_stock: bool | None = None
    currency: Annotated[str, AfterValidator(known_currency)] | None = None
    policy: Annotated[int, Field(ge=1, lt=2**63)] | None = Field(None, description="A policy's id.")
    changed_since: str | None = Field(
        None, description="Price, currency or stock changed at or after this date or date and time."
    )
    min_price: PriceIn | None = None
    max_price: PriceIn | None = None
    sort: str = Field(
        "url",
        description="url (domain by domain), price or changed, with - before it the other way round. By price: those "
        "that have one. By changed: those that did.",
    )


class ProductOut(Schema):
    url_hash: str
    url: str
    domain: str
    policy_id: int | None
    policy: str | None
    title: str | None
    price: float | None
    currency: str | None
    in_stock: bool | None
    last_result_at: datetime | None
    last_changed_at: datetime | None
    next_due_at: datetime | None = Field(description="Null: a job is under way, or no policy covers it.")
    created_at: datetime


class ProductPage(Schema):
    products: list[ProductOut]
    pagination: CursorPage


class ResultOut(Schema):
    result_id: UUID
    at: datetime
    price: float
    currency: str
    in_stock: bool
    title: str
    bot_id: str
    parsed_data: dict[str, Any]
    storage_path: str | None = Field(description="Where raw_html lies in the archive.")


class OpenJobOut(Schema):
    job_id: UUID
    status: str
    priority: int
    retry_count: int
    max_retries: int
    locked_by: str | None
    locked_until: datetime | None
    created_at: datetime


class ProductDetail(ProductOut):
    failure_streak: int
    last_result: ResultOut | None
    open_job: OpenJobOut | None


class ProductsIn(StrictSchema):
    """One `url`, or up to 1,000 `urls`."""

    url: str | None = None
    urls: list[str] | None = Field(None, min_length=1, max_length=MOST_URLS_IN_A_POST)
    frequency_hours: FrequencyHours | None = None


class RefusalOut(Schema):
    line: int = Field(description="Of the file; in a list its place, from 1.")
    text: str
    reason: str


class ImportOut(Schema):
    """`added` + `known` + `repeated` + `refused` is `read`."""

    read: int
    added: int
    known: int = Field(description="Were there before.")
    repeated: int = Field(description="Stood in the file before.")
    refused: int
    refusals: list[RefusalOut] = Field(description="The first 100.")
    policies_made: int
    without_policy: int = Field(description="Added or known, but covered by no policy: nobody visits them.")
    domains_without_policy: dict[str, int] = Field(description="How many of them by domain; the first 100 domains.")
    dry_run: bool


class AddedProduct(Schema):
    url_hash: str
    url: str
    domain: str


class ProductsAdded(ImportOut):
    products: list[AddedProduct] = Field(description="Those that are there now, in the order given.")


class PriceSummary(Schema):
    currency: str
    min: float
    max: float
    first: float
    last: float
    count: int
    in_stock: bool = Field(description="At the last visit.")


class PricePoint(Schema):
    at: datetime
    price: float
    currency: str
    in_stock: bool
    title: str
    bot_id: str
    result_id: UUID


class PriceBucket(PriceSummary):
    start: datetime


class PricePage(Schema):
    url_hash: str
    interval: Literal["raw", "hour", "day", "week", "month"]
    summary: list[PriceSummary] = Field(description="Of the whole range, by currency.")
    prices: list[PricePoint | PriceBucket]
    pagination: CursorPage


class PreviousOut(Schema):
    price: float
    currency: str
    in_stock: bool


class ChangeOut(Schema):
    number: int = Field(description="Later ones are always greater.")
    kind: ChangeKind
    at: datetime
    url_hash: str
    url: str
    domain: str
    title: str
    price: float
    currency: str
    in_stock: bool
    previous: PreviousOut
    percent: float | None = Field(description="How far the price went; null when it did not, or was 0.")
    result_id: UUID


class ChangePage(Schema):
    changes: list[ChangeOut]
    pagination: CursorPage
    poll_cursor: str = Field(
        description="With order=oldest: send it as cursor, now or later, to get what came after this page."
    )
