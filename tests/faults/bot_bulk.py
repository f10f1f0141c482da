"""Run as a program: what bots' data goes through in bulk, each command in a process of its own that may be told when to
kill itself. See fork_server."""

from __future__ import annotations

import os
import threading
from typing import Any

from tests.faults.fork_server import COMMANDS, FATAL, kill_in_write, main

BOT, TOKEN = "bulk", "bot_bulk_secret"
# What becomes of a lock that ended, by domain.
POLICIES: dict[str, dict[str, Any]] = {
    "waits.example": {},
    "again.example": {"requeue_expired": True},
    "gives-up.example": {"requeue_expired": True, "max_retries": 1},
}


def set_up() -> None:
    from crawler.bots.models import BotConfig, CrawlPolicy
    from crawler.bots.tokens import digest
    from crawler.domains.models import Domain
    from crawler.project.migrations import apply_migrations

    apply_migrations()
    BotConfig.objects.create(bot_id=BOT, token_hash=digest(TOKEN))
    for name, fields in POLICIES.items():
        domain = Domain.objects.create(name=name)
        CrawlPolicy.objects.create(domain=domain, name="bulk", respect_host_limits=False, **fields)


def import_urls(count: int, **death: Any) -> None:
    from crawler.bots.actions import products

    products.BATCH = count // 8
    die(**death)
    hosts = list(POLICIES)
    products.add_product_urls(f"https://{hosts[number % 3]}/{number}" for number in range(count))


def schedule(batch: int, **death: Any) -> None:
    from crawler.bots.actions import scheduling

    scheduling.BATCH = batch
    die(**death)
    scheduling.schedule_due()


def neglect(count: int) -> None:
    """So many jobs of each policy were pulled an hour ago."""
    from datetime import timedelta

    from django.utils import timezone

    from crawler.bots.models import CrawlJob, CrawlPolicy

    for policy in CrawlPolicy.objects.all():
        chosen = list(CrawlJob.objects.filter(policy=policy).values_list("pk", flat=True)[:count])
        held = {"locked_by": BOT, "last_locked_by": BOT, "locked_at": timezone.now() - timedelta(hours=1)}
        CrawlJob.objects.filter(pk__in=chosen).update(status="locked", fence=1, **held)


def expire(batch: int, **death: Any) -> None:
    from crawler.bots.actions import locks

    locks.EXPIRE_BATCH = batch
    die(**death)
    locks.expire_overdue()


def pull(count: int) -> None:
    from crawler.bots import actions

    for _ in range(count // 100):
        actions.pull_jobs(_credentials(), 100)


def answer(in_write: int | None = None, **death: Any) -> None:
    """Everything the bot holds, in batches of 50, with its page."""
    from decimal import Decimal

    from crawler.bots import actions
    from crawler.bots.answers import Submission
    from crawler.bots.models import CrawlJob

    held = list(CrawlJob.objects.filter(locked_by=BOT).order_by("pk").values_list("pk", flat=True))
    if in_write is not None:
        kill_in_write(in_write)
    die(**death)
    for at in range(0, len(held), 50):
        found = [
            Submission(key, True, price=Decimal(1), currency="EUR", title=str(key), raw_html=f"<p>{key}</p>")
            for key in held[at : at + 50]
        ]
        actions.submit_results(_credentials(), found)


def _credentials() -> Any:
    from crawler.bots.answers import Credentials
    from crawler.bots.tokens import digest

    return Credentials(BOT, digest(TOKEN))


def die(at_statement: int | None = None, moment: str = "before") -> None:
    """Before, in the middle of, or after a statement, the first being 1."""
    from django.db import connection

    seen = 0

    def count(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == at_statement and moment == "before":
            _kill()
        if seen == at_statement and moment == "in the middle":
            threading.Timer(0.003, _kill).start()
        result = execute(sql, params, many, context)
        if seen == at_statement:
            _kill()
        return result

    connection.execute_wrappers.append(count)


def _kill() -> None:
    os.kill(os.getpid(), FATAL)


COMMANDS |= {
    "set_up": set_up, "import_urls": import_urls, "schedule": schedule, "neglect": neglect, "expire": expire,
    "pull": pull, "answer": answer,
}  # fmt: skip

if __name__ == "__main__":
    main()
