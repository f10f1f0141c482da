"""Cookies and sessions: where they go, when they end, and where a login leads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from crawler.accounts import actions
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import User

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
ADMIN = "/admin/secure-admin-2025/"
COOKIE = "crawlspace_session"


@pytest.fixture(autouse=True)
def cheap_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def eva(cheap_passwords: None) -> User:
    return actions.create_user(SYSTEM, "eva", password=PASSWORD, role="admin")


@pytest.fixture
def browser(eva: User) -> Client:
    client = Client(raise_request_exception=False)
    log_in(client)
    return client


def log_in(client: Client, form: str = "/login/", **more: str) -> Any:
    return client.post(form, {"username": "eva", "password": PASSWORD, **more})


def is_in(browser: Client) -> bool:
    return bool(browser.get("/dashboard/").status_code == 200)


def test_scripts_see_no_cookie_and_other_sites_send_none(browser: Client) -> None:
    browser.get("/login/")
    assert set(browser.cookies) == {COOKIE, "crawlspace_csrf", "crawlspace_device"}
    for cookie in browser.cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"
        assert cookie["path"] == "/"
        assert not cookie["domain"]
    assert browser.cookies[COOKIE]["max-age"] == 12 * 3600


def test_a_login_changes_the_session(eva: User) -> None:
    client = Client()
    client.get("/login/")
    session = client.session
    session["planted"] = True
    session.save()
    planted = client.cookies[COOKIE].value
    log_in(client)
    assert client.cookies[COOKIE].value != planted
    assert not Session.objects.filter(pk=planted).exists()


def test_a_new_password_ends_sessions(browser: Client, eva: User) -> None:
    assert is_in(browser)
    actions.set_password(SYSTEM, eva, "another long password")
    assert not is_in(browser)


def test_switching_a_user_off_ends_sessions_for_good(browser: Client, eva: User) -> None:
    boss = actions.create_user(SYSTEM, "boss", role="admin")
    bystander = Client()
    bystander.force_login(boss)
    actions.change_user(SYSTEM, eva, {"is_active": False})
    assert not is_in(browser)
    actions.change_user(SYSTEM, eva, {"is_active": True})
    assert not is_in(browser)
    assert is_in(bystander)


def test_so_does_the_admin_page(browser: Client, eva: User) -> None:
    boss = actions.create_user(SYSTEM, "boss", role="admin")
    admin = Client()
    admin.force_login(boss)
    admin.post(f"{ADMIN}accounts/user/{eva.pk}/change/", {"username": "eva", "role": "admin", "email": ""})
    assert not User.objects.get(pk=eva.pk).is_active
    actions.change_user(SYSTEM, eva, {"is_active": True})
    assert not is_in(browser)


@pytest.mark.parametrize("path", ["/logout/", f"{ADMIN}logout/"])
def test_logging_out_takes_a_post(browser: Client, path: str) -> None:
    assert browser.get(path).status_code == 405
    assert is_in(browser)
    browser.post(path)
    assert not is_in(browser)


@pytest.mark.parametrize(
    "path",
    ["/login/", "/logout/", f"{ADMIN}login/", f"{ADMIN}logout/", f"{ADMIN}accounts/user/add/"],
)
def test_every_form_wants_its_csrf_token(eva: User, path: str) -> None:
    strict = Client(enforce_csrf_checks=True, raise_request_exception=False)
    strict.force_login(eva)
    answer = strict.post(path, {"username": "eva", "password": PASSWORD})
    assert answer.status_code == 403
    assert "text/html" in answer["Content-Type"]
    assert User.objects.count() == 1


def test_a_form_with_its_csrf_token_passes(eva: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.get("/login/")
    token = strict.cookies["crawlspace_csrf"].value
    assert log_in(strict, csrfmiddlewaretoken=token).status_code == 302


@pytest.mark.parametrize("form", ["/login/", f"{ADMIN}login/"])
@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "http:evil.example", "javascript:alert(1)",
     "\thttps://evil.example", "https:///evil.example", "///evil.example", "http://testserver@evil.example/"],
)  # fmt: skip
def test_a_login_leads_nowhere_else(eva: User, form: str, elsewhere: str) -> None:
    for answer in (
        log_in(Client(), form=form, next=elsewhere),
        Client().post(form, {"username": "eva", "password": PASSWORD}, query_params={"next": elsewhere}),
    ):
        assert answer.status_code == 302
        assert answer["Location"] == "/dashboard/"


def test_a_login_leads_back(eva: User) -> None:
    assert log_in(Client(), next=f"{ADMIN}accounts/user/")["Location"] == f"{ADMIN}accounts/user/"


@pytest.mark.parametrize("path", ["//evil.example", "//evil.example/admin", "/\\evil.example"])
def test_a_missing_slash_leads_nowhere_else(nobody: Client, path: str) -> None:
    answer = nobody.get(path)
    assert answer.status_code in (301, 302, 404)
    assert not answer.get("Location", "/").startswith(("//", "/\\", "http"))


def test_over_tls_cookies_are_bound_to_this_host(tmp_path: Path) -> None:
    names = ["SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "DEVICE_COOKIE_NAME", "SESSION_COOKIE_SECURE",
             "CSRF_COOKIE_SECURE", "CSRF_TRUSTED_ORIGINS", "BEHIND_TLS"]  # fmt: skip
    code = (
        f"import json; from crawler.project import settings; print(json.dumps([getattr(settings, n) for n in {names}]))"
    )
    environment = {
        "CRAWLER_HOME": str(tmp_path),
        "PUBLIC_URL": "https://crawl.example/here",
        "PATH": os.environ["PATH"],
    }
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(out.stdout) == [
        "__Host-crawlspace_session", "__Host-crawlspace_csrf", "__Host-crawlspace_device", True, True,
        ["https://crawl.example"], True,
    ]  # fmt: skip
