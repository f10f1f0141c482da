"""Bots and their tokens, which are shown once."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin
from unfold.enums import ActionVariant
from unfold.views import ChangeList

from crawler.accounts.admin import actor
from crawler.accounts.roles import Role
from crawler.bots import actions
from crawler.bots.admin import queries
from crawler.bots.admin.decorated import button
from crawler.bots.admin.filters import EnabledFilter
from crawler.bots.admin.pages import OperatorPages, attempt_many, confirmed, page, row_or_404
from crawler.bots.admin.showing import time_column
from crawler.bots.models import BotConfig

CHANGEABLE = ("description", "enabled", "max_jobs_per_pull")


class BotChangeList(ChangeList):  # type: ignore[misc]
    def get_results(self, request: HttpRequest) -> None:
        """With the work of all bots of the page from one query."""
        super().get_results(request)
        work = queries.work_by_bot([bot.bot_id for bot in self.result_list])
        for bot in self.result_list:
            bot.work = work[bot.bot_id]


@admin.register(BotConfig)
class BotAdmin(OperatorPages, ModelAdmin):  # type: ignore[misc]
    list_display = (
        "bot_id", "is_enabled", time_column("last_seen_at", "last seen"), "locked_now", "done_lately",
        "failed_lately", "max_jobs_per_pull",
    )  # fmt: skip
    list_filter = (EnabledFilter,)
    list_filter_submit = True
    search_fields = ("bot_id__istartswith", "description__icontains")
    search_help_text = "Beginning of a bot id, or a word of the description"
    ordering = ("bot_id",)
    actions = ("enable", "disable")
    actions_detail = ("rotate_token",)
    readonly_fields = ("token", "token_made_at", "last_seen_at", "created_at")
    add_fieldsets = ((None, {"fields": ("bot_id", *CHANGEABLE)}),)
    fieldsets = (
        (None, {"fields": ("bot_id", *CHANGEABLE)}),
        ("Token", {"fields": ("token", "token_made_at", "last_seen_at", "created_at")}),
    )

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[BotChangeList]:
        return BotChangeList

    def get_readonly_fields(self, request: HttpRequest, obj: BotConfig | None = None) -> tuple[str, ...]:
        return (*self.readonly_fields, "bot_id") if obj else self.readonly_fields

    @admin.display(description="enabled", boolean=True, ordering="enabled")
    def is_enabled(self, bot: BotConfig) -> bool:
        return bot.enabled

    @admin.display(description="locked now")
    def locked_now(self, bot: BotConfig) -> str:
        return f"{bot.work.locked:,}"  # type: ignore[attr-defined]

    @admin.display(description="done in 24 h")
    def done_lately(self, bot: BotConfig) -> str:
        return queries.counted_to(bot.work.done)  # type: ignore[attr-defined]

    @admin.display(description="failed in 24 h")
    def failed_lately(self, bot: BotConfig) -> str:
        return queries.counted_to(bot.work.failed)  # type: ignore[attr-defined]

    @admin.display(description="API token")
    def token(self, bot: BotConfig) -> str:
        return "Kept as a hash, so it cannot be shown. When it is lost, rotate it: the new one is shown once."

    def save_model(self, request: HttpRequest, obj: BotConfig, form: ModelForm[BotConfig], change: bool) -> None:
        values = {name: form.cleaned_data[name] for name in CHANGEABLE}
        if change:
            actions.change_bot(actor(request), obj, values)
            return
        made, text = actions.create_bot(actor(request), obj.bot_id, **values)
        obj.pk = made.pk
        obj.shown_once = text  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: BotConfig, post_url_continue: str | None = None) -> HttpResponse:
        return self._shown_once(request, obj, obj.shown_once, "New bot")  # type: ignore[attr-defined]

    def _shown_once(self, request: HttpRequest, bot: BotConfig, token: str, title: str) -> HttpResponse:
        answer = page(self, request, "token_shown_once.html", title, bot=bot, token=token)
        answer["Cache-Control"] = "no-store"
        return answer

    @button(description="Rotate token", permissions=["token"], variant=ActionVariant.WARNING, icon="key")
    def rotate_token(self, request: HttpRequest, object_id: str) -> HttpResponse:
        bot = row_or_404(self, request, object_id)
        question = f"{bot.bot_id} gets a new token, and the old one is refused from that moment on."
        if asked := confirmed(self, request, bot, question, "Rotate token"):
            return asked
        return self._shown_once(request, bot, actions.rotate_token(actor(request), bot), "New token")

    @admin.action(description="Enable the selected bots", permissions=["operate"])
    def enable(self, request: HttpRequest, rows: QuerySet[BotConfig]) -> None:
        self._set_enabled(request, rows, True, "enabled")

    @admin.action(description="Disable the selected bots", permissions=["operate"])
    def disable(self, request: HttpRequest, rows: QuerySet[BotConfig]) -> None:
        self._set_enabled(request, rows, False, "disabled; they are answered 403 from now on")

    def _set_enabled(self, request: HttpRequest, rows: QuerySet[BotConfig], enabled: bool, done: str) -> None:
        by = actor(request)
        attempt_many(request, rows, lambda bot: actions.set_enabled(by, bot, enabled), f"bot(s) {done}")

    def has_token_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Tokens are the admins' business."""
        return bool(request.user.is_active and actor(request).may(Role.ADMIN))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_token_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # jobs and results name it; switch it off instead
