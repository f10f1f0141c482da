"""Bots' requests leave the common way early; nobody can tell by the answers."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from crawler.bots.api import VIEWS
from crawler.project.bots_first import BY_PATH
from tests.api.bots import Bot, BotClient, make_jobs

pytestmark = pytest.mark.django_db
ITS_OWN = ("X-Request-ID", "X-RateLimit-Reset", "X-RateLimit-Remaining", "RateLimit")
# A page of a session may differ by its cookies; an API never has any.
ONLY_PAGES = ("Vary",)


def answers(bot: Bot, path: str, body: dict[str, Any]) -> list[tuple[int, bytes, dict[str, str]]]:
    """By the short way and by Django's."""
    found = []
    for client in (BotClient(), Client(raise_request_exception=False)):
        bot.client = client
        answer = bot.post(path, body)
        headers = {name: value for name, value in answer.items() if name not in (*ITS_OWN, *ONLY_PAGES)}
        found.append((answer.status_code, answer.content, headers))
    return found


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("pull", {"domain": "nowhere"}),
        ("pull", {"max_jobs": "many"}),
        ("pull", {"api_token": "wrong"}),
        ("submit", {"job_id": "00000000-0000-7000-8000-000000000000", "success": False}),
        ("submit/batch", {"results": []}),
        ("heartbeat", {"job_ids": ["00000000-0000-7000-8000-000000000000"]}),
        ("release", {"job_ids": ["00000000-0000-7000-8000-000000000000"]}),
    ],
)
def test_the_answer_is_the_same(path: str, body: dict[str, Any]) -> None:
    make_jobs(1)
    first, common = answers(Bot(), path, body)
    assert first == common


def test_every_path_of_the_router_is_known() -> None:
    assert set(BY_PATH) == {f"/api/crawl{path}" for path in VIEWS}
    assert {path.rstrip("/") for path in VIEWS} == {"/pull", "/submit", "/submit/batch", "/heartbeat", "/release"}


def test_a_host_that_is_not_ours(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["crawl.example"]
    answer = Bot().client.post(
        "/api/crawl/pull/", {}, content_type="application/json", headers={"Host": "evil.example"}
    )
    assert (answer.status_code, answer.json()["success"]) == (400, False)
    assert "ALLOWED_HOSTS" in str(answer.json()["detail"])


def test_another_method_goes_the_common_way() -> None:
    answer = Bot().client.get("/api/crawl/pull/")
    assert (answer.status_code, answer.json()["success"]) == (405, False)


def test_what_nobody_expected_is_answered_in_the_bots_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(request: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(BY_PATH, "/api/crawl/pull/", fails)
    answer = Bot().post("pull")
    assert (answer.status_code, answer.json()["success"], "detail" in answer.json()) == (500, False, True)
    assert "ZeroDivision" not in answer.content.decode()
