"""Jobs: who has them, until when, and the ways out when one is stuck."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import QuerySet
from django.forms import IntegerField, ModelForm
from django.http import HttpRequest, HttpResponse
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from crawler.accounts.admin import actor
from crawler.bots import actions
from crawler.bots.actions.jobs import CHANGEABLE, LONGEST_LOCK_SECONDS, UNFINISHED
from crawler.bots.admin import queries
from crawler.bots.admin.decorated import button, column
from crawler.bots.admin.filters import BotFilter, CreatedFilter, DomainFilter, PolicyFilter, PriorityFilter, StateFilter
from crawler.bots.admin.job_list import JobChangeList
from crawler.bots.admin.large import LargeChangeList, LargeTableAdmin
from crawler.bots.admin.pages import OperatorPages, attempt, attempt_many, confirmed, row_or_404
from crawler.bots.admin.showing import linked, linked_product, shortened, shown_time, time_column, unbroken
from crawler.bots.models import CrawlJob
from crawler.bots.models.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY
from crawler.bots.states import JobState

COLOURS = {
    JobState.PENDING: "info",
    JobState.LOCKED: "warning",
    JobState.DONE: "success",
    JobState.FAILED: "danger",
    JobState.EXPIRED: "danger",
}


class JobForm(ModelForm):  # type: ignore[type-arg]
    lock_ttl_seconds = IntegerField(
        widget=UnfoldAdminIntegerFieldWidget,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_LOCK_SECONDS)],
        help_text="How long a lock lasts. A lock that stands ends this long after it began.",
    )
    priority = IntegerField(
        widget=UnfoldAdminIntegerFieldWidget,
        validators=[MinValueValidator(LOWEST_PRIORITY), MaxValueValidator(HIGHEST_PRIORITY)],
        help_text="1 to 20, highest first.",
    )


@admin.register(CrawlJob)
class JobAdmin(OperatorPages, LargeTableAdmin):
    form = JobForm
    list_display = (
        "address", "state", "priority", "policy_name", "holder", "failed", time_column("created_at", "created"),
        "error",
    )  # fmt: skip
    list_filter = (StateFilter, DomainFilter, ("policy", PolicyFilter), BotFilter, PriorityFilter, CreatedFilter)
    list_select_related = ("policy",)
    search_fields = ("id",)  # see get_search_results
    search_help_text = "URL or its beginning, hash, job id, bot id or domain"
    ordering = ("-created_at", "-id")
    actions = ("reset_jobs", "fail_jobs", "extend_locks")
    actions_detail = ("reset_this", "fail_this", "extend_this")
    readonly_fields = (
        "id", "url", "state", "policy_link", "next_due", "attempts", "last_error", "created_at", "finished_at",
        "locked_by", "locked_at", "locked_until", "last_locked_by", "fence",
    )  # fmt: skip
    fieldsets = (
        (None, {"fields": ("url", "state", "policy_link", "next_due", *CHANGEABLE)}),
        ("Lock", {"fields": ("locked_by", "locked_at", "locked_until", "last_locked_by", "fence")}),
        ("History", {"fields": ("attempts", "last_error", "created_at", "finished_at", "id")}),
    )
    change_form_outer_after_template = "admin/bots/job_history.html"

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[LargeChangeList]:
        return JobChangeList

    def ordering_of_many(self, request: HttpRequest) -> tuple[str, ...]:
        """Pending jobs in the order in which bots get them, the others newest first."""
        state = request.GET.get("status")
        if state == JobState.PENDING:
            return ("-priority", "created_at")
        return ("-created_at",) if state else ("-id",)

    def get_search_results(
        self, request: HttpRequest, rows: QuerySet[CrawlJob], text: str
    ) -> tuple[QuerySet[CrawlJob], bool]:
        return (queries.jobs_like(rows, text) if text.strip() else rows), False

    def get_readonly_fields(self, request: HttpRequest, obj: CrawlJob | None = None) -> tuple[str, ...]:
        """What is over is not changed any more."""
        is_over = obj is not None and obj.status not in UNFINISHED
        return (*self.readonly_fields, *CHANGEABLE) if is_over else self.readonly_fields

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        job = self.get_object(request, object_id)
        history = queries.history_of_job(job) if job else {}
        answer: HttpResponse = super().change_view(request, object_id, form_url, {**(extra_context or {}), **history})
        return answer

    @column(description="URL", header=True)
    def address(self, job: CrawlJob) -> list[str]:
        return [shortened(job.shown_url, 70), str(job.pk)]  # type: ignore[attr-defined]

    @column(description="state", ordering="status", label={state.value: colour for state, colour in COLOURS.items()})
    def state(self, job: CrawlJob) -> str:
        return job.status

    @admin.display(description="policy")
    def policy_name(self, job: CrawlJob) -> str:
        return job.policy.name if job.policy else "–"

    @column(description="bot", header=True)
    def holder(self, job: CrawlJob) -> list[str]:
        """Who has it, until when; or who had it last."""
        until = f"until {shown_time(job.locked_until)}" if job.locked_until else ""
        return [unbroken(job.locked_by or job.last_locked_by or "–"), until]

    @admin.display(description="failed attempts")
    def attempts(self, job: CrawlJob) -> str:
        return f"{job.retry_count} of {job.max_retries}"

    @admin.display(description="failed", ordering="retry_count")
    def failed(self, job: CrawlJob) -> str:
        return unbroken(f"{job.retry_count} of {job.max_retries}")

    @admin.display(description="last error")
    def error(self, job: CrawlJob) -> str:
        return shortened(job.last_error, 60)

    @admin.display(description="URL")
    def url(self, job: CrawlJob) -> str:
        return linked_product(job.product_url_hash)

    @admin.display(description="policy")
    def policy_link(self, job: CrawlJob) -> str:
        return linked("crawlpolicy", job.policy_id, str(job.policy)) if job.policy else "None any more"

    @admin.display(description="URL next due")
    def next_due(self, job: CrawlJob) -> str:
        product = queries.product_of(job.product_url_hash)
        due = product.next_due_at if product else None
        return shown_time(due) if due else "Not before a job of it is over"

    def save_model(self, request: HttpRequest, obj: CrawlJob, form: ModelForm[CrawlJob], change: bool) -> None:
        values = {name: form.cleaned_data[name] for name in CHANGEABLE if name in form.cleaned_data}
        if values:
            actions.change_job(actor(request), obj, values)

    @admin.action(description="Reset to pending", permissions=["operate"])
    def reset_jobs(self, request: HttpRequest, rows: QuerySet[CrawlJob]) -> None:
        by = actor(request)
        attempt_many(request, rows, lambda job: actions.reset_job(by, job), "job(s) are pending again")

    @admin.action(description="Force to fail", permissions=["operate"])
    def fail_jobs(self, request: HttpRequest, rows: QuerySet[CrawlJob]) -> None:
        by = actor(request)
        attempt_many(request, rows, lambda job: actions.force_fail_job(by, job), "job(s) have failed for good")

    @admin.action(description="Extend the lock by its whole time", permissions=["operate"])
    def extend_locks(self, request: HttpRequest, rows: QuerySet[CrawlJob]) -> None:
        by = actor(request)
        attempt_many(request, rows, lambda job: actions.extend_lock(by, job, job.lock_ttl_seconds), "lock(s) extended")

    @button(description="Reset to pending", permissions=["operate"], icon="restart_alt")
    def reset_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        job = row_or_404(self, request, object_id)
        question = (
            "It is pending again, with all its attempts. A bot that still works on it is refused when it submits."
        )
        if asked := confirmed(self, request, job, question, "Reset to pending"):
            return asked
        return attempt(self, request, job, lambda: _now(actions.reset_job(actor(request), job)))

    @button(description="Force to fail", permissions=["operate"], variant=ActionVariant.DANGER, icon="block")
    def fail_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        job = row_or_404(self, request, object_id)
        question = "It has failed for good; its URL is due again after the policy's backoff."
        if asked := confirmed(self, request, job, question, "Force to fail"):
            return asked
        return attempt(self, request, job, lambda: _now(actions.force_fail_job(actor(request), job)))

    @button(description="Extend lock", permissions=["operate"], icon="more_time")
    def extend_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        job = row_or_404(self, request, object_id)
        question = f"The bot has {job.lock_ttl_seconds:,} seconds more."
        if asked := confirmed(self, request, job, question, "Extend lock"):
            return asked
        by, seconds = actor(request), job.lock_ttl_seconds
        return attempt(
            self, request, job, lambda: f"Locked until {actions.extend_lock(by, job, seconds).locked_until}."
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # the scheduler makes them; to have one now, make its product due

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


def _now(job: CrawlJob) -> str:
    return f"The job is {job.status} now."


def _until(job: CrawlJob) -> str:
    return f"Locked until {shown_time(job.locked_until)}."
