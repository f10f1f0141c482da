"""What browsers are told with every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from crawler.accounts import actions
from crawler.accounts.actors import SYSTEM
from crawler.project.security_headers import SecurityHeaders

pytestmark = pytest.mark.django_db
ADMIN = "/admin/secure-admin-2025/"
PAGES = ["/login/", "/nothing-here", "/api/v1/docs", "/api/crawl/docs"]
DATA = ["/api/v1/me", "/api/v1/openapi.json", "/api/crawl/openapi.json", "/api/nothing", "/healthz", "/readyz"]


@pytest.fixture
def boss() -> Client:
    user = actions.create_user(SYSTEM, "boss", role="admin")
    browser = Client(raise_request_exception=False)
    browser.force_login(user)
    return browser


def policy_of(answer: Any) -> dict[str, str]:
    parts = [part.strip().partition(" ") for part in answer["Content-Security-Policy"].split(";")]
    return {name: sources for name, _, sources in parts}


@pytest.mark.parametrize("path", PAGES)
def test_pages_run_only_our_own_files(nobody: Client, path: str) -> None:
    answer = nobody.get(path)
    policy = policy_of(answer)
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'none'", "'self'", "'self'")
    assert (policy["frame-ancestors"], policy["base-uri"], policy["object-src"]) == ("'none'", "'none'", "'none'")
    assert policy["form-action"] == "'self'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert "camera=()" in answer["Permissions-Policy"]


@pytest.mark.parametrize("path", [*PAGES, *DATA, ADMIN, f"{ADMIN}login/", "/", "/dashboard/"])
def test_every_answer(nobody: Client, path: str) -> None:
    answer = nobody.get(path)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer["Referrer-Policy"] == "same-origin"
    assert "no-store" in answer["Cache-Control"]
    assert "Strict-Transport-Security" not in answer


@pytest.mark.parametrize("path", DATA)
def test_data_may_do_nothing(nobody: Client, path: str) -> None:
    policy = policy_of(nobody.get(path))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
    assert "script-src" not in policy


def test_only_the_admin_pages_evaluate(boss: Client) -> None:
    for path in (ADMIN, f"{ADMIN}accounts/user/", f"{ADMIN}nothing/"):
        policy = policy_of(boss.get(path))
        assert policy["script-src"] == "'self' 'unsafe-eval'", path
        assert policy["style-src"] == "'self' 'unsafe-inline'", path
        assert policy["frame-ancestors"] == "'none'", path
    assert policy_of(boss.get("/dashboard/"))["script-src"] == "'self'"


def test_a_view_that_has_its_own_policy_keeps_it() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("<b>", headers={"Content-Security-Policy": "sandbox", "Cache-Control": "max-age=60"})

    answer = SecurityHeaders(view)(RequestFactory().get(ADMIN))
    assert (answer["Content-Security-Policy"], answer["Cache-Control"]) == ("sandbox", "max-age=60")


def test_static_files_may_be_kept(nobody: Client) -> None:
    answer = nobody.get("/static/dashboard/crawlspace.css")
    answer.close()
    assert answer.status_code == 200
    assert "no-store" not in answer["Cache-Control"]


def test_over_tls_browsers_come_back_over_tls(nobody: Client, settings: Any) -> None:
    settings.BEHIND_TLS = True
    for path in ("/login/", "/api/v1/me"):
        assert nobody.get(path)["Strict-Transport-Security"] == "max-age=31536000"


def test_the_descriptions_load_nothing_from_elsewhere(nobody: Client) -> None:
    for path in ("/api/v1/docs", "/api/crawl/docs"):
        text = nobody.get(path).content.decode()
        assert "https://" not in text
        assert "/static/ninja/swagger-ui-bundle.js" in text


def test_a_host_name_that_is_not_ours(nobody: Client) -> None:
    answer = nobody.get("/login/", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert policy_of(answer)["default-src"] == "'none'"


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_pages_want_a_login(role: str, nobody: Client, api_of: Callable[[str], Any]) -> None:
    assert nobody.get(ADMIN)["Location"].startswith(f"{ADMIN}login/?next=")
    token = {"Authorization": f"Bearer {api_of(role).token}"}
    assert nobody.get(ADMIN, headers=token).status_code == 302, "a token is for programs"
    assert nobody.get("/dashboard/", headers=token).status_code == 302
