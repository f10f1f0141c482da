"""The run that a crawl is on, and when it is over."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q

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
    if is_spent:
        return end(crawl, CrawlStatus.COMPLETED, RunStatus.COMPLETED, "page budget used up")
    # Asked for again with the change: another worker may have found something since the crawl was read.
    still_idle = Q(pages_queued__lte=0)
    return crawl.pages_queued <= 0 and end(
        crawl, CrawlStatus.COMPLETED, RunStatus.COMPLETED, "nothing left to fetch", only_if=still_idle
    )


@transaction.atomic
def end(crawl: Crawl, status: CrawlStatus, run_status: RunStatus, reason: str, *, only_if: Q | None = None) -> bool:
    """Only a running crawl ends; somebody else may have ended it a moment ago. Whether it was us."""
    now = database_now()
    completed_at = now if status is CrawlStatus.COMPLETED else None
    running = Crawl.objects.filter(only_if or Q(), pk=crawl.pk, status=CrawlStatus.RUNNING)
    if not running.update(status=status, completed_at=completed_at):
        return False
    crawl.runs.filter(status=RunStatus.RUNNING).update(status=run_status, finished_at=now, end_reason=reason)
    return True
