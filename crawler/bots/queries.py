"""Reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from crawler.bots.answers import Credentials, bot_disabled, wrong_credentials
from crawler.bots.models import BotConfig
from crawler.bots.values import as_uuid, uuid_list
from crawler.foundation.clock import clock_of
from crawler.frontier.bulk import members


class Lock(NamedTuple):
    status: str
    locked_by: str | None
    last_locked_by: str | None
    fence: int


def authenticated(credentials: Credentials) -> str:
    """The bot's id. Raises Unauthenticated, Forbidden."""
    bots = BotConfig.objects.filter(token_hash=credentials.digest)
    if credentials.bot_id is not None:
        bots = bots.filter(bot_id=credentials.bot_id)
    found = bots.values_list("bot_id", "enabled").first()
    if found is None:
        raise wrong_credentials()
    if not found[1]:
        raise bot_disabled(found[0])
    return found[0]


def locks_of(job_ids: Sequence[UUID]) -> dict[UUID, Lock]:
    rows = _of_jobs("SELECT id, status, locked_by, last_locked_by, fence FROM bot_jobs WHERE id {ids}", job_ids)
    return {as_uuid(row[0]): Lock(*row[1:]) for row in rows}


def held_urls(credentials: Credentials, job_ids: Sequence[UUID]) -> tuple[str, dict[UUID, str]]:
    """The bot, and the URLs of those of the jobs that it holds now."""
    bot_id = authenticated(credentials)
    rows = _of_jobs(
        "SELECT id, url FROM bot_jobs JOIN product_urls ON url_hash = product_url_hash WHERE id {ids}"
        f" AND status = 'locked' AND locked_until > {clock_of().now} AND locked_by = %s",
        job_ids,
        bot_id,
    )
    return bot_id, {as_uuid(row[0]): row[1] for row in rows}


def is_anything_pending() -> bool:
    """One look into an index."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM bot_jobs WHERE status = 'pending')")
        return bool(cursor.fetchone()[0])


def _of_jobs(statement: str, job_ids: Sequence[UUID], *more: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement.format(ids=members(connection.vendor, "uuid")), [uuid_list(job_ids), *more])
        return list(cursor.fetchall())
