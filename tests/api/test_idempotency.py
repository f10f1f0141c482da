from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from crawler.accounts import actions, audit, idempotency
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import IdempotentRequest, User
from crawler.foundation import lease
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db
USERS = "/api/v1/users"


def create(api: Api, name: str, key: str) -> Any:
    return api.send("POST", USERS, {"username": name}, **{"Idempotency-Key": key})


def test_the_same_request_twice_has_its_effect_once(admin: Api) -> None:
    first, second = create(admin, "eva", "k1"), create(admin, "eva", "k1")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert second["Content-Type"] == first["Content-Type"]
    assert second["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert second["X-RateLimit-Remaining"] == "98"
    assert User.objects.filter(username="eva").count() == 1


def test_the_same_key_with_another_body_is_refused(admin: Api) -> None:
    create(admin, "eva", "k1")
    answer = create(admin, "adam", "k1")
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "INVALID_INPUT"
    assert answer.json()["error"]["details"]["field"] == "Idempotency-Key"


def test_keys_belong_to_one_token_and_one_route(admin: Api, api_of: Callable[..., Api]) -> None:
    other = api_of("admin", "second-admin")
    assert create(admin, "eva", "k1").status_code == 201
    assert create(other, "eva", "k1").status_code == 409, "not replayed: it is another token's key"
    patched = admin.send("PATCH", f"{USERS}/{other.user.id}", {"username": "eva"}, **{"Idempotency-Key": "k1"})
    assert patched.status_code == 400, "not replayed: it is another route's key"


def test_an_error_is_an_answer_too(admin: Api) -> None:
    actions.create_user(SYSTEM, "eva")
    first, second = create(admin, "eva", "k1"), create(admin, "eva", "k1")
    assert first.status_code == second.status_code == 409
    assert first.content == second.content


def test_a_failure_of_ours_is_no_answer_and_leaves_no_effect(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(audit, "record", broken)
        assert create(admin, "eva", "k1").status_code == 500
    assert not User.objects.filter(username="eva").exists()
    assert create(admin, "eva", "k1").status_code == 201


def test_a_key_whose_first_request_still_runs(admin: Api) -> None:
    codes: list[int] = []
    real = actions.create_user

    def slow(*arguments: Any, **named: Any) -> User:
        codes.append(create(admin, "eva", "k1").status_code)
        return real(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(actions, "create_user", slow)
        assert create(admin, "eva", "k1").status_code == 201
    assert codes == [409]


def test_a_request_that_died_can_be_sent_again(admin: Api) -> None:
    create(admin, "eva", "k1")
    IdempotentRequest.objects.update(status=None, claimed_by="dead", claim_expires_at="2020-01-01T00:00:00Z")
    User.objects.filter(username="eva").delete()
    assert create(admin, "eva", "k1").status_code == 201


def test_a_request_that_outlived_its_lease_is_undone(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "finish_if_held", lambda *_, **__: False)
    answer = create(admin, "eva", "k1")
    assert answer.status_code == 409
    assert not User.objects.filter(username="eva").exists()


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "\u00e9"])
def test_a_malformed_key_is_refused(admin: Api, key: str) -> None:
    answer = create(admin, "eva", key)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == "Idempotency-Key"


def test_answers_are_kept_for_a_day(admin: Api) -> None:
    create(admin, "eva", "k1")
    assert idempotency.purge() == 0
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_idempotentrequest SET created_at = '2020-01-01 00:00:00+00:00'")
    assert create(admin, "eva", "k1").status_code == 409, "forgotten, so it was tried again"
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_idempotentrequest SET created_at = '2020-01-01 00:00:00+00:00'")
    assert idempotency.purge() == 1


def test_without_a_key_nothing_is_kept(admin: Api) -> None:
    admin.send("POST", USERS, {"username": "eva"})
    assert not IdempotentRequest.objects.exists()


def test_reading_ignores_the_key(admin: Api) -> None:
    admin.get("/api/v1/me", **{"Idempotency-Key": "k1"})
    assert not IdempotentRequest.objects.exists()
