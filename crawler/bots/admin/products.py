"""Products: what is visited, when next, and how the price went."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from unfold.enums import ActionVariant

from crawler.accounts.admin import actor
from crawler.bots import actions
from crawler.bots.admin import queries
from crawler.bots.admin.decorated import button
from crawler.bots.admin.filters import DomainFilter, HasPriceFilter, LastInStockFilter, PolicyFilter
from crawler.bots.admin.importing import import_page
from crawler.bots.admin.large import LargeTableAdmin
from crawler.bots.admin.pages import (
    OperatorPages,
    address,
    attempt,
    attempt_many,
    confirmed,
    confirmed_many,
    row_or_404,
)
from crawler.bots.admin.showing import linked, shortened, shown_price, shown_time, time_column, unbroken
from crawler.bots.models import ProductURL
from crawler.bots.models.url_start import UrlStart

LAST_RESULT = time_column("last_result_at", "last result")


@admin.register(ProductURL)
class ProductAdmin(OperatorPages, LargeTableAdmin):
    list_display = ("short_url", "title", "price", "stock", "policy_name", LAST_RESULT, "next_due")
    list_filter = (DomainFilter, ("policy", PolicyFilter), LastInStockFilter, HasPriceFilter)
    list_select_related = ("policy",)
    search_fields = ("url",)  # see get_search_results
    search_help_text = "URL or its beginning, domain, or hash"
    actions = ("make_due", "remove")
    actions_list = ("import_urls",)
    actions_detail = ("make_this_due", "remove_this")
    readonly_fields = (
        "link", "title", "price", "stock", "last_result_at", "policy_link", "next_due", "failure_streak", "created_at",
        "url_hash",
    )  # fmt: skip
    fieldsets = (
        (None, {"fields": ("link", "title", "price", "stock", "last_result_at")}),
        ("Visits", {"fields": ("policy_link", "next_due", "failure_streak")}),
        ("Identity", {"fields": ("url_hash", "created_at")}),
    )
    change_form_outer_before_template = "admin/bots/product_chart.html"
    change_form_outer_after_template = "admin/bots/product_story.html"

    class Media:
        js = ("bots/uplot/uPlot.iife.min.js", "bots/price_chart.js")
        css = {"all": ("bots/uplot/uPlot.min.css",)}

    ordering = ("url",)

    def ordering_of_many(self, request: HttpRequest) -> tuple[Any, ...]:
        """By URL where the index has them together: all, or those of one domain."""
        text = request.GET.get("domain") or request.GET.get("q") or ""
        host = text.rpartition("://")[2].partition("/")[0]
        is_one = not text or len(queries.domains_like(host)) == 1
        return (UrlStart("url").asc(), "url_hash") if is_one else ("url_hash",)

    def get_search_results(
        self, request: HttpRequest, rows: QuerySet[ProductURL], text: str
    ) -> tuple[QuerySet[ProductURL], bool]:
        return (queries.products_like(rows, text) if text.strip() else rows), False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        story = queries.story_of_product(object_id)
        answer: HttpResponse = super().change_view(request, object_id, form_url, {**(extra_context or {}), **story})
        return answer

    @admin.display(description="URL", ordering="url")
    def short_url(self, product: ProductURL) -> str:
        return shortened(product.url.partition("://")[2], 70)

    @admin.display(description="URL")
    def link(self, product: ProductURL) -> str:
        if not product.url.startswith(("http://", "https://")):
            return product.url
        form = '<a class="bots-link" href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>'
        return format_html(form, product.url, product.url)

    @admin.display(description="title", empty_value="–")
    def title(self, product: ProductURL) -> str | None:
        return shortened(product.last_title, 60) if product.last_title else None

    @admin.display(description="last price", ordering="last_price", empty_value="–")
    def price(self, product: ProductURL) -> str | None:
        return (
            None
            if product.last_price is None
            else unbroken(f"{shown_price(product.last_price)} {product.last_currency}")
        )

    @admin.display(description="in stock", boolean=True, ordering="last_in_stock")
    def stock(self, product: ProductURL) -> bool | None:
        return product.last_in_stock

    @admin.display(description="policy", empty_value="none")
    def policy_name(self, product: ProductURL) -> str | None:
        return product.policy.name if product.policy else None

    @admin.display(description="policy")
    def policy_link(self, product: ProductURL) -> str:
        if product.policy is None:
            return "None: it is not visited until a policy of its domain matches"
        return linked("crawlpolicy", product.policy_id, product.policy)

    @admin.display(description="next due", ordering="next_due_at")
    def next_due(self, product: ProductURL) -> str:
        if product.next_due_at is None:
            return "never" if product.policy is None else "has a job"
        return unbroken(shown_time(product.next_due_at))

    @admin.action(description="Make due now", permissions=["operate"])
    def make_due(self, request: HttpRequest, rows: QuerySet[ProductURL]) -> None:
        by = actor(request)
        attempt_many(request, rows, lambda row: actions.make_due(by, row), "product(s) are due; jobs follow in seconds")

    @admin.action(description="Remove", permissions=["remove"])
    def remove(self, request: HttpRequest, rows: QuerySet[ProductURL]) -> HttpResponse | None:
        if "confirmed" not in request.POST:
            return confirmed_many(self, request, rows, "The URLs and their open jobs go; results stay.", "Remove")
        by = actor(request)
        attempt_many(request, rows, lambda row: actions.remove_product_url(by, row), "product(s) removed; results stay")
        return None

    @button(description="Make due now", permissions=["operate"], icon="schedule")
    def make_this_due(self, request: HttpRequest, object_id: str) -> HttpResponse:
        product = row_or_404(self, request, object_id)
        if asked := confirmed(
            self, request, product, "The scheduler makes a job of it within seconds.", "Make due now"
        ):
            return asked
        return attempt(self, request, product, lambda: _due(actions.make_due(actor(request), product)))

    @button(description="Remove", permissions=["remove"], variant=ActionVariant.DANGER, icon="delete")
    def remove_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        product = row_or_404(self, request, object_id)
        question = "The URL and its open job go; results stay."
        if asked := confirmed(self, request, product, question, "Remove"):
            return asked
        actions.remove_product_url(actor(request), product)
        self.message_user(request, f"{product.url} was removed.")
        return HttpResponseRedirect(address(self))

    @button(description="Import URLs", permissions=["operate"], variant=ActionVariant.PRIMARY, icon="upload")
    def import_urls(self, request: HttpRequest) -> HttpResponse:
        return import_page(self, request)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        if not self.has_operate_permission(request):
            raise PermissionDenied
        return import_page(self, request)

    def has_remove_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return bool(request.user.has_perm("bots.delete_producturl"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # the import takes one as well as a million

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # `remove` does it, with its open job


def _due(product: ProductURL) -> str:
    assert product.next_due_at is not None  # noqa: S101 - it was just set
    return f"Due since {shown_time(product.next_due_at)}; its job follows within seconds."
