"""What the pages share: roles, questions before something happens, messages about what did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from crawler.foundation.errors import InvalidInput, Problem

MOST_AT_ONCE = 1_000
REASONS_SHOWN = 3
EXAMPLES = 20


class OperatorPages:
    """For pages whose rows are not edited as such but can be worked on by operators."""

    model: type[Model]

    def has_operate_permission(self, request: HttpRequest, obj: object = None) -> bool:
        meta = self.model._meta
        return request.user.has_perm(f"{meta.app_label}.change_{meta.model_name}")

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """What an action refuses although the form was right: somebody else was faster."""
        try:
            return super().changeform_view(request, *args, **options)  # type: ignore[misc, no-any-return]
        except Problem as problem:
            messages.error(request, explained(problem))
            return HttpResponseRedirect(request.path)

    def log_addition(self, *_: Any) -> None:
        """The audit log has it."""

    def log_change(self, *_: Any) -> None:
        """The audit log has it."""

    def log_deletions(self, *_: Any) -> None:
        """The audit log has it."""


def page(admin: ModelAdmin[Any], request: HttpRequest, template: str, title: str, **facts: Any) -> TemplateResponse:
    """One of our own pages in the frame of the admin's."""
    context = {**admin.admin_site.each_context(request), "title": title, "opts": admin.opts, **facts}
    return TemplateResponse(request, f"admin/bots/{template}", context)


def row_or_404(admin: ModelAdmin[Any], request: HttpRequest, object_id: str) -> Any:
    row = admin.get_object(request, object_id)
    if row is None:
        raise Http404(f"There is no {admin.opts.verbose_name} {object_id}.")
    return row


def address(admin: ModelAdmin[Any], row: Model | None = None) -> str:
    """Of a row's page, or of the list."""
    name = f"{admin.admin_site.name}:{admin.opts.app_label}_{admin.opts.model_name}"
    return reverse(f"{name}_change", args=[row.pk]) if row else reverse(f"{name}_changelist")


def confirmed(
    admin: ModelAdmin[Any], request: HttpRequest, row: Model, question: str, verb: str
) -> HttpResponse | None:
    """None when the person said yes; else the page that asks."""
    if request.method == "POST":
        return None
    facts = {"question": question, "verb": verb, "back": address(admin, row), "row": row}
    return page(admin, request, "confirm.html", f"{verb}?", **facts)


def confirmed_many(
    admin: ModelAdmin[Any], request: HttpRequest, rows: QuerySet[Any], question: str, verb: str
) -> HttpResponse:
    """The page that asks; it sends the same choice again, with `confirmed`."""
    chosen = request.POST
    facts: dict[str, Any] = {
        "action": chosen["action"],
        "selected": chosen.getlist("_selected_action"),
        "back": address(admin),
    }
    facts |= {"across": chosen.get("select_across") == "1", "rows": list(rows[:EXAMPLES])}
    return page(admin, request, "confirm_many.html", f"{verb}?", question=question, verb=verb, **facts)


def attempt(admin: ModelAdmin[Any], request: HttpRequest, row: Model, act: Callable[[], str]) -> HttpResponse:
    """Do it, say what came of it on the row's page."""
    try:
        messages.success(request, act())
    except Problem as problem:
        messages.error(request, explained(problem))
    return HttpResponseRedirect(address(admin, row))


def attempt_many(request: HttpRequest, rows: Iterable[Any], act: Callable[[Any], object], done: str) -> None:
    """Do it to each row that allows it; say how many, and why not to the others. At most 1,000 at a time."""
    did, reasons = 0, dict[str, int]()
    chosen = list(rows[: MOST_AT_ONCE + 1])  # type: ignore[index]
    for row in chosen[:MOST_AT_ONCE]:
        try:
            act(row)
            did += 1
        except Problem as problem:
            reasons[explained(problem)] = reasons.get(explained(problem), 0) + 1
    if did:
        messages.success(request, f"{did} {done}.")
    for reason, count in sorted(reasons.items(), key=lambda pair: -pair[1])[:REASONS_SHOWN]:
        messages.warning(request, f"{count} left as they were: {reason}.")
    if len(chosen) > MOST_AT_ONCE:
        messages.warning(request, f"Only the first {MOST_AT_ONCE:,} were looked at; repeat it for the rest.")


def explained(problem: Problem) -> str:
    if isinstance(problem, InvalidInput) and problem.reason:
        return problem.reason
    return f"{problem.message} ({problem.reason})" if problem.reason else problem.message
