from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from redis import Redis

from crawler.accounts import limits
from tests.api.conftest import Api
from tests.plugin import REDIS_URL

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["database", "redis"])
def counted_in(request: pytest.FixtureRequest, settings: Any) -> str:
    chosen: str = request.param
    if chosen == "redis":
        Redis.from_url(REDIS_URL).flushdb()
        settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, redis_url=REDIS_URL)
    return chosen


@pytest.fixture
def limit_to(settings: Any) -> Callable[..., None]:
    def change(**limits: int) -> None:
        settings.CRAWLSPACE = dataclasses.replace(
            settings.CRAWLSPACE, **{f"rate_limit_{name}": value for name, value in limits.items()}
        )

    return change


def test_the_next_request_after_the_limit_has_to_wait(
    counted_in: str, admin: Api, limit_to: Callable[..., None]
) -> None:
    limit_to(data=3)
    answers = [admin.get("/api/v1/me") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0", "0"]
    refused = answers[-1]
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert re.fullmatch(r'"data";r=0;t=\d+', refused["RateLimit"])
    assert refused["RateLimit-Policy"] == '"data";q=3;w=60'
    assert admin.send("POST", "/api/v1/users", {"username": "x"}).status_code == 201, "another class, another minute"


def test_each_token_has_its_own_minute(
    counted_in: str, admin: Api, api_of: Callable[[str], Api], limit_to: Callable[..., None]
) -> None:
    limit_to(data=1)
    other = api_of("viewer")
    assert [admin.get("/api/v1/me").status_code for _ in range(2)] == [200, 429]
    assert other.get("/api/v1/me").status_code == 200


def test_a_minute_ends(admin: Api, limit_to: Callable[..., None]) -> None:
    limit_to(data=1)
    assert [admin.get("/api/v1/me").status_code for _ in range(2)] == [200, 429]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_ratewindow SET ends_at = ends_at - 61")
    assert admin.get("/api/v1/me").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v1/me", ("data", 1000)),
        ("GET", "/api/v1/processes", ("monitoring", 500)),
        ("GET", "/api/v1/frontier/stats", ("monitoring", 500)),
        ("POST", "/api/v1/jobs", ("jobs", 100)),
        ("DELETE", "/api/v1/jobs/x", ("jobs", 100)),
    ],
)
def test_classes_and_their_documented_limits(method: str, path: str, expected: tuple[str, int]) -> None:
    name = limits.endpoint_class(method, path)
    assert (name, limits.limit_of(name)) == expected


@pytest.mark.parametrize(
    "path", ["/api/v1/me", "/api/v1/nothing", "/api/v1/admin/x", "/api/crawl/x", "/api/v1/openapi.json"]
)
def test_every_api_answer_tells_the_limit(nobody: Client, path: str) -> None:
    answer = nobody.get(path)
    assert answer["X-RateLimit-Limit"] == "1000"
    assert {"X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy"} <= set(answer.headers)


def test_strangers_are_counted_by_address(nobody: Client, limit_to: Callable[..., None]) -> None:
    limit_to(data=2)
    codes = [nobody.get("/api/v1/me", REMOTE_ADDR="192.0.2.1").status_code for _ in range(3)]
    assert codes == [401, 401, 429]
    assert nobody.get("/api/v1/me", REMOTE_ADDR="192.0.2.2").status_code == 401


def test_no_limit(admin: Api, limit_to: Callable[..., None]) -> None:
    limit_to(data=0)
    assert "X-RateLimit-Limit" not in admin.get("/api/v1/me")


def test_pages_and_health_are_not_counted(nobody: Client) -> None:
    for path in ("/healthz", "/readyz", "/login/"):
        assert "X-RateLimit-Limit" not in nobody.get(path)


def test_without_redis_the_database_counts(admin: Api, settings: Any, limit_to: Callable[..., None]) -> None:
    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, redis_url="redis://127.0.0.1:1/0")
    limit_to(data=1)
    assert [admin.get("/api/v1/me").status_code for _ in range(2)] == [200, 429]


def test_old_counts_are_forgotten(admin: Api) -> None:
    admin.get("/api/v1/me")
    assert limits.purge() == 0
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_ratewindow SET ends_at = ends_at - 7200")
    assert limits.purge() == 1
