"""The admin pages as an admin uses them."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from crawler.accounts import actions, tokens
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import ApiToken, AuditEntry, User

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def browser() -> Client:
    actions.create_user(SYSTEM, "boss", password=PASSWORD, role="admin")
    client = Client()
    answer = client.post("/login/", {"username": "boss", "password": PASSWORD})
    assert answer.headers["Location"] == "/dashboard/"
    return client


def test_a_new_token_is_shown_once(browser: Client) -> None:
    boss = User.objects.get(username="boss")
    page = browser.post(
        reverse("admin:accounts_apitoken_add"),
        {"user": boss.pk, "name": "export", "expires_at_0": "", "expires_at_1": ""},
    )
    shown = re.search(r"cs_[0-9a-z]{8}_[A-Za-z0-9_-]+", page.content.decode())
    assert shown
    assert "no-store" in page.headers["Cache-Control"]
    found = tokens.find(shown[0])
    assert found is not None
    assert found.name == "export"
    listing = browser.get(reverse("admin:accounts_apitoken_changelist")).content.decode()
    assert found.prefix in listing
    assert shown[0] not in listing
    assert AuditEntry.objects.filter(action="issued", actor="boss").exists()


def test_tokens_are_revoked_not_deleted(browser: Client) -> None:
    token, text = actions.issue_token(SYSTEM, User.objects.get(username="boss"), "old")
    browser.post(reverse("admin:accounts_apitoken_changelist"), {"action": "revoke", "_selected_action": [token.pk]})
    assert tokens.find(text) is None
    assert ApiToken.objects.filter(pk=token.pk).exists()
    assert browser.get(reverse("admin:accounts_apitoken_delete", args=[token.pk])).status_code == 403


def test_users_are_created_and_changed_with_a_trace(browser: Client) -> None:
    form = {
        "username": "eva",
        "role": "operator",
        "usable_password": "true",
        "password1": PASSWORD,
        "password2": PASSWORD,
    }
    browser.post(reverse("admin:accounts_user_add"), form)
    eva = User.objects.get(username="eva")
    assert (eva.role, eva.check_password(PASSWORD)) == ("operator", True)
    browser.post(
        reverse("admin:accounts_user_change", args=[eva.pk]),
        {"username": "eva", "role": "viewer", "is_active": "on", "email": ""},
    )
    entry = AuditEntry.objects.filter(action="changed").get()
    assert (entry.actor, entry.before, entry.after) == ("boss", {"role": "operator"}, {"role": "viewer"})


@pytest.mark.parametrize(
    "name", ["accounts_user", "accounts_apitoken", "accounts_auditentry", "processes_process", "processes_periodictask"]
)
def test_every_list_opens(browser: Client, name: str) -> None:
    assert browser.get(reverse(f"admin:{name}_changelist")).status_code == 200
    assert browser.get(reverse(f"admin:{name}_changelist"), {"q": "x"}).status_code == 200


def test_the_audit_log_is_for_reading(browser: Client) -> None:
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert browser.get(reverse("admin:accounts_auditentry_change", args=[entry.pk])).status_code == 200
    assert browser.get(reverse("admin:accounts_auditentry_add")).status_code == 403
    assert browser.get(reverse("admin:accounts_auditentry_delete", args=[entry.pk])).status_code == 403


def test_viewers_see_no_people(browser: Client) -> None:
    actions.create_user(SYSTEM, "guest", password=PASSWORD, role="viewer")
    guest = Client()
    guest.post("/login/", {"username": "guest", "password": PASSWORD})
    assert guest.get(reverse("admin:accounts_user_changelist")).status_code == 403
    assert guest.get(reverse("admin:processes_process_changelist")).status_code == 200
    page = guest.get("/dashboard/").content.decode()
    assert "audit log" not in page


def test_the_dashboard_wants_a_login() -> None:
    answer = Client().get("/dashboard/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/login/?next=/dashboard/")


def test_the_dashboard_shows_what_runs(browser: Client) -> None:
    from crawler.processes import registry

    registry.sign_in("scheduler")
    page = browser.get("/dashboard/").content.decode()
    assert "scheduler" in page
    assert "running" in page
