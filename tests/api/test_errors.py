"""Every API family answers in its own words, whatever goes wrong and wherever."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from crawler.accounts import queries
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/admin/nothing", {"error": "There is nothing at this address", "code": "NOT_FOUND"}),
        ("/api/crawl/nothing/", {"success": False, "error": "not_found", "detail": "There is nothing at this address"}),
    ],
)
def test_unknown_addresses(nobody: Client, path: str, body: dict[str, Any]) -> None:
    answer = nobody.get(path)
    assert (answer.status_code, answer.json()) == (404, body)


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v2/jobs", "/api/nothing"])
def test_unknown_addresses_of_the_crawl_api(nobody: Client, path: str) -> None:
    answer = nobody.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "NOT_FOUND"
    assert answer.json()["error"]["request_id"] == answer["X-Request-ID"]


def test_no_token(nobody: Client) -> None:
    answer = nobody.get("/api/v1/me")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "UNAUTHORIZED"
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_wrong_method(admin: Api) -> None:
    answer = admin.send("DELETE", "/api/v1/users")
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "METHOD_NOT_ALLOWED"
    assert "POST" in answer["Allow"]


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({"role": "viewer"}, "username", "This field is required."),
        ({"username": "x", "role": "king"}, "role", "'admin', 'operator' or 'viewer'"),
        ({"username": "x", "rolle": "admin"}, "rolle", "This field is unknown."),
        ({"username": 5}, "username", "valid string"),
        ({"username": "a b"}, "username", "valid username"),
        ({"username": "x", "password": "short"}, "password", "too short"),
        ({"username": "x", "email": "nowhere"}, "email", "valid email"),
        ("{", "body", "Cannot parse request body"),
        ([], "body", "valid dictionary"),
        ("null", "body", "valid dictionary"),
        (b"\xff", "body", "Cannot parse request body"),
    ],
)
def test_bad_input_names_the_field(admin: Api, body: object, field: str, reason: str) -> None:
    answer = admin.send("POST", "/api/v1/users", body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_INPUT", field)
    assert reason in error["details"]["reason"]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=many", "cursor=xyz"])
def test_bad_query_names_the_parameter(admin: Api, query: str) -> None:
    answer = admin.get(f"/api/v1/audit?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == query.partition("=")[0]


def test_a_defect_of_ours_tells_nothing(admin: Api, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(queries, "audit_page", broken)
    answer = admin.get("/api/v1/audit")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "INTERNAL_ERROR"
    assert b"secret" not in answer.content
    assert b"Traceback" not in answer.content
    assert "secret detail" in caplog.text, "the log has it"


def test_a_database_that_is_away_is_unavailable(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(queries, "audit_page", away)
    answer = admin.get("/api/v1/audit")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["error"]["code"] == "SERVICE_UNAVAILABLE"


def test_a_body_that_is_too_large(admin: Api, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    answer = admin.send("POST", "/api/v1/users", {"username": "x" * 2000})
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "PAYLOAD_TOO_LARGE"


def test_a_host_that_is_not_ours(nobody: Client) -> None:
    answer = nobody.get("/api/v1/me", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("path", ["/healthz", "/dashboard/", "/nothing", "/api/v1/me", "/api/crawl/x", "/"])
def test_every_answer_has_a_request_id(nobody: Client, path: str) -> None:
    assert nobody.get(path)["X-Request-ID"].startswith("req_")


def test_a_brought_request_id_is_kept_when_it_is_harmless(nobody: Client) -> None:
    assert nobody.get("/healthz", headers={"X-Request-ID": "abc-123.x"})["X-Request-ID"] == "abc-123.x"
    assert nobody.get("/healthz", headers={"X-Request-ID": "a b\t"})["X-Request-ID"].startswith("req_")


def test_pages_fail_as_pages(nobody: Client) -> None:
    answer = nobody.get("/nothing")
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")
    assert answer["X-Request-ID"] in answer.content.decode()
