"""Failed logins with a password: counted by name and place, the same through both forms."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from redis import Redis

from crawler.accounts import actions, limits
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry, RateWindow
from tests.plugin import REDIS_URL

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
ADMIN_LOGIN = "/admin/secure-admin-2025/login/"
FORMS = pytest.mark.parametrize("form", ["/login/", ADMIN_LOGIN])


@pytest.fixture(autouse=True, params=["database", "redis"])
def counted_in(request: pytest.FixtureRequest, settings: Any) -> None:
    if request.param == "redis":
        Redis.from_url(REDIS_URL).flushdb()
        settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, redis_url=REDIS_URL)


@pytest.fixture(autouse=True)
def cheap_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def eva(cheap_passwords: None) -> str:
    return actions.create_user(SYSTEM, "eva", password=PASSWORD, role="admin").username


class CountingHasher(MD5PasswordHasher):
    hashed = 0

    def encode(self, password: str, salt: str) -> str:
        type(self).hashed += 1
        return super().encode(password, salt)


def log_in(password: str, username: str = "eva", form: str = "/login/", address: str = "192.0.2.1") -> Any:
    return send(Client(), password, username, form, address)


def send(
    browser: Client, password: str, username: str = "eva", form: str = "/login/", address: str = "192.0.2.1"
) -> Any:
    return browser.post(form, {"username": username, "password": password}, REMOTE_ADDR=address)


def fail(times: int, **where: Any) -> list[int]:
    return [log_in("wrong", **where).status_code for _ in range(times)]


@FORMS
def test_the_eleventh_failure_has_to_wait(eva: str, form: str) -> None:
    assert fail(11, form=form) == [200] * 10 + [429]
    refused = log_in(PASSWORD, form=form)
    assert refused.status_code == 429, "not even the right password is looked at"
    assert 1 <= int(refused["Retry-After"]) <= 900
    assert re.search(r"Too many failed logins\. Try again in (1[0-5]|[2-9]) minutes\.", refused.content.decode())
    assert "no-store" in refused["Cache-Control"]


def test_the_forms_count_together(eva: str) -> None:
    fail(5, form="/login/")
    assert fail(6, form=ADMIN_LOGIN) == [200] * 5 + [429]


def test_the_wait_ends(eva: str, counted_in: None, settings: Any) -> None:
    fail(11)
    end_all_waits(settings)
    assert log_in(PASSWORD).status_code == 302


def end_all_waits(settings: Any) -> None:
    if settings.CRAWLSPACE.redis_url:
        Redis.from_url(REDIS_URL).flushdb()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_ratewindow SET ends_at = ends_at - 4000")


def test_a_good_login_starts_afresh(eva: str) -> None:
    fail(9)
    assert log_in(PASSWORD).status_code == 302
    assert fail(10) == [200] * 10


def test_another_name_from_the_same_place_may_try(eva: str) -> None:
    fail(11)
    actions.create_user(SYSTEM, "tom", password=PASSWORD)
    assert log_in(PASSWORD, username="tom").status_code == 302


def test_a_stranger_does_not_lock_the_owner_out(eva: str) -> None:
    fail(11, address="198.51.100.7")
    assert log_in(PASSWORD, address="192.0.2.1").status_code == 302


def test_many_names_from_one_place(eva: str) -> None:
    codes = [log_in("wrong", username=f"user{number}").status_code for number in range(51)]
    assert codes == [200] * 50 + [429]
    assert log_in(PASSWORD).status_code == 429
    assert log_in(PASSWORD, address="192.0.2.2").status_code == 302


def test_a_good_login_does_not_give_a_place_new_guesses(eva: str) -> None:
    for number in range(49):
        log_in("wrong", username=f"user{number}")
    assert log_in(PASSWORD).status_code == 302
    assert [log_in("wrong", username=f"other{number}").status_code for number in range(2)] == [200, 429]


def test_one_name_from_many_places(eva: str) -> None:
    codes = [log_in("wrong", address=f"198.51.100.{number}").status_code for number in range(101)]
    assert codes == [200] * 100 + [429]
    assert 900 < int(log_in(PASSWORD)["Retry-After"]) <= 3600


def test_a_known_browser_keeps_access_then(eva: str) -> None:
    browser = Client()
    assert send(browser, PASSWORD).status_code == 302
    browser.post("/logout/")
    for number in range(101):
        log_in("wrong", address=f"198.51.100.{number}")
    assert log_in(PASSWORD, address="192.0.2.1").status_code == 429, "a browser that nobody knows"
    assert send(browser, PASSWORD).status_code == 302


def test_a_known_browser_is_throttled_as_well(eva: str) -> None:
    browser = Client()
    send(browser, PASSWORD)
    browser.post("/logout/")
    assert [send(browser, "wrong").status_code for _ in range(11)] == [200] * 10 + [429]


def test_a_browser_known_to_one_user_is_a_stranger_to_another(eva: str) -> None:
    browser = Client()
    send(browser, PASSWORD)
    cookie = browser.cookies["crawlspace_device"]
    assert cookie["httponly"]
    assert "eva" not in cookie.value
    browser.post("/logout/")
    for number in range(101):
        log_in("wrong", username="tom", address=f"198.51.100.{number}")
    assert send(browser, "wrong", username="tom").status_code == 429


def test_ipv6_is_counted_by_network(eva: str) -> None:
    codes = [log_in("wrong", address=f"2001:db8::{number}").status_code for number in range(11)]
    assert codes == [200] * 10 + [429]
    assert log_in(PASSWORD, address="2001:db8:0:1::1").status_code == 302


def test_what_waits_does_not_count_further(eva: str) -> None:
    fail(200)
    assert log_in(PASSWORD, address="192.0.2.2").status_code == 302, "200 tries from one place are 10 for the account"


def test_known_and_unknown_names_look_the_same(eva: str) -> None:
    pages = [strip(log_in("wrong", username=name)) for name in ("eva", "nobody")]
    assert pages[0] == pages[1]
    fail(10)
    fail(10, username="nobody")
    pages = [strip(log_in("wrong", username=name)) for name in ("eva", "nobody")]
    assert pages[0] == pages[1]


def strip(page: Any) -> tuple[int, str]:
    text = re.sub(r'(value|name="csrfmiddlewaretoken" value)="[^"]*"', "", page.content.decode())
    return page.status_code, re.sub(r"\d+ minutes", "", text)


def test_an_unknown_name_costs_a_hash_too(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["tests.api.test_login_throttling.CountingHasher"]
    CountingHasher.hashed = 0
    log_in("wrong", username="nobody")
    assert CountingHasher.hashed == 1


def test_failures_are_in_the_audit_log(eva: str) -> None:
    log_in("my secret guess")
    entry = AuditEntry.objects.order_by("-id")[0]
    assert (entry.action, entry.target_label, entry.after) == ("refused login of", "eva", {"address": "192.0.2.1"})
    log_in("another secret", username="typed my secret here")
    entry = AuditEntry.objects.order_by("-id")[0]
    assert (entry.target_id, entry.target_label) == ("", "(unknown name)")
    assert "secret" not in str(list(AuditEntry.objects.values()))


def test_the_audit_log_is_not_flooded(eva: str) -> None:
    before = AuditEntry.objects.count()
    fail(40)
    actions_seen = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))[before:]
    assert actions_seen == ["refused login of"] * 10 + ["throttled logins of"]


def test_a_user_who_is_switched_off_is_refused_like_any_other(eva: str) -> None:
    tom = actions.create_user(SYSTEM, "tom", password=PASSWORD)
    actions.change_user(SYSTEM, tom, {"is_active": False})
    assert strip(log_in(PASSWORD, username="tom")) == strip(log_in("wrong", username="nobody"))
    assert AuditEntry.objects.filter(action="refused login of", reason="switched off").exists()


def test_code_that_logs_in_is_told(eva: str) -> None:
    for _ in range(10):
        assert authenticate(None, username="eva", password="wrong") is None
    with pytest.raises(ValidationError, match="Too many failed logins"):
        authenticate(None, username="eva", password=PASSWORD)


def test_counts_hold_across_processes(eva: str, settings: Any) -> None:
    """They are rows, or keys in Redis: nothing is in memory."""
    fail(3)
    kept = RateWindow.objects.filter(endpoint_class=limits.LOGIN_PAIR)
    if settings.CRAWLSPACE.redis_url:
        assert any(b"login-pair" in key for key in Redis.from_url(REDIS_URL).keys())
    else:
        assert [row.used for row in kept] == [3]
