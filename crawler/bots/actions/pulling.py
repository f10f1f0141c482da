"""A bot asks for work."""

from __future__ import annotations

from typing import Any

from django.db import connection

from crawler.bots.actions import claim_postgresql, claim_sqlite
from crawler.bots.answers import Credentials, Pull, Pulled, bot_disabled, wrong_credentials
from crawler.bots.models.bot import MOST_JOBS_PER_PULL
from crawler.bots.values import as_uuid

CLAIMS = {"postgresql": claim_postgresql.claim, "sqlite": claim_sqlite.claim}


def pull_jobs(credentials: Credentials, max_jobs: int = 10, domain: str | None = None) -> Pull:
    """Lock up to `max_jobs` pending jobs for the bot, highest priority first, then oldest. `domain`: only of domains
    whose name contains it. No job goes to two bots, and no host gets more than it may be asked for in the lock's time.
    """
    wanted = min(max_jobs, MOST_JOBS_PER_PULL)
    needle = domain.lower() if domain else None
    first = _claim(credentials, wanted, needle)
    if needle is None and first.is_short:
        first.add(_claim(credentials, first.most - len(first.jobs), None, by_host=True))
    return Pull(first.jobs, first.skipped)


class Claimed:
    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            raise wrong_credentials()
        bot_id, enabled, self.most, self.looked_at, self.skipped = rows[0][:5]
        if not enabled:
            raise bot_disabled(bot_id)
        self.jobs = [Pulled(as_uuid(row[5]), *row[6:]) for row in rows if row[5] is not None]

    @property
    def is_short(self) -> bool:
        """Hosts that have no time left, or are busy, stand at the head of the queue; others may wait behind them."""
        return len(self.jobs) < int(self.looked_at)

    def add(self, more: Claimed) -> None:
        self.jobs += more.jobs


def _claim(credentials: Credentials, most: int, domain: str | None, *, by_host: bool = False) -> Claimed:
    claim = CLAIMS[connection.vendor]
    return Claimed(claim(credentials.bot_id, credentials.digest, most, domain, by_host=by_host))
