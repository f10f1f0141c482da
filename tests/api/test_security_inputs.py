"""Odd values in every parameter and body field that the description of /api/v1 names: refused or used, no stumble."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from crawler.project.api import api
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db
ODD_TEXTS = ["%00", "%ED%A0%80", "%FF", "-1", "9" * 30, "1e999", "nan", quote("' OR 1=1 --"), "%25", "x" * 3000, ""]
ODD_VALUES = ["\0", "\ud800", -1, 10**30, 1e308, "", [], {}, None, True, "x" * 3000]
ODD_BODIES = [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"a": NaN}', b"\xff", b'{"a": 1e999}']
Operation = tuple[str, str, dict[str, Any]]


def operations() -> list[Operation]:
    paths = api.get_openapi_schema()["paths"]
    return [(method.upper(), path, about) for path, verbs in paths.items() for method, about in verbs.items()]


def of(*methods: str) -> pytest.MarkDecorator:
    chosen = [one for one in operations() if one[0] in methods]
    return pytest.mark.parametrize("operation", chosen, ids=[f"{one[0]} {one[1]}" for one in chosen])


def filled(path: str, value: str = "01a1df73-c250-71ca-9102-91c1a472199d") -> str:
    return re.sub(r"\{[^}]+\}", value, path)


def in_query(about: dict[str, Any]) -> Iterator[str]:
    return (one["name"] for one in about.get("parameters", []) if one["in"] == "query")


def check(answer: Any, sent: object) -> None:
    content = b"".join(answer) if answer.streaming else answer.content
    assert answer.status_code < 500, (sent, content)
    if answer.status_code >= 400:
        error = answer.json()["error"]
        assert set(error) == {"code", "message", "details", "request_id"}, sent


@pytest.fixture
def caller(admin: Api, settings: Any) -> Api:
    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, rate_limit_data=0, rate_limit_jobs=0)
    return admin


@of("GET")
def test_questions(caller: Api, operation: Operation) -> None:
    _, path, about = operation
    for name in in_query(about):
        for text in ODD_TEXTS:
            check(caller.get(f"{filled(path)}?{name}={text}"), (name, text))


@of("GET", "POST", "PUT", "PATCH", "DELETE")
def test_names_in_paths(caller: Api, operation: Operation) -> None:
    method, path, _ = operation
    for text in ODD_TEXTS:
        check(caller.send(method, filled(path, text) if "{" in path else f"{path}{text}", {}), text)


@of("POST", "PUT", "PATCH", "DELETE")
def test_bodies(caller: Api, operation: Operation) -> None:
    method, path, _ = operation
    for body in ODD_BODIES:
        check(caller.send(method, filled(path), body), body[:20])


@of("POST", "PUT", "PATCH")
def test_fields_of_bodies(caller: Api, operation: Operation) -> None:
    method, path, about = operation
    for name in fields_of(about):
        for value in ODD_VALUES:
            check(caller.send(method, filled(path), {name: value}), (name, value))


def fields_of(about: dict[str, Any]) -> list[str]:
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    shapes = api.get_openapi_schema()["components"]["schemas"]
    return list(shapes.get(reference, {}).get("properties", {}))


@pytest.mark.parametrize(
    "path", ["accounts/user/?pk__in=%00", "bots/producturl/%00/change/", "%00", "accounts/user/?q=%00"]
)
def test_a_null_character_in_the_address_of_a_page(caller: Api, path: str) -> None:
    caller.client.force_login(caller.user)
    answer = caller.get(f"/admin/secure-admin-2025/{path}")
    assert answer.status_code == 400
    assert "text/html" in answer["Content-Type"]


def test_a_null_character_is_refused_by_name(caller: Api) -> None:
    answer = caller.get("/api/v1/audit?limit=5&target_type=a%00b")
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, "target_type")


def test_a_user_with_odd_fields(caller: Api) -> None:
    good = {"username": "eva", "role": "viewer"}
    for name in ("username", "email", "password", "role"):
        for value in ODD_VALUES:
            check(caller.send("POST", "/api/v1/users", good | {name: value}), (name, value))
