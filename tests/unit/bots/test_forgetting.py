"""Jobs that are over and old go; what they found stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from crawler.bots import actions, tasks
from crawler.bots.actions import forgetting
from crawler.bots.actions.forgetting import first_id_after
from crawler.bots.models import CrawlJob, CrawlResult
from crawler.foundation.clock import database_now
from tests.api.bots import Bot, make_jobs

pytestmark = pytest.mark.django_db


def age(job: CrawlJob, days: int, **fields: Any) -> None:
    """As if it had been made and ended so long ago."""
    then = database_now() - timedelta(days=days)
    CrawlJob.objects.filter(pk=job.pk).update(id=first_id_after(then), finished_at=then, **fields)


def test_old_jobs_go_and_results_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "BATCH", 1)
    make_jobs(5, respect_host_limits=False)
    bot = Bot()
    for job in bot.pull()[:3]:
        bot.submit(job["job_id"])
    old, older, young, *open_ones = CrawlJob.objects.order_by("-status", "id").reverse()
    age(old, 31)
    age(older, 400, status="failed")
    age(young, 29)
    age(open_ones[0], 500)
    assert actions.forget_old_jobs(0) == 0
    assert actions.forget_old_jobs(30) == 2
    assert CrawlJob.objects.count() == 3
    assert CrawlResult.objects.count() == 3


def test_the_scheduler_forgets_as_the_settings_say(settings: Any) -> None:
    make_jobs(1)
    bot = Bot()
    bot.submit(bot.pull()[0]["job_id"])
    age(CrawlJob.objects.get(), 5)
    assert tasks.forget_old() == "deleted 0 old jobs and 0 old webhook deliveries"
    settings.CRAWLSPACE = replace(settings.CRAWLSPACE, bot_jobs_keep_days=4)
    assert tasks.forget_old() == "deleted 1 old jobs and 0 old webhook deliveries"
