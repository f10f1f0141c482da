"""Every write to crawls that people and programs ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F

from crawler.crawls.frontiers import open_frontier
from crawler.crawls.models import Crawl, CrawlRun
from crawler.crawls.states import CrawlStatus, RunStatus
from crawler.crawls.store import runs
from crawler.domains import claims, progress
from crawler.foundation.clock import database_now
from crawler.frontier.contract import Found
from crawler.web.hosts import canonical_domain
from crawler.web.urls import resolve, url_hash

SEED_PRIORITY = 1


@transaction.atomic
def create_crawl(name: str, seeds: Iterable[str], config: dict[str, Any], filters: dict[str, Any]) -> Crawl:
    """A crawl with its seeds in the frontier. Raises InvalidURL for a seed that is none."""
    urls = [resolve(seed, None) for seed in seeds]
    crawl = Crawl.objects.create(name=name, seed_urls=urls, config=config, filters=filters)
    add_urls(crawl, urls, by="seed", priority=SEED_PRIORITY)
    return crawl


@transaction.atomic
def add_urls(crawl: Crawl, urls: Iterable[str], *, by: str, priority: int) -> int:
    """Put URLs into the crawl's frontier; how many were new."""
    drop = frozenset(settings.CRAWLSPACE.tracking_params)
    now = database_now().timestamp()
    found = [
        Found(crawl.pk, url_hash(url, drop_params=drop), url, canonical_domain(url), 0, priority, None, by)
        for url in urls
    ]
    progress.remember({one.domain for one in found}, by, now)
    claims.lock_held("", (), {one.domain for one in found})  # in the order in which commits lock them
    put = open_frontier().put(found, now)
    progress.grow(put.pending_by_domain, now)
    Crawl.objects.filter(pk=crawl.pk).update(pages_queued=F("pages_queued") + len(put.added))
    return len(put.added)


@transaction.atomic
def start_crawl(crawl: Crawl) -> CrawlRun:
    """Set it running; a run that was interrupted goes on as a new one."""
    now = database_now()
    crawl.runs.filter(status=RunStatus.RUNNING).update(
        status=RunStatus.INTERRUPTED, finished_at=now, end_reason="taken up again"
    )
    Crawl.objects.filter(pk=crawl.pk).update(status=CrawlStatus.RUNNING, started_at=now, completed_at=None)
    return CrawlRun.objects.create(crawl=crawl)


def interrupt_crawl(crawl: Crawl, reason: str) -> None:
    """Stopped before its end; `start_crawl` takes it up again."""
    runs.end(crawl, CrawlStatus.PAUSED, RunStatus.INTERRUPTED, reason)


@transaction.atomic
def queue_again(crawl: Crawl) -> int:
    """Visit every page once more, and judge anew what was refused."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE url_frontier SET status = 'pending', failure_count = 0, next_crawl_after = NULL, refusal = NULL,"
            " refusal_detail = NULL WHERE crawl_id = %s AND (status IN ('completed', 'failed')"
            " OR status = 'blocked' AND refusal IN ('robots', 'content_type', 'guard'))",
            [crawl.pk],
        )
        count = int(cursor.rowcount)
        cursor.execute(
            "SELECT domain, count(*) FROM url_frontier WHERE crawl_id = %s AND status = 'pending' GROUP BY domain",
            [crawl.pk],
        )
        queued = dict(cursor.fetchall())
    for name in queued:
        _set_frontier_size(name)
    open_frontier().changed_elsewhere(list(queued))
    Crawl.objects.filter(pk=crawl.pk).update(
        pages_queued=sum(queued.values()), pages_crawled=0, pages_failed=0, pages_refused=0, bytes_downloaded=0
    )
    return count


def _set_frontier_size(domain: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE domains SET frontier_size = (SELECT count(*) FROM url_frontier f WHERE f.domain = domains.domain"
            " AND f.status = 'pending'), status = CASE WHEN status = 'exhausted' THEN 'pending' ELSE status END,"
            " next_crawl_after = CASE WHEN status = 'exhausted' THEN NULL ELSE next_crawl_after END WHERE domain = %s",
            [domain],
        )
