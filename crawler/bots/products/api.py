"""`/api/v1/products`: what is watched, what it costs, what changed."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Field, Path, Query, Router, Status

from crawler.accounts.access import actor_of, at_least
from crawler.accounts.roles import Role
from crawler.bots import actions, exact_json
from crawler.bots.identity import Identity, identify
from crawler.bots.models import ChangeKind, ProductURL
from crawler.bots.products import changes, history
from crawler.bots.products.detail import detail
from crawler.bots.products.exporting import download, format_asked
from crawler.bots.products.files import Entry
from crawler.bots.products.history import INTERVALS, RAW, span_of
from crawler.bots.products.importing import ImportSummary, import_entries, import_product_urls
from crawler.bots.products.listing import Filters, Product, checked, every_product, page_of_products
from crawler.bots.products.moments import read_moment
from crawler.bots.products.schemas import (
    ChangePage,
    FrequencyHours,
    ImportOut,
    Limit,
    PricePage,
    ProductDetail,
    ProductFilters,
    ProductPage,
    ProductsAdded,
    ProductsIn,
    TextIn,
)
from crawler.bots.products.uploads import upload_of
from crawler.foundation.errors import InvalidInput, NotFound
from crawler.web.urls import InvalidURL

Page = tuple[list[dict[str, Any]], str | None]

router = Router(tags=["products"])
viewers, operators = at_least(Role.VIEWER), at_least(Role.OPERATOR)

# What the API's description cannot see in the functions below.
TEXT = {"schema": {"type": "string"}}
FILES = {kind: TEXT for kind in ("text/plain", "text/csv", "application/x-ndjson", "application/json")}
DOWNLOAD = {"responses": {200: {"description": "OK", "content": {"text/csv": TEXT, "application/x-ndjson": TEXT}}}}

UrlHash = Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
Begins = Annotated[str | None, Query(alias="from", description="A date, or a date and time. Inclusive.")]
Ends = Annotated[str | None, Query(alias="to", description="A date (the whole day), or a date and time (exclusive).")]


@router.get("/products", response=ProductPage, auth=viewers, summary="List products, page by page")
def list_products(
    request: HttpRequest, filters: Query[ProductFilters], limit: Limit = 100, cursor: str | None = None
) -> HttpResponse:
    page, more = page_of_products(filters_of(filters), limit=limit, cursor=cursor)
    return paged("products", [one._asdict() for one in page], limit, more)


@router.post("/products", response={201: ProductsAdded, 200: ProductsAdded}, auth=operators, summary="Add products")
def add_products(request: HttpRequest, body: ProductsIn) -> Status[dict[str, Any]]:
    urls = urls_of(body)
    found = [one for one in map(identified, urls) if one]
    if body.url is not None and not found:
        refuse(body.url)
    entries = (Entry(number, url) for number, url in enumerate(urls, 1))
    summary = import_entries(entries, by=actor_of(request), name="POST", frequency_hours=body.frequency_hours)
    products = {one.url_hash: one._asdict() for one in reversed(found)}
    return Status(201 if summary.added else 200, asdict(summary) | {"products": list(products.values())[::-1]})


@router.post(
    "/products/import",
    response=ImportOut,
    auth=operators,
    summary="Add the products of a file: text, CSV, NDJSON or JSON, packed by gzip or not",
    openapi_extra={"requestBody": {"required": True, "content": FILES}},
)
def import_products(
    request: HttpRequest, frequency_hours: FrequencyHours | None = None, dry_run: bool = False
) -> ImportSummary:
    upload = upload_of(request)
    return import_product_urls(
        upload.source,
        by=actor_of(request),
        name=upload.name,
        form=upload.form,
        frequency_hours=frequency_hours,
        dry_run=dry_run,
    )


# Before /products/{url_hash}: these are no hashes.


@router.get("/products/export", auth=viewers, summary="All products as CSV or NDJSON", openapi_extra=DOWNLOAD)
def export_products(
    request: HttpRequest, filters: Query[ProductFilters], format: str | None = None
) -> StreamingHttpResponse:
    form = format_asked(request, format)
    return download(every_product(checked(filters_of(filters))), Product._fields, form, "products")


@router.get("/products/changes", response=ChangePage, auth=viewers, summary="What changed: prices and stock")
def list_changes(
    request: HttpRequest,
    kind: ChangeKind | None = None,
    min_percent: changes.PercentIn | None = None,
    since: str | None = None,
    domain: TextIn | None = None,
    url_hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None,
    order: str = "newest",
    limit: Limit = 100,
    cursor: Annotated[int, Field(ge=0, lt=2**63)] | None = None,
) -> HttpResponse:
    asked = changes.Asked(kind, min_percent, read_moment("since", since)[0], domain, url_hash, order)
    actions.publish_changes()  # so that a change shows as soon as its result was accepted
    page, more, last = changes.page_of_changes(asked, limit=limit, cursor=cursor)
    body = {"changes": page, "pagination": {"limit": limit, "next_cursor": more}, "poll_cursor": str(last)}
    return exact_json.answer(body)


@router.get("/products/{url_hash}", response=ProductDetail, auth=viewers, summary="A product: price, stock, next visit")
def one_product(request: HttpRequest, url_hash: UrlHash) -> HttpResponse:
    return exact_json.answer(detail(url_hash))


@router.delete("/products/{url_hash}", response={204: None}, auth=operators, summary="Watch a product no longer")
def remove_product(request: HttpRequest, url_hash: UrlHash, reason: str = "") -> Status[None]:
    product = ProductURL.objects.filter(pk=url_hash).first()
    if product is None:
        raise unknown(url_hash)
    actions.remove_product_url(actor_of(request), product, reason=reason)
    return Status(204, None)


@router.get("/products/{url_hash}/prices", response=PricePage, auth=viewers, summary="A product's price history")
def prices(
    request: HttpRequest,
    url_hash: UrlHash,
    begins: Begins = None,
    ends: Ends = None,
    interval: str = RAW,
    limit: Limit = 100,
    cursor: str | None = None,
) -> HttpResponse:
    known(url_hash)
    span = span_of(begins, ends)
    page, more = price_page(url_hash, span, interval, limit, cursor)
    body = {
        "url_hash": url_hash,
        "interval": interval,
        "summary": [asdict(one) for one in history.summary(url_hash, span)],
        "prices": page,
        "pagination": {"limit": limit, "next_cursor": more},
    }
    return exact_json.answer(body)


def price_page(url_hash: str, span: history.Span, interval: str, limit: int, cursor: str | None) -> Page:
    if interval == RAW:
        points, more = history.points(url_hash, span, limit=limit, cursor=cursor)
        return [point._asdict() for point in points], more
    if interval not in INTERVALS:
        raise InvalidInput(field="interval", reason=f"{interval!r} is unknown; choose one of {', '.join(INTERVALS)}")
    buckets, more = history.buckets(url_hash, span, interval, limit=limit, cursor=cursor)
    return [asdict(bucket) for bucket in buckets], more


@router.get(
    "/products/{url_hash}/prices/export",
    auth=viewers,
    summary="A product's prices as CSV or NDJSON",
    openapi_extra=DOWNLOAD,
)
def export_prices(
    request: HttpRequest, url_hash: UrlHash, begins: Begins = None, ends: Ends = None, format: str | None = None
) -> StreamingHttpResponse:
    known(url_hash)
    form, span = format_asked(request, format), span_of(begins, ends)
    return download(history.every_point(url_hash, span), history.Point._fields, form, f"prices-{url_hash[:12]}")


def filters_of(asked: ProductFilters) -> Filters:
    given = asked.dict(exclude={"url", "changed_since"})
    exactly = identify_or_refuse(asked.url).url_hash if asked.url is not None else None
    since: datetime | None = read_moment("changed_since", asked.changed_since)[0]
    return Filters(**given, url_hash=exactly, changed_since=since)


def urls_of(body: ProductsIn) -> list[str]:
    if (body.url is None) == (body.urls is None):
        raise InvalidInput(field="url", reason="Send either url or urls")
    return [body.url] if body.url is not None else body.urls or []


def identified(url: str) -> Identity | None:
    try:
        return identify(url.strip())
    except InvalidURL:
        return None


def identify_or_refuse(url: str) -> Identity:
    try:
        return identify(url.strip())
    except InvalidURL as error:
        raise InvalidInput(field="url", reason=str(error), code="INVALID_URL") from None


refuse = identify_or_refuse


def known(url_hash: str) -> None:
    """Also a product that was removed: its prices stay."""
    if not ProductURL.objects.filter(pk=url_hash).exists() and not history.points(url_hash, history.Span(), limit=1)[0]:
        raise unknown(url_hash)


def unknown(url_hash: str) -> NotFound:
    return NotFound("There is no product with this hash", field="url_hash", reason=url_hash)


def paged(name: str, rows: list[dict[str, Any]], limit: int, more: str | None) -> HttpResponse:
    return exact_json.answer({name: rows, "pagination": {"limit": limit, "next_cursor": more}})
