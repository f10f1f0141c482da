"""Policies. While a pattern is typed, the page shows what it matches."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextInputWidget

from crawler.accounts.admin import actor
from crawler.bots import actions
from crawler.bots.admin import queries
from crawler.bots.admin.filters import DomainFilter, EnabledFilter
from crawler.bots.admin.pages import OperatorPages
from crawler.bots.admin.preview import preview
from crawler.bots.admin.showing import shortened, shown_time, unbroken
from crawler.bots.models import CrawlPolicy
from crawler.web.hosts import canonical_domain
from crawler.web.urls import InvalidURL

COVERAGE = ("name", "url_pattern", "priority", "enabled")
RHYTHM = ("frequency_hours", "max_retries", "retry_backoff_minutes")
LOCKS = ("timeout_seconds", "requeue_expired", "respect_host_limits")
CHANGEABLE = (*COVERAGE, *RHYTHM, *LOCKS)


class PolicyForm(forms.ModelForm):  # type: ignore[type-arg]
    def domain_name(self) -> str:
        return str(self.instance.domain.name)

    def clean(self) -> dict[str, Any] | None:
        values = super().clean() or self.cleaned_data
        name, domain = values.get("name"), self.domain_name()
        same = CrawlPolicy.objects.filter(domain__name=domain, name=name).exclude(pk=self.instance.pk)
        if name and domain and same.exists():
            self.add_error("name", f"{domain} has a policy of this name already.")
        return values


class NewPolicyForm(PolicyForm):
    """Takes the domain by its name, known or not: no list of a million domains to choose from."""

    of_domain = forms.CharField(
        label="Domain",
        max_length=255,
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "shop.example.com"}),
        help_text="By its name, or by any URL of it. Subdomains have policies of their own.",
    )

    def clean_of_domain(self) -> str:
        try:
            return canonical_domain(self.cleaned_data["of_domain"].strip())
        except InvalidURL as error:
            raise forms.ValidationError(f"Not a domain: {error}") from None

    def domain_name(self) -> str:
        return str(self.cleaned_data.get("of_domain", ""))


@admin.register(CrawlPolicy)
class PolicyAdmin(OperatorPages, ModelAdmin):  # type: ignore[misc]
    form = PolicyForm
    list_display = (
        "name", "domain_name", "pattern", "priority", "frequency_hours", "next_run", "requeue_expired", "enabled",
    )  # fmt: skip
    list_filter = (DomainFilter, EnabledFilter)
    list_filter_submit = True
    list_select_related = ("domain",)
    search_fields = ("name", "domain__name")  # see get_search_results
    search_help_text = "Name of a policy, or the beginning of a domain"
    ordering = ("domain__name", "-priority", "id")
    readonly_fields = ("domain_name", "next_run_at", "is_assigned", "created_at", "updated_at")
    fieldsets = (
        (None, {"fields": ("domain_name", *COVERAGE)}),
        ("Rhythm", {"fields": (*RHYTHM, "next_run_at")}),
        ("Locks", {"fields": LOCKS}),
        ("State", {"fields": ("is_assigned", "created_at", "updated_at")}),
    )
    add_fieldsets = (
        (None, {"fields": ("of_domain", *COVERAGE)}),
        ("Rhythm", {"fields": RHYTHM}),
        ("Locks", {"fields": LOCKS}),
    )
    change_form_template = "admin/bots/policy_form.html"

    class Media:
        js = ("bots/policy_preview.js",)

    def get_urls(self) -> list[URLPattern]:
        own = path("preview/", self.admin_site.admin_view(self.preview), name="bots_crawlpolicy_preview")
        return [own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[CrawlPolicy]:
        return queries.policies_with_next_run(super().get_queryset(request).select_related("domain"))

    def get_form(self, request: HttpRequest, obj: CrawlPolicy | None = None, **options: Any) -> type[PolicyForm]:
        form: type[PolicyForm] = super().get_form(
            request, obj, **({"form": PolicyForm if obj else NewPolicyForm} | options)
        )
        return form

    def formfield_for_dbfield(self, field: Any, request: HttpRequest, **options: Any) -> Any:
        if field.name == "url_pattern":
            options |= {"widget": UnfoldAdminTextInputWidget(attrs={"spellcheck": "false"}), "label": "URL pattern"}
        return super().formfield_for_dbfield(field, request, **options)

    def get_search_results(
        self, request: HttpRequest, rows: QuerySet[CrawlPolicy], text: str
    ) -> tuple[QuerySet[CrawlPolicy], bool]:
        return (queries.policies_like(rows, text) if text.strip() else rows), False

    @admin.display(description="domain", ordering="domain__name")
    def domain_name(self, policy: CrawlPolicy) -> str:
        return policy.domain.name

    @admin.display(description="URL pattern")
    def pattern(self, policy: CrawlPolicy) -> str:
        return shortened(policy.url_pattern, 40) or "every URL"

    @admin.display(description="next run at")
    def next_run(self, policy: CrawlPolicy) -> str:
        return unbroken(shown_time(policy.earliest_due_at or policy.own_next_run_at))  # type: ignore[attr-defined]

    @admin.display(description="next run at")
    def next_run_at(self, policy: CrawlPolicy) -> str:
        earliest = policy.next_run_at
        return shown_time(earliest) if earliest else "None of its URLs waits: they have jobs, or there are none."

    def preview(self, request: HttpRequest) -> JsonResponse:
        """What a pattern matches, for the script of the form."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        asked = request.GET
        found = preview(
            asked.get("domain", ""), asked.get("pattern", ""), asked.get("priority", ""), asked.get("policy")
        )
        return JsonResponse(found)

    def save_model(self, request: HttpRequest, obj: CrawlPolicy, form: forms.ModelForm[Any], change: bool) -> None:
        values = {name: form.cleaned_data[name] for name in CHANGEABLE}
        if change:
            actions.change_policy(actor(request), obj, values)
            return
        made = actions.create_policy_for(actor(request), form.cleaned_data["of_domain"], **values)
        obj.pk, obj.domain = made.pk, made.domain

    def delete_model(self, request: HttpRequest, obj: CrawlPolicy) -> None:
        actions.delete_policy(actor(request), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[CrawlPolicy]) -> None:
        for policy in queryset:
            actions.delete_policy(actor(request), policy)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Jobs and results stay, URLs go to other policies: nothing to collect, of which there may be a million."""
        rows = [f"{row} (its URLs go to the domain's other policies, or rest)" for row in objs]
        return rows, {str(self.opts.verbose_name_plural): len(rows)}, set(), []
