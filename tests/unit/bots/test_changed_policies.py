"""What a change of a policy means for the jobs that wait."""

from __future__ import annotations

import pytest

from crawler.accounts.actors import SYSTEM
from crawler.bots import actions
from crawler.bots.models import CrawlJob
from tests.api.bots import make_jobs

pytestmark = pytest.mark.django_db


def test_fewer_attempts_than_a_job_had_already() -> None:
    policy = make_jobs(2, max_retries=5)
    tried, fresh = CrawlJob.objects.order_by("created_at", "pk")
    CrawlJob.objects.filter(pk=tried.pk).update(retry_count=3)
    actions.change_policy(SYSTEM, policy, {"max_retries": 1})
    tried.refresh_from_db()
    fresh.refresh_from_db()
    assert (tried.retry_count, tried.max_retries) == (3, 4), "it waits for another attempt, and that is its last"
    assert (fresh.retry_count, fresh.max_retries) == (0, 1)
    assert tried.lock_for_bot("a")
    tried.mark_failed("gone")
    assert (tried.status, tried.retry_count) == ("failed", 4)
