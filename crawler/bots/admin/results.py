"""Results. The HTML that a bot sent is a stranger's: shown as text, or in a frame without any rights."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.views.decorators.clickjacking import xframe_options_sameorigin

from crawler.accounts.admin import ReadOnlyAdmin
from crawler.bots import html
from crawler.bots.admin import queries
from crawler.bots.admin.decorated import button, column
from crawler.bots.admin.filters import (
    BotFilter,
    CreatedFilter,
    CurrencyFilter,
    DomainFilter,
    HasPageFilter,
    InStockFilter,
)
from crawler.bots.admin.large import LargeChangeList, LargeTableAdmin
from crawler.bots.admin.pages import page, row_or_404
from crawler.bots.admin.showing import linked, linked_product, shortened, shown_price, time_column, unbroken
from crawler.bots.models import CrawlResult
from crawler.foundation.errors import Problem

# No scripts, no forms, no requests to anybody; its own styles and embedded pictures at most.
FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'self'"
)
SOURCE_LETTERS = 200_000


class ResultChangeList(LargeChangeList):
    def get_results(self, request: HttpRequest) -> None:
        """With the URLs of the whole page from one query."""
        super().get_results(request)
        urls = queries.urls_by_hash(result.product_url_hash for result in self.result_list)
        for result in self.result_list:
            result.shown_url = urls.get(result.product_url_hash, "(removed)")


@admin.register(CrawlResult)
class ResultAdmin(LargeTableAdmin, ReadOnlyAdmin):
    list_display = (
        time_column("created_at", "created"), "product", "exact_price", "currency", "change", "in_stock", "bot",
        "has_page",
    )  # fmt: skip
    list_filter = (DomainFilter, BotFilter, CreatedFilter, InStockFilter, CurrencyFilter, HasPageFilter)
    search_fields = ("id",)  # see get_search_results
    search_help_text = "URL or its beginning, hash, job id or bot id"
    ordering = ("-id",)
    actions_detail = ("raw_html", "download")
    fieldsets = (
        (None, {"fields": ("product_link", "exact_price", "currency", "changed", "in_stock", "title")}),
        ("Where it comes from", {"fields": ("bot_id", "job_link", "created_at", "page_kept", "id")}),
        ("Parsed data", {"fields": ("parsed",)}),
    )
    readonly_fields = (
        "product_link", "exact_price", "currency", "changed", "in_stock", "title", "bot_id", "job_link", "created_at",
        "page_kept", "id", "parsed",
    )  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        own = path("<uuid:result_id>/framed/", self.admin_site.admin_view(self.framed), name="bots_crawlresult_framed")
        return [own, *super().get_urls()]

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[LargeChangeList]:
        return ResultChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[CrawlResult]:
        rows: QuerySet[CrawlResult] = super().get_queryset(request)
        is_page = getattr(request.resolver_match, "kwargs", {}).get("object_id")
        return rows if is_page else rows.defer("parsed_data")

    def get_search_results(
        self, request: HttpRequest, rows: QuerySet[CrawlResult], text: str
    ) -> tuple[QuerySet[CrawlResult], bool]:
        return (queries.results_like(rows, text) if text.strip() else rows), False

    @admin.display(description="product")
    def product(self, result: CrawlResult) -> str:
        return shortened(result.shown_url, 70)  # type: ignore[attr-defined]

    @admin.display(description="price")
    def exact_price(self, result: CrawlResult) -> str:
        return shown_price(result.price)

    @column(description="change", label={"up": "danger", "down": "success", "same": "info", "first": "info"})
    def change(self, result: CrawlResult) -> tuple[str, str]:
        return change_of(result)

    @admin.display(description="change")
    def changed(self, result: CrawlResult) -> str:
        return change_of(result)[1]

    @admin.display(description="bot")
    def bot(self, result: CrawlResult) -> str:
        return unbroken(result.bot_id)

    @admin.display(description="HTML", boolean=True)
    def has_page(self, result: CrawlResult) -> bool:
        return result.storage_path is not None

    @admin.display(description="product")
    def product_link(self, result: CrawlResult) -> str:
        return linked_product(result.product_url_hash)

    @admin.display(description="job")
    def job_link(self, result: CrawlResult) -> str:
        if not queries.has_job(result.job_id):
            return f"{result.job_id} (forgotten)"
        return linked("crawljob", result.job_id, result.job_id)

    @admin.display(description="raw HTML")
    def page_kept(self, result: CrawlResult) -> str:
        return result.storage_path or "Not sent by the bot"

    @admin.display(description="parsed data")
    def parsed(self, result: CrawlResult) -> str:
        text = json.dumps(result.parsed_data, indent=2, ensure_ascii=False)
        return format_html('<pre class="bots-source">{}</pre>', text)

    @button(description="Raw HTML", icon="code")
    def raw_html(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """As text, and below it in a frame without rights."""
        result = self._visible(request, object_id)
        try:
            source, problem = _source(result), ""
        except Problem as error:
            source, problem = "", error.message
        facts = {"result": result, "source": source[:SOURCE_LETTERS], "problem": problem, "letters": len(source)}
        return page(self, request, "raw_html.html", "Raw HTML", is_cut=len(source) > SOURCE_LETTERS, **facts)

    @button(description="Download HTML", icon="download")
    def download(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._answer(request, object_id, "text/plain; charset=utf-8", f'attachment; filename="{object_id}.txt"')

    def framed(self, request: HttpRequest, result_id: Any) -> HttpResponse:
        answer = self._answer(request, str(result_id), "text/html; charset=utf-8", "inline")
        answer["Content-Security-Policy"] = FRAME_POLICY
        answer["Cross-Origin-Resource-Policy"] = "same-origin"
        answer["Referrer-Policy"] = "no-referrer"
        return xframe_options_sameorigin(lambda _: answer)(request)

    def _answer(self, request: HttpRequest, object_id: str, content_type: str, disposition: str) -> HttpResponse:
        result = self._visible(request, object_id)
        try:
            source, status = _source(result), 200
        except Problem as error:
            source, status, content_type, disposition = error.message, error.status, "text/plain", "inline"
        headers = {"Content-Disposition": disposition, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
        return HttpResponse(source, content_type=content_type, status=status, headers=headers)

    def _visible(self, request: HttpRequest, object_id: str) -> CrawlResult:
        if not self.has_view_permission(request):
            raise PermissionDenied
        result: CrawlResult = row_or_404(self, request, object_id)
        return result


def _source(result: CrawlResult) -> str:
    return html.kept_page(result.storage_path)


def change_of(result: CrawlResult) -> tuple[str, str]:
    """Which way the price went, and in words."""
    old, new = result.previous_price, result.price
    if old is None:
        return "first", "first"
    if result.currency != result.previous_currency:
        return "same", f"was in {result.previous_currency}"
    if new == old:
        return "same", "unchanged"
    percent = f" ({(new - old) / old * 100:+.1f} %)" if old else ""
    sign = "+" if new > old else "−"
    return ("up" if new > old else "down"), f"{sign}{shown_price(abs(new - old))}{percent}"
