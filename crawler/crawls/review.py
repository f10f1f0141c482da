"""What came of a crawl, for the people who asked for it: sums, reasons, errors, domains left alone. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Min, Q

from crawler.crawls.models import Crawl, CrawlRun, FrontierURL
from crawler.crawls.states import UrlStatus
from crawler.domains.models import Domain
from crawler.domains.states import DomainStatus
from crawler.foundation.clock import database_now

GROUPS_SHOWN = 5
DOMAINS_SHOWN = 100


class ErrorGroup(NamedTuple):
    """Failed URLs that failed alike."""

    error: str
    urls: int
    example: str


class LeftAlone(NamedTuple):
    """A domain with URLs to fetch that is not asked for now."""

    domain: str
    why: str
    until: datetime | None
    urls: int


class RefusedSeed(NamedTuple):
    url: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Review:
    pages: int
    failed: int
    refused: int
    bytes: int
    queued: int
    pages_this_run: int
    bytes_this_run: int
    reasons: dict[str, int]  # refused URLs by reason, most first
    errors: list[ErrorGroup]
    left_alone: list[LeftAlone]
    refused_seeds: list[RefusedSeed]


def review(crawl: Crawl, run: CrawlRun | None) -> Review:
    """`run` is the one to tell apart from the runs before it."""
    crawl.refresh_from_db()
    if run is not None:
        run.refresh_from_db()
    return Review(
        crawl.pages_crawled,
        crawl.pages_failed,
        crawl.pages_refused,
        crawl.bytes_downloaded,
        crawl.pages_queued,
        run.pages_crawled if run else 0,
        run.bytes_downloaded if run else 0,
        reasons(crawl),
        errors(crawl),
        left_alone(crawl) if crawl.pages_queued > 0 else [],
        refused_seeds(crawl),
    )


def reasons(crawl: Crawl) -> dict[str, int]:
    rows = FrontierURL.objects.filter(crawl=crawl, status=UrlStatus.BLOCKED).values_list("refusal")
    counted = rows.annotate(count=Count("id")).order_by("-count")
    return {refusal or "unknown": count for refusal, count in counted}


def errors(crawl: Crawl) -> list[ErrorGroup]:
    failed = FrontierURL.objects.filter(crawl=crawl, status=UrlStatus.FAILED)
    rows = failed.values_list("last_status_code", "last_error").annotate(count=Count("id"), example=Min("url"))
    return [
        ErrorGroup(error or (f"HTTP {status}" if status else "unknown"), count, example)
        for status, error, count, example in rows.order_by("-count")[:GROUPS_SHOWN]
    ]


def refused_seeds(crawl: Crawl) -> list[RefusedSeed]:
    rows = FrontierURL.objects.filter(crawl=crawl, status=UrlStatus.BLOCKED, depth=0, discovered_by="seed")
    found = rows.values_list("url", "refusal", "refusal_detail")[:GROUPS_SHOWN]
    return [RefusedSeed(url, reason or "unknown", detail or "") for url, reason, detail in found]


def left_alone(crawl: Crawl) -> list[LeftAlone]:
    """The most URLs first."""
    pending = FrontierURL.objects.filter(crawl=crawl, status=UrlStatus.PENDING).values_list("domain")
    waiting = dict(pending.annotate(count=Count("id")).order_by("-count")[:DOMAINS_SHOWN])
    alone = Q(status__in=[DomainStatus.BLOCKED, DomainStatus.UNREACHABLE]) | Q(next_crawl_after__gt=database_now())
    rows = Domain.objects.filter(alone, name__in=list(waiting))
    found = [LeftAlone(row.name, row.block_reason or "", row.next_crawl_after, waiting[row.name]) for row in rows]
    return sorted(found, key=lambda one: -one.urls)
