"""Tokens and roles: who gets in, and how far."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from crawler.accounts import actions, tokens
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import ApiToken, AuditEntry, User
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


def test_me_tells_who_i_am_and_never_the_secret(admin: Api) -> None:
    answer = admin.get("/api/v1/me")
    assert answer.status_code == 200
    body = answer.json()
    assert body["user"]["username"] == "some-admin"
    assert body["token"]["prefix"] == admin.token[:11]
    assert admin.token not in answer.content.decode()


def test_only_a_hash_is_stored(admin: Api) -> None:
    row = ApiToken.objects.get()
    assert row.secret_hash == tokens.digest(admin.token)
    assert admin.token.removeprefix(f"{row.prefix}_") not in str(vars(row))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1] + ("A" if text[-1] != "A" else "B"),
        lambda text: "cs_" + "0" * 8 + text[11:],
        lambda text: text[:11],
        lambda text: text + "\u00e9",
        lambda text: "",
        lambda text: "x" * 100_000,
    ],
)
def test_a_wrong_token_is_refused(admin: Api, nobody: Client, spoil: Callable[[str], str]) -> None:
    answer = nobody.get("/api/v1/me", headers={"Authorization": f"Bearer {spoil(admin.token)}"})
    assert answer.status_code == 401


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "cs_12345678_x", "bearer  "])
def test_other_authorization_is_refused(nobody: Client, header: str) -> None:
    assert nobody.get("/api/v1/me", headers={"Authorization": header}).status_code == 401


def test_revoked_expired_and_switched_off(admin: Api, api_of: Callable[[str], Api]) -> None:
    viewer = api_of("viewer")
    row = ApiToken.objects.get(user=viewer.user)
    row.expires_at = datetime.now(UTC) - timedelta(seconds=1)
    row.save()
    assert viewer.get("/api/v1/me").status_code == 401
    row.expires_at = datetime.now(UTC) + timedelta(hours=1)
    row.save()
    assert viewer.get("/api/v1/me").status_code == 200
    admin.send("PATCH", f"/api/v1/users/{viewer.user.id}", {"is_active": False, "reason": "left"})
    assert viewer.get("/api/v1/me").status_code == 401
    admin.send("PATCH", f"/api/v1/users/{viewer.user.id}", {"is_active": True})
    assert viewer.get("/api/v1/me").status_code == 200
    assert actions.revoke_token(SYSTEM, row)
    assert viewer.get("/api/v1/me").status_code == 401
    assert not actions.revoke_token(SYSTEM, row), "a second revocation changes nothing"


def test_last_use_is_noted(admin: Api) -> None:
    assert ApiToken.objects.get().last_used_at is None
    admin.get("/api/v1/me")
    noted = ApiToken.objects.get().last_used_at
    assert noted is not None
    assert abs(noted - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("operator", 403), ("admin", 200)])
def test_people_are_managed_by_admins(api_of: Callable[[str], Api], role: str, status: int) -> None:
    api = api_of(role)
    assert api.get("/api/v1/users").status_code == status
    assert api.get("/api/v1/audit").status_code == status
    assert api.get("/api/v1/processes").status_code == 200


def test_creating_a_user_leaves_a_trace(admin: Api) -> None:
    answer = admin.send("POST", "/api/v1/users", {"username": "eva", "role": "operator", "password": "correct horse b"})
    assert answer.status_code == 201
    assert answer.json()["role"] == "operator"
    assert "password" not in answer.json()
    entry = admin.get(f"/api/v1/audit?target_type=user&target_id={answer.json()['id']}").json()["entries"][0]
    assert (entry["action"], entry["actor_kind"], entry["after"]["username"]) == ("created", "token", "eva")
    assert entry["request_id"] == answer["X-Request-ID"]
    again = admin.send("POST", "/api/v1/users", {"username": "eva"})
    assert again.status_code == 409
    assert again.json()["error"]["details"] == {"field": "username", "reason": "User 'eva' already exists"}


def test_a_change_keeps_before_after_and_why(admin: Api, api_of: Callable[[str], Api]) -> None:
    other = api_of("viewer")
    admin.send("PATCH", f"/api/v1/users/{other.user.id}", {"role": "operator", "reason": "promoted"})
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert (entry.before, entry.after, entry.reason) == ({"role": "viewer"}, {"role": "operator"}, "promoted")


def test_the_last_admin_stays(admin: Api) -> None:
    for change in ({"role": "viewer"}, {"is_active": False}):
        answer = admin.send("PATCH", f"/api/v1/users/{admin.user.id}", change)
        assert answer.status_code == 409
    assert User.objects.get().role == "admin"


def test_an_unknown_user_is_not_found(admin: Api) -> None:
    answer = admin.send("PATCH", "/api/v1/users/01952ff9-0000-7000-8000-000000000000", {"role": "viewer"})
    assert answer.status_code == 404


def test_the_audit_log_pages_backwards(admin: Api) -> None:
    for number in range(5):
        actions.create_user(SYSTEM, f"user{number}")
    first = admin.get("/api/v1/audit?limit=3").json()
    second = admin.get(f"/api/v1/audit?limit=100&cursor={first['pagination']['next_cursor']}").json()
    ids = [entry["id"] for entry in first["entries"] + second["entries"]]
    assert ids == sorted(ids, reverse=True)
    assert len(set(ids)) == AuditEntry.objects.count()
    assert second["pagination"]["next_cursor"] is None
