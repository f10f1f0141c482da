"""The peer: Scrapy crawls a site in memory, following what LinkExtractor finds. A program of its own.

    python -m benchmarks.engine.scrapy_peer URL [PAGES]

It keeps nothing of a page. Its log, console, cookies, robots.txt and throttle are off, and it has sixteen requests
under way, which is its fastest on loopback. One JSON object comes out: pages, bytes, links, seconds from the opening of
the spider to the last page.
"""

import json
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "RETRY_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
}


class Documentation(scrapy.Spider):
    """Every page of one host, or the first so many."""

    name = "documentation"

    def __init__(self, url: str, limit: int, figures: dict[str, Any], **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = [url]
        self.extractor = LinkExtractor(allow_domains=[urlsplit(url).netloc])
        self.limit = limit
        self.figures = figures
        self.began = time.perf_counter()

    def parse(self, response: Response, **_: Any) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse) or response.status != 200:
            return
        links = self.extractor.extract_links(response)
        self._count(response, len(links))
        if self.figures["pages"] >= self.limit:
            raise CloseSpider("enough")
        for link in links:
            yield scrapy.Request(link.url)

    def _count(self, response: Response, links: int) -> None:
        figures = self.figures
        if figures["pages"] < self.limit:
            figures["pages"] += 1
            figures["bytes"] += len(response.body)
            figures["links"] += links
            figures["seconds"] = time.perf_counter() - self.began


def main(url: str, limit: str = "1000000") -> None:
    figures: dict[str, Any] = {"version": scrapy.__version__, "pages": 0, "bytes": 0, "links": 0, "seconds": 0.0}
    process = CrawlerProcess(SETTINGS)
    process.crawl(Documentation, url=url, limit=int(limit), figures=figures)
    process.start()
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
