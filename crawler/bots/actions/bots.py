"""Bots and their tokens, each write with its line in the audit log."""

from __future__ import annotations

import time
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from crawler.accounts import audit
from crawler.accounts.actors import Actor
from crawler.bots import tokens
from crawler.bots.actions.recording import check_fields, facts, record_change
from crawler.bots.models import BotConfig
from crawler.bots.models.bot import MOST_JOBS_PER_PULL
from crawler.foundation.errors import Conflict

FACTS = ("bot_id", "description", "enabled", "max_jobs_per_pull")


@transaction.atomic
def create_bot(
    by: Actor,
    bot_id: str,
    *,
    description: str = "",
    enabled: bool = True,
    max_jobs_per_pull: int = MOST_JOBS_PER_PULL,
) -> tuple[BotConfig, str]:
    """The bot and its token, which exists only in this answer."""
    bot = BotConfig(bot_id=bot_id, description=description, enabled=enabled, max_jobs_per_pull=max_jobs_per_pull)
    check_fields(bot)
    if BotConfig.objects.filter(bot_id=bot_id).exists():
        raise Conflict("A bot with this id already exists", field="bot_id", reason=f"Bot '{bot_id}' already exists")
    made = tokens.generate(bot_id)
    bot.token_hash = made.digest
    bot.save(force_insert=True)
    BotConfig.objects.filter(pk=bot.pk).update(token_made_at=Now())
    audit.record(by, "created", bot, after=facts(bot, FACTS))
    return bot, made.text


@transaction.atomic
def rotate_token(by: Actor, bot: BotConfig, *, reason: str = "") -> str:
    """The new token; the old one is refused from now on. What the bot holds stays locked by it."""
    made = tokens.generate(bot.bot_id)
    BotConfig.objects.filter(pk=bot.pk).update(token_hash=made.digest, token_made_at=Now())
    bot.refresh_from_db()
    audit.record(by, "rotated token of", bot, reason=reason)
    return made.text


@transaction.atomic
def change_bot(by: Actor, bot: BotConfig, changes: dict[str, Any], *, reason: str = "") -> BotConfig:
    """Change description, enabled or max_jobs_per_pull."""
    bot = BotConfig.objects.select_for_update().get(pk=bot.pk)
    before = facts(bot, FACTS)
    for name, value in changes.items():
        setattr(bot, name, value)
    check_fields(bot)
    bot.save(update_fields=[name for name in FACTS if name != "bot_id"])
    record_change(by, bot, before, facts(bot, FACTS), reason)
    return bot


def set_enabled(by: Actor, bot: BotConfig, enabled: bool, *, reason: str = "") -> BotConfig:
    return change_bot(by, bot, {"enabled": enabled}, reason=reason)


NOTE_SECONDS = 60.0
MOST_NOTED = 10_000
NOTED: dict[str, float] = {}


def note_seen(digest: str) -> None:
    """`last_seen_at`, once a minute a process: a write a request would be too much."""
    now = time.monotonic()
    if now - NOTED.get(digest, -NOTE_SECONDS) < NOTE_SECONDS:
        return
    if len(NOTED) >= MOST_NOTED:
        NOTED.clear()
    NOTED[digest] = now
    BotConfig.objects.filter(token_hash=digest).update(last_seen_at=Now())
