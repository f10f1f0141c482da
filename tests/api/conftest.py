from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from crawler.accounts import actions, limits
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import User


@pytest.fixture(autouse=True)
def fresh_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process counted for one test is not held against the next."""
    monkeypatch.setattr(limits, "TALLY", limits.Tally())


class Api:
    """A caller of the API with one user's token."""

    def __init__(self, user: User, token: str) -> None:
        self.user, self.token = user, token
        self.client = Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers=headers)

    def send(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        return self.client.generic(method, path, text, content_type="application/json", headers=headers)


@pytest.fixture
def api_of(db: None) -> Callable[[str], Api]:
    def make(role: str, username: str = "") -> Api:
        user = actions.create_user(SYSTEM, username or f"some-{role}", role=role)
        _, token = actions.issue_token(SYSTEM, user, "test")
        return Api(user, token)

    return make


@pytest.fixture
def admin(api_of: Callable[[str], Api]) -> Api:
    return api_of("admin")


@pytest.fixture
def nobody(db: None) -> Client:
    return Client(raise_request_exception=False)
