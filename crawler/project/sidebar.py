"""The admin pages' menu and style. Pages that are not named here are found under "all applications"."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

# Group, and its pages: title, icon, model.
GROUPS = (
    (
        "Bots",
        (
            ("Bot Configuration", "smart_toy", "bots.botconfig"),
            ("Crawl policies", "event_repeat", "bots.crawlpolicy"),
            ("Crawl jobs", "list_alt", "bots.crawljob"),
            ("Products", "sell", "bots.producturl"),
            ("Crawl results", "query_stats", "bots.crawlresult"),
            ("Webhooks", "webhook", "bots.webhook"),
            ("Webhook deliveries", "outbox", "bots.webhookdelivery"),
        ),
    ),
    (
        "People",
        (
            ("Users", "group", "accounts.user"),
            ("API tokens", "key", "accounts.apitoken"),
            ("Audit log", "history", "accounts.auditentry"),
        ),
    ),
    (
        "Platform",
        (
            ("Processes", "memory", "processes.process"),
            ("Periodic tasks", "schedule", "processes.periodictask"),
        ),
    ),
)


def stylesheet(request: HttpRequest) -> str:
    """What the theme has no classes for."""
    return static("bots/admin.css")


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """What this person may look at."""
    groups = [
        {"title": title, "separator": True, "items": [_item(*page) for page in pages if _may_see(request, page[2])]}
        for title, pages in GROUPS
    ]
    home = {"title": "Dashboard", "icon": "dashboard", "link": "/dashboard/"}
    return [{"items": [home]}, *(group for group in groups if group["items"])]


def _may_see(request: HttpRequest, model: str) -> bool:
    app, _, name = model.partition(".")
    return request.user.has_perm(f"{app}.view_{name}")


def _item(title: str, icon: str, model: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": reverse(f"admin:{model.replace('.', '_')}_changelist")}
