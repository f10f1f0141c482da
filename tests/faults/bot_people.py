"""Run as a program beside the server: `prepare` makes bots and products, `bots` only bots; `meddle` is a second
scheduler in a hurry and a person who resets, gives up and extends jobs, until its standard input ends."""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from typing import Any

# Name, delay in ms, URLs, fields of its policy.
SITES: tuple[tuple[str, int, int, dict[str, Any]], ...] = (
    ("free.example", 10_000, 500, {"timeout_seconds": 2, "respect_host_limits": False}),
    ("free-again.example", 10_000, 250, {"timeout_seconds": 1, "respect_host_limits": False, "requeue_expired": True}),
    ("free-long.example", 10_000, 150, {"timeout_seconds": 4, "respect_host_limits": False, "max_retries": 2}),
    ("quick.example", 20, 250, {"timeout_seconds": 2, "max_retries": 1, "requeue_expired": True}),
    ("slow.example", 400, 100, {"timeout_seconds": 2, "priority": 20}),
    ("slower.example", 1500, 50, {"timeout_seconds": 3, "priority": 15, "max_retries": 2}),
)
# Of the jobs in each state, what a person does to some, how many in a round.
MEDDLING = (("expired", "reset", 4), ("locked", "extend", 1), ("locked", "reset", 1), ("locked", "give_up", 1))
GIVEN_UP = "given up by a person"


def make_bots(count: int) -> None:
    """Prints each bot's token."""
    from crawler.accounts.actors import SYSTEM
    from crawler.bots import actions

    print(json.dumps({f"bot{n}": actions.create_bot(SYSTEM, f"bot{n}")[1] for n in range(count)}))


def prepare(count: int) -> None:
    from crawler.bots import actions
    from crawler.bots.models import CrawlPolicy
    from crawler.domains.models import Domain

    for name, delay_ms, urls, fields in SITES:
        domain = Domain.objects.create(name=name, crawl_delay_ms=delay_ms)
        CrawlPolicy.objects.create(domain=domain, name="fault", frequency_hours=1, **fields)
        actions.add_product_urls(f"https://{name}/{number}" for number in range(urls))
    make_bots(count)


def meddle(seed: str) -> None:
    from django.db import DatabaseError, InterfaceError, connection

    stopping = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        stopping.set()

    threading.Thread(target=listen, daemon=True).start()
    chance = random.Random(seed)
    while not stopping.wait(0.2):
        try:
            make_everything_due()
            meddle_once(chance)
        except (DatabaseError, InterfaceError):
            connection.close()


def make_everything_due() -> None:
    """Days pass."""
    from django.db.models.functions import Now

    from crawler.bots import actions
    from crawler.bots.models import ProductURL

    ProductURL.objects.exclude(next_due_at=None).update(next_due_at=Now())
    actions.expire_overdue()
    actions.schedule_due()


def meddle_once(chance: random.Random) -> None:
    from crawler.bots.models import CrawlJob
    from crawler.foundation.errors import Conflict

    for status, verb, most in MEDDLING:
        found = list(CrawlJob.objects.filter(status=status)[:100])
        for job in chance.sample(found, min(most, len(found))):
            try:
                meddle_with(job, verb)
            except Conflict:
                pass  # somebody was faster


def meddle_with(job: Any, verb: str) -> None:
    from crawler.accounts.actors import SYSTEM
    from crawler.bots import actions

    if verb == "reset":
        actions.reset_job(SYSTEM, job)
    elif verb == "extend":
        actions.extend_lock(SYSTEM, job, 1)
    else:
        actions.force_fail_job(SYSTEM, job, reason=GIVEN_UP)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.project.settings")
    import django

    django.setup()
    {"bots": lambda value: make_bots(int(value)), "prepare": lambda value: prepare(int(value)), "meddle": meddle}[
        sys.argv[1]
    ](sys.argv[2])
