"""Wrong tokens at /api/v1, and whose address counts behind proxies."""

from __future__ import annotations

import dataclasses
from ipaddress import ip_network
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from crawler.accounts.addresses import place_of
from crawler.project.proxies import BehindProxies, believe, origin_of
from tests.api.conftest import Api

PROXY = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


@pytest.mark.django_db
def test_wrong_tokens_are_throttled(nobody: Client, admin: Api) -> None:
    answers = [nobody.get("/api/v1/me", headers={"Authorization": f"Bearer guess{n}"}) for n in range(102)]
    assert [answer.status_code for answer in answers[98:]] == [401, 401, 429, 429]
    assert answers[-1].json()["error"]["code"] == "RATE_LIMITED"
    assert "failed logins" in answers[-1].json()["error"]["details"]["reason"]
    assert int(answers[-1]["Retry-After"]) > 0
    assert admin.get("/api/v1/me").status_code == 200, "a right token passes"
    elsewhere = {"Authorization": "Bearer guess"}
    assert nobody.get("/api/v1/me", headers=elsewhere, REMOTE_ADDR="192.0.2.9").status_code == 401


@pytest.mark.django_db
def test_no_token_is_no_failure(nobody: Client) -> None:
    assert {nobody.get("/api/v1/me").status_code for _ in range(102)} == {401}


@pytest.mark.parametrize(
    ("nearest", "forwarded", "client"),
    [
        ("203.0.113.5", "192.0.2.1", "203.0.113.5"),  # not ours: believed in nothing
        ("10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "6.6.6.6, 192.0.2.1", "192.0.2.1"),  # what the client made up stands further left
        ("10.0.0.1", "192.0.2.1, 10.1.1.1", "192.0.2.1"),  # two proxies
        ("10.0.0.1", "10.2.2.2, 10.1.1.1", "10.2.2.2"),
        ("10.0.0.1", "192.0.2.1, nonsense", "10.0.0.1"),
        ("10.0.0.1", "192.0.2.1:4711", "192.0.2.1"),
        ("10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"),
        ("10.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("::ffff:10.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"),
        ("fd00::1", " 192.0.2.1 ", "192.0.2.1"),
        ("", "192.0.2.1", ""),
        ("10.0.0.1", "," * 10_000, "10.0.0.1"),
    ],
)
def test_whom_a_proxy_speaks_for(nearest: str, forwarded: str, client: str) -> None:
    meta = {"REMOTE_ADDR": nearest, "HTTP_X_FORWARDED_FOR": forwarded}
    believe(meta, PROXY)
    assert meta["REMOTE_ADDR"] == client


@pytest.mark.parametrize(
    ("nearest", "said", "scheme"),
    [
        ("10.0.0.1", "https", "https"),
        ("10.0.0.1", "http, https", "https"),
        ("10.0.0.1", "gopher", "http"),
        ("203.0.113.5", "https", "http"),
    ],
)
def test_the_scheme(nearest: str, said: str, scheme: str, settings: Any) -> None:
    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, trusted_proxies=tuple(PROXY))
    seen: list[str | None] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.scheme)
        return HttpResponse()

    BehindProxies(view)(RequestFactory().get("/", REMOTE_ADDR=nearest, headers={"X-Forwarded-Proto": said}))
    assert seen == [scheme]


@pytest.mark.django_db
def test_strangers_behind_a_proxy_are_told_apart(nobody: Client, settings: Any) -> None:
    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, trusted_proxies=tuple(PROXY), rate_limit_data=1)

    def ask(client: str, proxy: str = "10.0.0.1") -> int:
        return nobody.get("/api/v1/me", headers={"X-Forwarded-For": client}, REMOTE_ADDR=proxy).status_code

    assert [ask("192.0.2.1"), ask("192.0.2.1"), ask("192.0.2.2")] == [401, 429, 401]
    assert [ask("192.0.2.3", "203.0.113.1"), ask("192.0.2.4", "203.0.113.1")] == [401, 429], "nobody trusts that one"


@pytest.mark.django_db
def test_by_default_nobody_is_believed(nobody: Client, settings: Any) -> None:
    assert settings.CRAWLSPACE.trusted_proxies == ()
    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, rate_limit_data=1)
    codes = [nobody.get("/api/v1/me", headers={"X-Forwarded-For": f"192.0.2.{n}"}).status_code for n in range(2)]
    assert codes == [401, 429]


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", ""),
        ("a socket" * 100, ("a socket" * 100)[:60]),
    ],
)
def test_places(address: str, place: str) -> None:
    assert place_of(RequestFactory().get("/", REMOTE_ADDR=address)) == place


def test_origins() -> None:
    assert origin_of("https://crawl.example:8443/here") == "https://crawl.example:8443"
