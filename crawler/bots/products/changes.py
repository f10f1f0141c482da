"""Changes page by page, newest first for people, oldest first for those who poll."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from django.db.models import QuerySet
from ninja import Field

from crawler.bots.models import ChangeKind, ProductChange
from crawler.bots.percent import percent
from crawler.domains.models import Domain
from crawler.foundation.errors import InvalidInput

PRICE_KINDS = frozenset({ChangeKind.PRICE_UP, ChangeKind.PRICE_DOWN})
ORDERS = ("newest", "oldest")
PercentIn = Annotated[
    Decimal, Field(ge=0, lt=10**9, decimal_places=6, json_schema_extra={"type": "number"},
    description="Prices that went further than this, either way; it leaves other changes out.")
]  # fmt: skip


class Asked(NamedTuple):
    kind: ChangeKind | None = None
    min_percent: Decimal | None = None
    since: datetime | None = None
    domain: str | None = None
    url_hash: str | None = None
    order: str = "newest"


def page_of_changes(asked: Asked, *, limit: int, cursor: int | None) -> tuple[list[dict[str, Any]], str | None, int]:
    """The page as the API shows it, the cursor of the next one, and the greatest number so far for who comes again."""
    if asked.order not in ORDERS:
        raise InvalidInput(field="order", reason=f"{asked.order!r} is unknown; choose newest or oldest")
    oldest = asked.order == "oldest"
    found = _filtered(asked)
    if cursor is not None:
        found = found.filter(number__gt=cursor) if oldest else found.filter(number__lt=cursor)
    rows = list(found.order_by("number" if oldest else "-number").select_related("domain")[: limit + 1])
    page = rows[:limit]
    more = str(_number(page[-1])) if len(rows) > limit else None
    last = max([_number(change) for change in page] + [cursor if oldest and cursor is not None else 0])
    return [as_shown(change) for change in page], more, last


def _filtered(asked: Asked) -> QuerySet[ProductChange]:
    found = ProductChange.objects.exclude(number=None)
    if asked.kind is not None:
        found = found.filter(kind=asked.kind)
    if asked.min_percent is not None:
        found = found.filter(percent_at_most__gt=asked.min_percent)
    if asked.domain is not None:
        name = asked.domain.strip().lower()
        domains = Domain.objects.filter(name__in={name, name.removeprefix("www.")})
        found = found.filter(domain__in=list(domains.values_list("pk", flat=True)))
    if asked.url_hash is not None:
        found = found.filter(product_url_hash=asked.url_hash)
    if asked.since is not None:
        found = found.filter(number__gte=_first_since(asked.since), created_at__gte=asked.since)
    return found


def _first_since(moment: datetime) -> int:
    """Numbers follow the time of publishing, which is never before that of the change."""
    later = ProductChange.objects.filter(published_at__gte=moment).order_by("published_at", "number")
    first = later.values_list("number", flat=True).first()
    return 2**63 - 1 if first is None else first


def _number(change: ProductChange) -> int:
    return change.number or 0


def as_shown(change: ProductChange) -> dict[str, Any]:
    """As the API and webhooks tell it."""
    moved = percent(change.previous_price, change.price) if change.kind in PRICE_KINDS else None
    return {
        "number": change.number,
        "kind": change.kind,
        "at": change.created_at,
        "url_hash": change.product_url_hash,
        "url": change.url,
        "domain": change.domain.name,
        "title": change.title,
        "price": change.price,
        "currency": change.currency,
        "in_stock": change.in_stock,
        "previous": {
            "price": change.previous_price,
            "currency": change.previous_currency,
            "in_stock": change.previous_in_stock,
        },
        "percent": moved,
        "result_id": change.result_id,
    }
