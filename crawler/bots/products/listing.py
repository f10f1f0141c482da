"""Products page by page, along an index: a page costs the same at the first product and at the millionth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from crawler.bots.exact import price_for, price_from
from crawler.bots.models import CrawlPolicy
from crawler.bots.models.url_start import START, START_LETTERS
from crawler.bots.products.cursors import read_cursor, write_cursor, wrong_cursor
from crawler.bots.products.moments import stored_moment
from crawler.bots.values import as_moment
from crawler.domains.models import Domain
from crawler.foundation.errors import InvalidInput
from crawler.frontier.bulk import list_of, members, uuid_key

EXPORT_BATCH = 2_000
MOST_DOMAINS = 100


class Product(NamedTuple):
    url_hash: str
    url: str
    domain: str
    policy_id: int | None
    policy: str | None
    title: str | None
    price: Decimal | None
    currency: str | None
    in_stock: bool | None
    last_result_at: datetime | None
    last_changed_at: datetime | None
    next_due_at: datetime | None
    created_at: datetime


@dataclass(frozen=True)
class Filters:
    """What None says nothing about."""

    domain: str | None = None
    url_hash: str | None = None
    q: str | None = None  # how the URL begins
    in_stock: bool | None = None
    currency: str | None = None
    policy: int | None = None
    changed_since: datetime | None = None
    min_price: Decimal | None = None
    max_price: Decimal | None = None
    sort: str = "url"


@dataclass(frozen=True)
class Sort:
    """An order that an index has: its columns, how their text in a cursor is read, and which rows are in it."""

    columns: tuple[str, ...]
    keys: tuple[Callable[[str], Any], ...]
    only: str = ""


COLUMNS = (
    "url_hash, url, domains.domain, policy_id, crawl_policies.name, last_title, last_price, last_currency,"
    " last_in_stock, last_result_at, last_changed_at, next_due_at, product_urls.created_at"
)
TABLES = (
    "product_urls JOIN domains ON domains.id = product_urls.domain_id"
    " LEFT JOIN crawl_policies ON crawl_policies.id = policy_id"
)


def page_of_products(filters: Filters, *, limit: int, cursor: str | None = None) -> tuple[list[Product], str | None]:
    """Up to `limit` products and the cursor of the next page. Raises InvalidInput for filters that say nothing."""
    conditions, values = _conditions(filters)
    sort, way = _order(filters.sort)
    columns = _columns(sort)
    if sort.only:
        conditions.append(sort.only)
    if cursor:
        conditions.append(f"({', '.join(columns)}) {SIGNS[way]} ({', '.join(['%s'] * len(columns))})")
        values += _read_place(cursor, filters.sort)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    place = ", ".join(f"CAST({column} AS text) AS place_{number}" for number, column in enumerate(columns))
    order = ", ".join(f"{column} {way}" for column in columns)
    with connection.cursor() as asked:
        # A limit that is a parameter is taken for a tenth of the table, which would be sorted for every page.
        sql = f"SELECT {place}, {COLUMNS} FROM {TABLES} {where} ORDER BY {order} LIMIT {int(limit) + 1}"
        asked.execute(sql, values)
        rows = asked.fetchall()
    size = len(columns)
    more = write_cursor(filters.sort, *rows[limit - 1][:size]) if len(rows) > limit else None
    return [_product(row[size:]) for row in rows[:limit]], more


def every_product(filters: Filters) -> Iterator[Product]:
    """In the same order, a batch in memory at a time. Nothing is held meanwhile, so what changes then may show."""
    cursor: str | None = None
    while True:
        batch, cursor = page_of_products(filters, limit=EXPORT_BATCH, cursor=cursor)
        yield from batch
        if cursor is None:
            return


def checked(filters: Filters) -> Filters:
    """Raises InvalidInput for what cannot be asked, before an export begins to stream."""
    _conditions(filters)
    _order(filters.sort)
    return filters


def product(url_hash: str) -> Product | None:
    with connection.cursor() as asked:
        asked.execute(f"SELECT {COLUMNS} FROM {TABLES} WHERE url_hash = %s", [url_hash])
        row = asked.fetchone()
    return _product(row) if row else None


def _product(row: Any) -> Product:
    *known, price, currency, in_stock, result_at, changed_at, due_at, created_at = row
    moments = [value and as_moment(value) for value in (result_at, changed_at, due_at, created_at)]
    stock = None if in_stock is None else bool(in_stock)
    return Product._make([*known, price_from(connection.vendor, price), currency, stock, *moments])


# What is asked for, as SQL.


def _conditions(filters: Filters) -> tuple[list[str], list[Any]]:
    found: list[tuple[str, Any]] = [*_where_it_belongs(filters)]
    if filters.url_hash is not None:
        found.append(("url_hash = %s", filters.url_hash))
    if filters.q is not None:
        found += _prefix(filters.q)
    if filters.in_stock is not None:
        found.append(("last_in_stock = %s", filters.in_stock))
    if filters.currency:
        found.append(("last_currency = %s", filters.currency.upper()))
    if filters.changed_since:
        found.append(("last_changed_at >= %s", stored_moment(filters.changed_since)))
    for name, sign in (("min_price", ">="), ("max_price", "<=")):
        if (price := getattr(filters, name)) is not None:
            found.append((f"last_price {sign} %s", price_for(connection.vendor, price)))
    return [sql for sql, _ in found], [value for _, value in found]


def _where_it_belongs(filters: Filters) -> Iterator[tuple[str, Any]]:
    domain = None
    if filters.policy is not None:
        policy = CrawlPolicy.objects.filter(pk=filters.policy).select_related("domain").first()
        if policy is None:
            raise InvalidInput(field="policy", reason=f"There is no policy {filters.policy}")
        domain = policy.domain  # whose index leads to its products
        yield "policy_id = %s", filters.policy
    if filters.domain is not None:
        name = filters.domain.strip().lower()
        domain = Domain.objects.filter(name__in={name, name.removeprefix("www.")}).first()
        if domain is None:  # nothing is there, which is an answer
            yield "url_hash = %s", ""
    if domain:
        yield "product_urls.domain_id = %s", uuid_key(connection.vendor, domain.pk)


def _prefix(start: str) -> Iterator[tuple[str, Any]]:
    if not start.startswith(("http://", "https://")):
        raise InvalidInput(field="q", reason="Give the beginning of a URL, with http:// or https://")
    if "\0" in start or not _is_unicode(start):
        raise InvalidInput(field="q", reason="Not a text that a URL begins with")
    yield from _domains_of(start)
    column, head = _start_column(), start[:START_LETTERS]
    yield f"{column} >= %s", head
    yield f"{column} < %s", head[:-1] + chr(min(ord(head[-1]) + 1, 0x10FFFF))
    if len(start) > START_LETTERS:
        yield f"substr(url, 1, {len(start)}) = %s", start


def _domains_of(start: str) -> Iterator[tuple[str, Any]]:
    """URLs are sorted domain by domain, so a beginning is looked for in the domains it can belong to."""
    host, slash, _ = start.partition("://")[2].partition("/")
    name = host.lower().removeprefix("www.")
    if slash:
        named = Domain.objects.filter(name__in={host.lower(), name, name.removesuffix(":80").removesuffix(":443")})
    elif "www.".startswith(name) or ":" in name:
        return
    else:
        named = Domain.objects.filter(name__startswith=name)
    keys = [uuid_key(connection.vendor, key) for key in named.values_list("pk", flat=True)[: MOST_DOMAINS + 1]]
    if len(keys) <= MOST_DOMAINS:
        yield f"product_urls.domain_id {members(connection.vendor, 'uuid')}", list_of(connection.vendor, keys)


def _is_unicode(text: str) -> bool:
    return not any(0xD7FF <= ord(letter) <= 0xDFFF for letter in text)


def _start_column() -> str:
    return START[connection.vendor].format(url="url")


def _columns(sort: Sort) -> tuple[str, ...]:
    return tuple(column.format(start=_start_column()) for column in sort.columns)


def _order(name: str) -> tuple[Sort, str]:
    sort = SORTS.get(name.removeprefix("-"))
    if sort is None:
        known = ", ".join(f"{one}, -{one}" for one in SORTS)
        raise InvalidInput(field="sort", reason=f"{name!r} is unknown; choose one of {known}")
    return sort, "DESC" if name.startswith("-") else "ASC"


# The cursor: the order it belongs to, and the last product's place in it.


def _read_place(text: str, name: str) -> list[Any]:
    sort, _ = _order(name)
    made_for, *place = read_cursor(text, 1 + len(sort.columns))
    if made_for != name:
        raise wrong_cursor()
    try:
        return [key(part) for key, part in zip(sort.keys, place, strict=True)]
    except (ValueError, ArithmeticError):
        raise wrong_cursor() from None


def _price_key(text: str) -> Any:
    return int(text) if connection.vendor == "sqlite" else Decimal(text)


def _moment_key(text: str) -> Any:
    return text if connection.vendor == "sqlite" else datetime.fromisoformat(text)


def _domain_key(text: str) -> Any:
    return uuid_key(connection.vendor, UUID(text))


SIGNS = {"ASC": ">", "DESC": "<"}
SORTS = {
    "url": Sort(("product_urls.domain_id", "{start}", "url_hash"), (_domain_key, str, str)),
    "price": Sort(("last_price", "url_hash"), (_price_key, str), "last_price IS NOT NULL"),
    "changed": Sort(("last_changed_at", "url_hash"), (_moment_key, str), "last_changed_at IS NOT NULL"),
}
