"""The run that a crawl is on, and when it is over."""

from __future__ import annotations

from django.db import transaction

from crawler.crawls.models import Crawl, CrawlRun
from crawler.crawls.states import CrawlStatus, RunStatus
from crawler.foundation.clock import database_now


def run_of(crawl: Crawl) -> str:
    """The run that is under way, or a new one."""
    run = crawl.runs.filter(status=RunStatus.RUNNING).order_by("-started_at").first()
    return str((run or CrawlRun.objects.create(crawl=crawl)).pk)


def finish_if_idle(crawl: Crawl) -> bool:
    """A crawl is over when every URL was dealt with, or its page budget is used up."""
    limit = (crawl.config or {}).get("max_pages")
    is_spent = limit is not None and crawl.pages_crawled >= limit
    if crawl.pages_queued > 0 and not is_spent:
        return False
    end(
        crawl,
        CrawlStatus.COMPLETED,
        RunStatus.COMPLETED,
        "page budget used up" if is_spent else "nothing left to fetch",
    )
    return True


@transaction.atomic
def end(crawl: Crawl, status: CrawlStatus, run_status: RunStatus, reason: str) -> None:
    """Only a running crawl ends; somebody else may have ended it a moment ago."""
    now = database_now()
    completed_at = now if status is CrawlStatus.COMPLETED else None
    changed = Crawl.objects.filter(pk=crawl.pk, status=CrawlStatus.RUNNING).update(
        status=status, completed_at=completed_at
    )
    if changed:
        crawl.runs.filter(status=RunStatus.RUNNING).update(status=run_status, finished_at=now, end_reason=reason)
