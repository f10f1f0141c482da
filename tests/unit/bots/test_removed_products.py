"""A product that was removed leaves nothing that a bot could be given."""

from __future__ import annotations

import pytest

from crawler.accounts.actors import SYSTEM
from crawler.bots import actions
from crawler.bots.models import CrawlJob, ProductURL
from crawler.foundation.errors import Conflict
from tests.api.bots import make_jobs

pytestmark = pytest.mark.django_db


def test_a_job_without_its_product_cannot_be_reset() -> None:
    make_jobs(1)
    job = CrawlJob.objects.get()
    assert job.lock_for_bot("a")
    job.mark_expired()
    actions.remove_product_url(SYSTEM, ProductURL.objects.get())
    with pytest.raises(Conflict, match="removed"):
        actions.reset_job(SYSTEM, job)
    job.refresh_from_db()
    assert job.status == "expired"
