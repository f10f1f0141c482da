"""Who may use /api/crawl, and how often."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from crawler.accounts import limits
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry
from crawler.bots import actions
from crawler.bots.models import BotConfig
from tests.api.bots import Bot, make_jobs

pytestmark = pytest.mark.django_db
ENDPOINTS = ["pull", "submit", "submit/batch", "heartbeat", "release"]
REQUIRED = ["This field is required."]


@pytest.fixture(autouse=True)
def fresh_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TALLY", limits.Tally())


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ({}, {"bot_id", "api_token"}),
        ({"bot_id": "bot-001"}, {"api_token"}),
        ({"api_token": "bot_bot-001_x"}, {"bot_id"}),
        ({"bot_id": "", "api_token": ""}, {"bot_id", "api_token"}),
        ({"bot_id": None, "api_token": None}, {"bot_id", "api_token"}),
    ],
)
def test_missing_credentials(path: str, body: dict[str, Any], missing: set[str]) -> None:
    answer = Bot().send(path, body)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    detail = {name: REQUIRED for name in missing}
    assert answer.json() == {"success": False, "error": "authentication_error", "detail": detail}


@pytest.mark.parametrize("path", ENDPOINTS)
def test_wrong_credentials(path: str) -> None:
    bot, other = Bot(), Bot("bot-002")
    for shown in (
        {"bot_id": "bot-001", "api_token": "bot_bot-001_wrong"},
        {"bot_id": "bot-001", "api_token": other.token},
        {"bot_id": "nobody", "api_token": bot.token},
        {"bot_id": "BOT-001", "api_token": bot.token},
        {"bot_id": "bot-001", "api_token": 7},
        {"bot_id": "bot-001", "api_token": "\ud800"},
    ):
        answer = bot.send(path, shown)
        assert answer.status_code == 401, shown
        assert answer.json()["error"] == "authentication_error"


@pytest.mark.parametrize("path", ENDPOINTS)
def test_a_disabled_bot(path: str) -> None:
    make_jobs(1)
    bot = Bot()
    (job,) = bot.pull()
    actions.set_enabled(SYSTEM, bot.config, False)
    one = {"job_id": job["job_id"], "success": False}
    answer = bot.post(path, {**one, "results": [one], "job_ids": [job["job_id"]]})
    assert answer.status_code == 403
    assert answer.json()["error"] == "authentication_error"


def test_a_bearer_token_instead_of_fields() -> None:
    make_jobs(2)
    bot = Bot()
    shown = {"Authorization": f"Bearer {bot.token}"}
    assert bot.send("pull", {"max_jobs": 1}, **shown).json()["data"]["count"] == 1
    assert bot.send("pull", {"bot_id": "bot-001", "max_jobs": 1}, **shown).json()["data"]["count"] == 1
    assert bot.send("pull", {"bot_id": "bot-002"}, **shown).status_code == 401


def test_a_user_token_opens_nothing() -> None:
    assert Bot().send("pull", {}, Authorization="Bearer cs_12345678_" + "x" * 43).status_code == 401


def test_a_stranger_learns_nothing_about_fields() -> None:
    assert Bot().send("pull", {"bot_id": "x", "api_token": "y", "max_jobs": -1}).status_code == 401


def test_tokens_are_kept_as_hashes_and_rotated() -> None:
    config, token = actions.create_bot(SYSTEM, "bot-007")
    assert token.startswith("bot_bot-007_")
    assert token not in str(BotConfig.objects.values())
    bot = Bot()
    assert bot.send("pull", {"bot_id": "bot-007", "api_token": token}).status_code == 200
    fresh = actions.rotate_token(SYSTEM, config, reason="leaked")
    assert bot.send("pull", {"bot_id": "bot-007", "api_token": token}).status_code == 401
    assert bot.send("pull", {"bot_id": "bot-007", "api_token": fresh}).status_code == 200
    assert [entry.action for entry in AuditEntry.objects.all()] == ["rotated token of", "created"]
    assert fresh not in str(AuditEntry.objects.values())


def test_failed_logins_are_throttled_and_good_bots_pass() -> None:
    bot = Bot()
    assert bot.post("pull").status_code == 200
    codes = {bot.send("pull", {"bot_id": "bot-001", "api_token": f"guess {n}"}).status_code for n in range(101)}
    assert codes == {401, 429}
    throttled = bot.send("pull", {"bot_id": "bot-001", "api_token": "guess"})
    assert throttled.status_code == 429
    assert int(throttled["Retry-After"]) > 0
    assert bot.post("pull").status_code == 200


def test_requests_are_counted(settings: Any) -> None:
    import dataclasses

    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, rate_limit_bots=3)
    bot = Bot()
    answers = [bot.post("pull") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[0]["X-RateLimit-Remaining"] == "2"
    assert answers[3].json()["error"] == "rate_limited"
    settings.CRAWLSPACE = dataclasses.replace(settings.CRAWLSPACE, rate_limit_bots=0)
    assert "X-RateLimit-Limit" not in bot.post("pull")


def test_processes_count_together() -> None:
    one, other = limits.Tally(), limits.Tally()
    one.REPORT_SECONDS = other.REPORT_SECONDS = 0.0
    for tally in (one, other, one):
        usage = tally.count("bot:x", limits.BOTS)
    assert usage is not None
    assert usage.used == 3


def test_bots_need_no_csrf_token() -> None:
    bot = Bot()
    strict = Client(enforce_csrf_checks=True)
    body = {"bot_id": "bot-001", "api_token": bot.token}
    assert strict.post("/api/crawl/pull/", body, content_type="application/json").status_code == 200


def test_an_unknown_address_answers_in_the_bots_words() -> None:
    answer = Bot().client.post("/api/crawl/push/", {}, content_type="application/json")
    assert (answer.status_code, answer.json()["success"]) == (404, False)
