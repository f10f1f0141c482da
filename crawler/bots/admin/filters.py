"""Filters of the lists. None of them reads a table to offer its choices, unless the table is small."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.contrib.filters.admin import AutocompleteSelectFilter, DropdownFilter, TextFilter

from crawler.bots.admin import queries
from crawler.bots.models import BotConfig, CrawlJob, CrawlResult, ProductURL
from crawler.bots.models.in_states import in_state
from crawler.bots.states import JobState

Rows = QuerySet[Any]
Choices = list[tuple[str, str]]
MOST_BOTS = 300
LONGEST_ID = 19
PERIODS_HOURS = {"hour": 1, "day": 24, "week": 24 * 7, "month": 24 * 30}


def typed(value: str | None) -> str:
    """What somebody wrote into an address. No database takes a NUL."""
    return (value or "").replace("\0", "").strip()


class DomainFilter(TextFilter):  # type: ignore[misc]
    """By the name of the domain or its beginning."""

    title, parameter_name = "domain", "domain"

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        name = typed(self.value())
        if not name:
            return rows
        domain_ids = queries.domains_like(name)
        if rows.model is not CrawlResult:
            return rows.filter(domain__in=domain_ids)
        return rows.filter(product_url_hash__in=ProductURL.objects.filter(domain__in=domain_ids).values("pk"))


class PolicyFilter(AutocompleteSelectFilter):  # type: ignore[misc]
    def value(self) -> str | None:
        """Nothing for what cannot be a policy's id."""
        key = str(super().value() or "")
        return key if key.isdecimal() and len(key) < LONGEST_ID else None

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        """A policy's rows are rows of its domain, and those an index has."""
        policy = queries.policy_of(self.value()) if self.value() else None
        if policy is None:
            return rows
        return rows.filter(domain=policy.domain_id, policy=policy)


class StateFilter(DropdownFilter):  # type: ignore[misc]
    title, parameter_name = "state", "status"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        return [(state.value, state.value) for state in JobState]

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        return rows.filter(in_state(self.value())) if self.value() in set(JobState) else rows


class PriorityFilter(DropdownFilter):  # type: ignore[misc]
    title, parameter_name = "priority", "priority"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        return [(str(number), str(number)) for number in range(20, 0, -1)]

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        value = typed(self.value())
        return rows.filter(priority=int(value)) if value.isdecimal() else rows


class BotFilter(DropdownFilter):  # type: ignore[misc]
    title, parameter_name = "bot", "bot"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        names = BotConfig.objects.order_by("bot_id").values_list("bot_id", flat=True)[:MOST_BOTS]
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        name = typed(self.value())
        if not name:
            return rows
        return rows.filter(last_locked_by=name) if rows.model is CrawlJob else rows.filter(bot_id=name)


class CreatedFilter(DropdownFilter):  # type: ignore[misc]
    title, parameter_name = "created", "created"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        return [(name, f"in the last {name}") for name in PERIODS_HOURS]

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        hours = PERIODS_HOURS.get(self.value() or "")
        return rows.filter(queries.made_since(timezone.now() - timedelta(hours=hours))) if hours else rows


class YesNoFilter(DropdownFilter):  # type: ignore[misc]
    """Of a column, or of whether it has something."""

    condition = ""
    inverted = False

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Choices:
        return [("yes", "yes"), ("no", "no")]

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        if self.value() not in ("yes", "no"):
            return rows
        return rows.filter(**{self.condition: (self.value() == "yes") != self.inverted})


class EnabledFilter(YesNoFilter):
    title, parameter_name, condition = "enabled", "enabled", "enabled"


class InStockFilter(YesNoFilter):
    title, parameter_name, condition = "in stock", "in_stock", "in_stock"


class LastInStockFilter(YesNoFilter):
    title, parameter_name, condition = "in stock", "in_stock", "last_in_stock"


class HasPriceFilter(YesNoFilter):
    title, parameter_name, condition, inverted = "price known", "priced", "last_price__isnull", True


class HasPageFilter(YesNoFilter):
    title, parameter_name, condition, inverted = "raw HTML kept", "html", "storage_path__isnull", True


class CurrencyFilter(TextFilter):  # type: ignore[misc]
    title, parameter_name = "currency", "currency"

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        code = typed(self.value()).upper()
        return rows.filter(currency=code) if code else rows
