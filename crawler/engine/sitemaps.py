"""A site's sitemaps: those its robots.txt names, or /sitemap.xml, and what they name in turn."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Final

from crawler.engine.contract import CrawlRules
from crawler.engine.reading import body_of
from crawler.engine.robots import REDIRECTS
from crawler.fetch.outcome import Failure, Request, Response
from crawler.frontier.contract import DEFAULT_PRIORITY, Entry
from crawler.web import sitemaps, urls
from crawler.web.sitemaps import SitemapEntry

MAX_FILES: Final = 200
MAX_URLS: Final = 500_000
MAX_HOPS: Final = 5
TIMEOUT_SECONDS: Final = 60.0

Answer = Response | Failure
Meet = Callable[[SitemapEntry], None]


def named_in(sitemap_urls: Iterable[str], origin: str) -> list[str]:
    """Where to begin: what robots.txt names, or else the usual place."""
    found = []
    for named in sitemap_urls:
        try:
            found.append(urls.resolve(named, f"{origin}/"))
        except urls.InvalidURL:
            continue
    return found or [f"{origin}/sitemap.xml"]


def read_sitemaps(begin: list[str], rules: CrawlRules, meet: Meet) -> Generator[Request, Answer, int]:
    """Hands every page to `meet`; how many there were. Each file is read once, so circles end."""
    waiting, known, pages = list(begin), set(begin), 0
    while waiting and len(known) <= MAX_FILES and pages < MAX_URLS:
        url = waiting.pop(0)
        body = yield from _fetched(url, rules)
        if body is None:
            continue
        for entry in sitemaps.parse(body, url):
            if not entry.is_sitemap:
                meet(entry)
                pages += 1
            elif entry.loc not in known and len(known) < MAX_FILES:
                known.add(entry.loc)
                waiting.append(entry.loc)
    return pages


def _fetched(url: str, rules: CrawlRules) -> Generator[Request, Answer, bytes | None]:
    for _ in range(MAX_HOPS + 1):
        headers = (("User-Agent", rules.user_agent), *rules.headers_for(url))
        answer = yield Request(url, headers, TIMEOUT_SECONDS, sitemaps.MAX_BYTES, rules.proxy)
        if isinstance(answer, Failure):
            return None
        if answer.status not in REDIRECTS or not answer.location:
            return body_of(answer, sitemaps.MAX_BYTES).content if 200 <= answer.status < 300 else None
        try:
            url = urls.resolve(answer.location, url)
        except urls.InvalidURL:
            return None
    return None


def as_entry(crawl_id: int, domain: str) -> Entry:
    """Stands for the site itself, one step before its first page."""
    return Entry(0, crawl_id, "", "", domain, -1, DEFAULT_PRIORITY, 0, 0, 0)


def priority_of(entry: SitemapEntry) -> int:
    """The sitemap's 0.0 to 1.0 as our 10 to 1; the middle where it says nothing."""
    if entry.priority is None:
        return DEFAULT_PRIORITY
    return max(1, min(10, 10 - round(entry.priority * 9)))
