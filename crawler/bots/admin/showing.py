"""How times, prices, URLs and links look in the pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from crawler.bots.admin import queries
from crawler.bots.exact import as_number

CENTS = Decimal("0.01")


def shown_time(moment: datetime | None) -> str:
    """UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if moment else "–"


def shown_price(price: Decimal) -> str:
    """Exact; tenths as people write them."""
    return as_number(price.quantize(CENTS) if price.as_tuple().exponent == -1 else price)


def unbroken(text: str) -> str:
    """In one line, however narrow its column is."""
    return format_html('<span class="bots-nowrap">{}</span>', text)


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def linked(model: str, key: Any, text: object) -> str:
    """To a row's page."""
    return format_html('<a class="bots-link" href="{}">{}</a>', reverse(f"admin:bots_{model}_change", args=[key]), text)


def linked_product(url_hash: str) -> str:
    product = queries.product_of(url_hash)
    return linked("producturl", product.pk, product.url) if product else f"{url_hash} (removed)"


def time_column(field: str, description: str) -> Callable[[Any], str]:
    @admin.display(description=description, ordering=field)
    def shown(row: Any) -> str:
        return unbroken(shown_time(getattr(row, field)))

    return shown
