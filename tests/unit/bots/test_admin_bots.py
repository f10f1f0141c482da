"""The pages of bots: tokens are shown once, and what happens leaves a trace."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry
from crawler.bots import actions, tokens
from crawler.bots.models import BotConfig
from tests.unit.bots.admin_browser import browser_of, make_jobs, make_policy, place, text_of

pytestmark = pytest.mark.django_db
TOKEN = re.compile(r"bot_crawler-7_[A-Za-z0-9_-]{20,}")


@pytest.fixture
def browser() -> Client:
    return browser_of("admin")


def create(browser: Client) -> str:
    form = {"bot_id": "crawler-7", "description": "prices", "enabled": "on", "max_jobs_per_pull": "20"}
    answer = browser.post(place("botconfig", "add"), form)
    shown = TOKEN.search(text_of(answer))
    assert shown
    assert "no-store" in answer.headers["Cache-Control"]
    return shown[0]


def test_a_new_bots_token_is_shown_once(browser: Client) -> None:
    token = create(browser)
    bot = BotConfig.objects.get()
    assert (bot.bot_id, bot.max_jobs_per_pull, bot.token_hash) == ("crawler-7", 20, tokens.digest(token))
    assert AuditEntry.objects.get(action="created").actor == "the-admin"
    for page in (place("botconfig"), place("botconfig", "change", bot.pk)):
        assert token not in text_of(browser.get(page))
        assert str(bot.token_hash) not in text_of(browser.get(page))


def test_a_token_is_rotated_after_a_question(browser: Client) -> None:
    token = create(browser)
    bot = BotConfig.objects.get()
    rotate = place("botconfig", "rotate_token", bot.pk)
    assert "refused" in text_of(browser.get(rotate))
    bot.refresh_from_db()
    assert bot.token_hash == tokens.digest(token)
    answer = browser.post(rotate)
    assert "no-store" in answer.headers["Cache-Control"]
    shown = TOKEN.search(text_of(answer))
    bot.refresh_from_db()
    assert shown
    assert bot.token_hash == tokens.digest(shown[0]) != tokens.digest(token)
    assert AuditEntry.objects.filter(action="rotated token of", actor="the-admin").exists()


def test_the_enabled_checkbox(browser: Client) -> None:
    create(browser)
    bot = BotConfig.objects.get()
    form = {"description": "prices", "max_jobs_per_pull": "5"}
    browser.post(place("botconfig", "change", bot.pk), form)
    bot.refresh_from_db()
    assert (bot.enabled, bot.max_jobs_per_pull) == (False, 5)
    browser.post(place("botconfig", "change", bot.pk), form | {"enabled": "on"})
    bot.refresh_from_db()
    assert bot.enabled
    entry = AuditEntry.objects.filter(action="changed").first()
    assert entry is not None
    assert (entry.before, entry.after) == ({"enabled": False}, {"enabled": True})


def test_wrong_numbers_are_told_at_their_field(browser: Client) -> None:
    form = {"bot_id": "white space", "max_jobs_per_pull": "101"}
    page = text_of(browser.post(place("botconfig", "add"), form))
    assert "Use letters, digits" in page
    assert "less than or equal to 100" in page
    assert not BotConfig.objects.exists()


def test_many_are_switched_at_once(browser: Client) -> None:
    bots = [actions.create_bot(SYSTEM, f"bot-{number}")[0] for number in range(3)]
    chosen = {"action": "disable", "_selected_action": [bot.pk for bot in bots[:2]]}
    page = text_of(browser.post(place("botconfig"), chosen, follow=True))
    assert "2 bot(s) disabled" in page
    assert list(BotConfig.objects.order_by("bot_id").values_list("enabled", flat=True)) == [False, False, True]


def test_the_list_shows_work_in_few_queries(browser: Client, django_assert_max_num_queries: object) -> None:
    make_policy()
    jobs = make_jobs(3)
    for number in range(30):
        actions.create_bot(SYSTEM, f"bot-{number:02}")
    assert jobs[0].lock_for_bot("bot-03")
    jobs[0].mark_failed("no", auto_retry=False)
    assert jobs[1].lock_for_bot("bot-03")
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        page = text_of(browser.get(place("botconfig")))
    row = page[page.index("bot-03") : page.index("bot-04")]
    assert re.findall(r">\s*([\d,]+)\s*<", row)[:3] == ["1", "0", "1"]


def test_bots_are_not_deleted(browser: Client) -> None:
    bot, _ = actions.create_bot(SYSTEM, "bot-1")
    assert browser.get(place("botconfig", "delete", bot.pk)).status_code == 403


@pytest.mark.parametrize(("role", "may_change"), [("operator", True), ("viewer", False)])
def test_only_admins_make_tokens(role: str, may_change: bool) -> None:
    bot, _ = actions.create_bot(SYSTEM, "bot-1")
    digest, browser = bot.token_hash, browser_of(role)
    assert browser.get(place("botconfig")).status_code == 200
    assert browser.get(place("botconfig", "add")).status_code == 403
    assert browser.post(place("botconfig", "rotate_token", bot.pk)).status_code == 403
    form = {"description": "", "max_jobs_per_pull": "7"}
    browser.post(place("botconfig", "change", bot.pk), form)
    bot.refresh_from_db()
    assert bot.token_hash == digest
    assert bot.max_jobs_per_pull == (7 if may_change else 100)
    browser.post(place("botconfig"), {"action": "disable", "_selected_action": [bot.pk]})
    bot.refresh_from_db()
    assert bot.enabled is not may_change
