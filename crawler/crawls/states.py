"""The lives of a crawl and of a URL in its frontier, as tables."""

from __future__ import annotations

from enum import StrEnum


class CrawlStatus(StrEnum):
    CREATED = "created"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


CRAWL_TRANSITIONS: dict[CrawlStatus, frozenset[CrawlStatus]] = {
    CrawlStatus.CREATED: frozenset({CrawlStatus.SCHEDULED, CrawlStatus.RUNNING, CrawlStatus.CANCELLED}),
    CrawlStatus.SCHEDULED: frozenset({CrawlStatus.RUNNING, CrawlStatus.PAUSED, CrawlStatus.CANCELLED}),
    CrawlStatus.RUNNING: frozenset(
        {CrawlStatus.PAUSED, CrawlStatus.COMPLETED, CrawlStatus.FAILED, CrawlStatus.CANCELLED}
    ),
    CrawlStatus.PAUSED: frozenset({CrawlStatus.RUNNING, CrawlStatus.CANCELLED}),
    CrawlStatus.COMPLETED: frozenset({CrawlStatus.SCHEDULED, CrawlStatus.RUNNING}),
    CrawlStatus.FAILED: frozenset({CrawlStatus.SCHEDULED, CrawlStatus.RUNNING}),
    CrawlStatus.CANCELLED: frozenset({CrawlStatus.SCHEDULED, CrawlStatus.RUNNING}),
}


class UrlStatus(StrEnum):
    PENDING = "pending"
    CRAWLING = "crawling"
    COMPLETED = "completed"
    FAILED = "failed"
    BLOCKED = "blocked"


class RunStatus(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    FAILED = "failed"
