"""Batches made by hand, for tests of the store alone."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from crawler.crawls import actions
from crawler.crawls.models import Crawl
from crawler.crawls.store import DatabaseStore
from crawler.engine.contract import Batch, Claimed, DocumentFacts, DomainNews, Outcome, PageOutcome
from crawler.frontier.contract import Entry, Found
from crawler.web.hosts import canonical_domain
from crawler.web.urls import url_hash

NOW = 1_800_000_000.0


def running_crawl(*seeds: str, name: str = "crawl", **config: Any) -> Crawl:
    crawl = actions.create_crawl(name, seeds, config, {})
    actions.start_crawl(crawl)
    crawl.refresh_from_db()
    return crawl


def found(crawl: Crawl, url: str, by: str = "link", **more: Any) -> Found:
    return Found(crawl.pk, url_hash(url), url, canonical_domain(url), more.pop("depth", 1), discovered_by=by, **more)


def facts(content: str = "x", **changes: Any) -> DocumentFacts:
    digest = sha256(content.encode()).hexdigest()
    plain = DocumentFacts(
        200, "text/html", len(content), None, "utf-8", None, None, digest, None, f"a.warc.gz#{len(content)}+9",
        "Title", 0, False,
    )  # fmt: skip
    return plain._replace(**changes)


class Worker:
    """A store with its claims, and what it would commit."""

    def __init__(self, crawl: Crawl, name: str = "worker") -> None:
        self.crawl = crawl
        self.store = DatabaseStore(name)
        self.run_id = self.store.running_crawls()[crawl.pk].run_id
        self.claimed: dict[str, Claimed] = {}

    def claim(self, limit: int = 100) -> list[str]:
        claimed = self.store.claim(limit, [self.crawl.pk])
        self.claimed |= {one.name: one for one in claimed}
        return sorted(one.name for one in claimed)

    def take(self, domain: str, limit: int = 100) -> list[Entry]:
        return self.store.take(domain, [self.crawl.pk], limit)

    def page(self, entry: Entry, **changes: Any) -> PageOutcome:
        """A stored page, unless the changes say otherwise."""
        told: dict[str, Any] = {"status_code": 200, "bytes_downloaded": 100, "document": facts(entry.url)} | changes
        outcome, status = told.pop("outcome", Outcome.PAGE), told.pop("status", "completed")
        return PageOutcome(entry, self.run_id, outcome, status, told.pop("fetched_at", NOW), **told)

    def batch(self, pages: list[PageOutcome], *links: Found) -> Batch:
        names = {page.entry.domain for page in pages}
        news = {name: DomainNews(self.claimed[name], NOW, 0, 0) for name in names if name in self.claimed}
        return Batch(pages, {(one.crawl_id, one.url_hash): one for one in links}, [], news)
