"""Webhooks and what became of their messages. They are made and changed through the API."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from crawler.accounts.admin import ReadOnlyAdmin, actor
from crawler.bots import actions
from crawler.bots.admin.large import LargeTableAdmin
from crawler.bots.admin.pages import OperatorPages, attempt_many
from crawler.bots.models import Webhook, WebhookDelivery


@admin.register(Webhook)
class WebhookAdmin(OperatorPages, ReadOnlyAdmin):
    list_display = ("url", "events", "min_percent", "domain", "enabled", "failing_since", "note")
    list_filter = ("enabled",)
    list_select_related = ("domain",)
    fields = (
        "url", "description", "events", "min_percent", "domain", "policy", "enabled", "failing_since", "note",
        "created_at",
    )  # fmt: skip
    actions = ("enable", "disable")

    @admin.action(description="Enable the selected webhooks", permissions=["operate"])
    def enable(self, request: HttpRequest, rows: QuerySet[Webhook]) -> None:
        self._set_enabled(request, rows, True, "enabled; what waited for them is sent")

    @admin.action(description="Disable the selected webhooks", permissions=["operate"])
    def disable(self, request: HttpRequest, rows: QuerySet[Webhook]) -> None:
        self._set_enabled(request, rows, False, "disabled")

    def _set_enabled(self, request: HttpRequest, rows: QuerySet[Webhook], enabled: bool, done: str) -> None:
        by = actor(request)
        attempt_many(
            request, rows, lambda one: actions.change_webhook(by, one, {"enabled": enabled}), f"webhook(s) {done}"
        )


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(OperatorPages, LargeTableAdmin, ReadOnlyAdmin):
    list_display = ("created_at", "webhook", "event", "status", "attempts", "response_status", "error")
    list_filter = ("status", "event")
    list_select_related = ("webhook",)
    fields = (
        "webhook", "event", "status", "attempts", "next_attempt_at", "attempted_at", "response_status",
        "response_excerpt", "error", "milliseconds", "created_at",
    )  # fmt: skip
    actions = ("redeliver",)

    @admin.action(description="Send the selected messages again", permissions=["operate"])
    def redeliver(self, request: HttpRequest, rows: QuerySet[WebhookDelivery]) -> None:
        by = actor(request)
        attempt_many(request, rows, lambda one: actions.redeliver(by, one), "message(s) will be sent again")
