"""`crawler bot …`: bots' accounts as a person types them."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from crawler.accounts.models import AuditEntry
from crawler.bots import tokens
from crawler.bots.models import BotConfig
from crawler.cli import app
from crawler.foundation.errors import Problem

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_second_setup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.cli.bot.load_django", lambda: None)


def run(*words: str) -> str:
    result = CliRunner().invoke(app, ["bot", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def shopper() -> BotConfig:
    return BotConfig.objects.get(bot_id="shopper")


def test_a_bot_is_made_and_its_token_shown_once() -> None:
    text = run("create", "shopper", "--description", "prices of shoes", "--max-jobs-per-pull", "7")
    token = text.split()[-1]
    assert text == f"bot    shopper\ntoken  {token}\n" and token.startswith("bot_shopper_")
    assert (shopper().description, shopper().max_jobs_per_pull) == ("prices of shoes", 7)
    assert shopper().token_hash == tokens.digest(token)
    assert AuditEntry.objects.filter(actor_kind="cli", action="created").exists()
    listed = run("list")
    assert "prices of shoes" in listed and token not in listed


def test_a_new_token_takes_the_place_of_the_old_one() -> None:
    old = run("create", "shopper").split()[-1]
    new = run("rotate", "shopper", "--reason", "leaked").strip()
    assert new != old and shopper().token_hash == tokens.digest(new)
    assert AuditEntry.objects.get(action="rotated token of").reason == "leaked"


def test_a_bot_is_switched_off_and_on() -> None:
    run("create", "shopper")
    assert run("disable", "shopper") == "shopper is disabled\n"
    assert not shopper().enabled
    assert run("disable", "shopper") == "shopper was disabled before\n"
    assert run("enable", "shopper") == "shopper is enabled\n"
    assert shopper().enabled
    assert AuditEntry.objects.filter(action="changed").count() == 2


@pytest.mark.parametrize("verb", ["rotate", "enable", "disable"])
def test_an_unknown_bot_is_named(verb: str) -> None:
    result = CliRunner().invoke(app, ["bot", verb, "nobody"])
    assert (result.exit_code, result.output) == (1, "crawler: there is no bot 'nobody'; see: crawler bot list\n")


def test_an_id_is_taken_or_odd() -> None:
    run("create", "shopper")
    with pytest.raises(Problem):
        run("create", "shopper")
    with pytest.raises(Problem):
        run("create", "no blanks")
