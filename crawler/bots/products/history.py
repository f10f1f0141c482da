"""A product's prices over time, every point or summed up by hour, day, week or month (UTC)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from crawler.bots.exact import price_from
from crawler.bots.products.cursors import read_cursor, write_cursor, wrong_cursor
from crawler.bots.products.moments import read_moment, stored_moment
from crawler.bots.values import as_moment, as_uuid
from crawler.foundation.errors import InvalidInput
from crawler.frontier.bulk import uuid_key

RAW = "raw"
EXPORT_BATCH = 2_000


class Point(NamedTuple):
    at: datetime
    price: Decimal
    currency: str
    in_stock: bool
    title: str
    bot_id: str
    result_id: UUID


@dataclass(frozen=True, slots=True)
class Summary:
    """What a currency did."""

    currency: str
    min: Decimal
    max: Decimal
    first: Decimal
    last: Decimal
    count: int
    in_stock: bool  # at the last visit


@dataclass(frozen=True, slots=True)
class Bucket(Summary):
    """The same in one hour, day, week (from Monday) or month."""

    start: datetime


class Span(NamedTuple):
    """From the first moment, up to but without the second."""

    begins: datetime | None = None
    ends: datetime | None = None


BUCKETS = {
    "postgresql": {
        one: f"date_trunc('{one}', created_at AT TIME ZONE 'UTC')" for one in ("hour", "day", "week", "month")
    },
    "sqlite": {
        "hour": "strftime('%%Y-%%m-%%d %%H:00:00', created_at)",
        "day": "strftime('%%Y-%%m-%%d 00:00:00', created_at)",
        "week": "strftime('%%Y-%%m-%%d 00:00:00', created_at, 'weekday 0', '-6 days')",
        "month": "strftime('%%Y-%%m-01 00:00:00', created_at)",
    },
}
INTERVALS = (RAW, *BUCKETS["sqlite"])

POINTS = (
    "SELECT CAST(created_at AS text) AS place, created_at, price, currency, in_stock, title, bot_id, id"
    " FROM crawl_results WHERE product_url_hash = %s {where} ORDER BY created_at, id LIMIT %s"
)
# The oldest and the newest of a group are those with the number 1 from either end.
SUMS = (
    "SELECT bucket, currency, min(price), max(price), max(CASE WHEN from_first = 1 THEN price END),"
    " max(CASE WHEN from_last = 1 THEN price END), count(*),"
    " max(CASE WHEN from_last = 1 AND in_stock THEN 1 ELSE 0 END)"
    " FROM (SELECT bucket, currency, price, in_stock,"
    " row_number() OVER (PARTITION BY bucket, currency ORDER BY created_at, id) AS from_first,"
    " row_number() OVER (PARTITION BY bucket, currency ORDER BY created_at DESC, id DESC) AS from_last"
    " FROM (SELECT {bucket} AS bucket, currency, price, in_stock, created_at, id FROM crawl_results"
    " WHERE product_url_hash = %s {where}) AS dated) AS numbered {after}"
    " GROUP BY bucket, currency ORDER BY bucket, currency LIMIT %s"
)
ANY_NUMBER = 1_000


def span_of(begins: str | None, ends: str | None) -> Span:
    """Reads `from` and `to`, each a date or a date and time; a date alone as `to` means that whole day. Raises
    InvalidInput."""
    first, _ = read_moment("from", begins)
    last, is_date = read_moment("to", ends)
    if last and is_date:
        last += timedelta(days=1)
    if first and last and first >= last:
        raise InvalidInput(field="from", reason=f"from ({begins}) must be before to ({ends})")
    return Span(first, last)


def points(url_hash: str, span: Span, *, limit: int, cursor: str | None = None) -> tuple[list[Point], str | None]:
    """Results, oldest first, and the cursor of the next page."""
    where, values = _within(span)
    if cursor:
        where += " AND (created_at, id) > (%s, %s)"
        values += _place(cursor, RAW, as_id)
    with connection.cursor() as asked:
        asked.execute(POINTS.format(where=where), [url_hash, *values, limit + 1])
        rows = asked.fetchall()
    found = [_point(row[1:]) for row in rows[:limit]]
    more = write_cursor(RAW, rows[limit - 1][0], str(found[-1].result_id)) if len(rows) > limit else None
    return found, more


def every_point(url_hash: str, span: Span) -> Iterator[Point]:
    cursor: str | None = None
    while True:
        batch, cursor = points(url_hash, span, limit=EXPORT_BATCH, cursor=cursor)
        yield from batch
        if cursor is None:
            return


def buckets(
    url_hash: str, span: Span, interval: str, *, limit: int, cursor: str | None = None
) -> tuple[list[Bucket], str | None]:
    """One for each interval and currency in which there was a result, oldest first."""
    after = _place(cursor, interval, str) if cursor else None
    rows = _sums(url_hash, span, BUCKETS[connection.vendor][interval], limit + 1, after)
    found = [Bucket(*(*_figures(row), as_moment(row[0]))) for row in rows[:limit]]
    more = write_cursor(interval, str(rows[limit - 1][0]), found[-1].currency) if len(rows) > limit else None
    return found, more


def summary(url_hash: str, span: Span) -> list[Summary]:
    """The whole span, by currency."""
    return [Summary(*_figures(row)) for row in _sums(url_hash, span, "0", ANY_NUMBER)]


def _sums(url_hash: str, span: Span, bucket: str, limit: int, after: list[Any] | None = None) -> list[Any]:
    where, values = _within(span)
    behind = "WHERE (bucket, currency) > (%s, %s)" if after else ""
    with connection.cursor() as asked:
        asked.execute(SUMS.format(bucket=bucket, where=where, after=behind), [url_hash, *values, *(after or ()), limit])
        return list(asked.fetchall())


def _within(span: Span) -> tuple[str, list[Any]]:
    where, values = "", []
    for moment, sign in ((span.begins, ">="), (span.ends, "<")):
        if moment:
            where += f" AND created_at {sign} %s"
            values.append(stored_moment(moment))
    return where, values


def as_id(text: str) -> Any:
    return uuid_key(connection.vendor, UUID(text))


def _place(cursor: str, interval: str, key: Callable[[str], Any]) -> list[Any]:
    made_for, moment, rest = read_cursor(cursor, 3)
    try:
        place = [moment if connection.vendor == "sqlite" else datetime.fromisoformat(moment), key(rest)]
    except ValueError:
        raise wrong_cursor() from None
    if made_for != interval:
        raise wrong_cursor()
    return place


def _point(row: Any) -> Point:
    at, price, currency, in_stock, title, bot_id, result_id = row
    return Point(as_moment(at), _price(price), currency, bool(in_stock), title, bot_id, as_uuid(result_id))


def _figures(row: Any) -> tuple[Any, ...]:
    _, currency, *prices, count, in_stock = row
    return (currency, *(_price(price) for price in prices), count, bool(in_stock))


def _price(value: Any) -> Decimal:
    price = price_from(connection.vendor, value)
    assert price is not None, "a result has a price"  # noqa: S101
    return price
