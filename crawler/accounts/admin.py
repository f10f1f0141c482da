"""Admin pages for users, tokens and the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from crawler.accounts import actions, audit, sessions
from crawler.accounts.actors import Actor, actor_of_user
from crawler.accounts.models import ApiToken, AuditEntry, User

admin.site.unregister(Group)


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[misc]
    """Rows that only the platform itself writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


def actor(request: HttpRequest) -> Actor:
    assert isinstance(request.user, User)  # noqa: S101 - the admin site lets nobody else in
    return actor_of_user(request.user)


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]
    form, add_form, change_password_form = UserChangeForm, UserCreationForm, AdminPasswordChangeForm
    list_display = ("username", "role", "is_active", "last_login")
    list_filter = ("role", "is_active")
    search_fields = ("username", "email")
    filter_horizontal = ()
    ordering = ("username",)
    readonly_fields = ("last_login", "created_at")
    fieldsets = (
        (None, {"fields": ("username", "password", "email")}),
        ("Access", {"fields": ("role", "is_active")}),
        ("History", {"fields": ("last_login", "created_at")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "role", "usable_password", "password1", "password2")}),)

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool) -> None:
        before = actions.facts(User.objects.get(pk=obj.pk), actions.USER_FACTS) if change else {}
        super().save_model(request, obj, form, change)
        if not obj.is_active:
            sessions.end_sessions(obj)
        old, new = audit.changes(before, actions.facts(obj, actions.USER_FACTS))
        audit.record(actor(request), "changed" if change else "created", obj, before=old or None, after=new)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # the audit log names people; switch them off instead


@admin.register(ApiToken)
class ApiTokenAdmin(ModelAdmin):  # type: ignore[misc]
    list_display = ("name", "prefix", "user", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("user",)
    search_fields = ("name", "prefix")
    fields = ("user", "name", "expires_at")
    actions = ("revoke",)

    def save_model(self, request: HttpRequest, obj: ApiToken, form: ModelForm[ApiToken], change: bool) -> None:
        token, text = actions.issue_token(actor(request), obj.user, obj.name, expires_at=obj.expires_at)
        obj.pk, obj.prefix = token.pk, token.prefix
        obj.shown_once = text  # type: ignore[attr-defined]

    def log_addition(self, *args: Any) -> None:
        """The audit log has it."""

    def response_add(self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        facts = {**self.admin_site.each_context(request), "title": "New API token", "token": obj, "opts": self.opts}
        page = TemplateResponse(request, "admin/accounts/apitoken/shown_once.html", facts)
        page["Cache-Control"] = "no-store"
        return page

    @admin.action(description="Revoke the selected tokens")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        revoked = sum(actions.revoke_token(actor(request), token, reason="admin pages") for token in queryset)
        self.message_user(request, f"{revoked} token(s) revoked; programs that use them are refused from now on.")

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "actor", "action", "target_type", "target_label", "reason")
    list_filter = ("action", "target_type", "actor_kind")
    search_fields = ("actor", "target_id", "target_label", "request_id")
    show_full_result_count = False
