"""What must hold of a finished crawl, whatever happened on the way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from crawler.archive import open_reader
from tests.faults.crawl_processes import CrawlProcesses
from tests.faults.engine_site import Asked, Web, gaps


def assert_nothing_lost_or_twice(crawl: CrawlProcesses, web: Web) -> None:
    """Every URL of the site has one document, or its one refusal, failure or redirect; and every counter agrees."""
    pages, odd = len(web.page_urls), len(web.odd)
    documents = Counter(url for (url,) in crawl.rows("SELECT url FROM crawled_documents"))
    assert documents == Counter(web.page_urls)
    by_outcome = dict(crawl.rows("SELECT outcome, count(*) FROM crawl_log GROUP BY outcome"))
    assert by_outcome == {"page": pages, "failed": odd, "redirect": odd}, "every URL was dealt with once"
    assert crawl.one("SELECT count(*) FROM (SELECT DISTINCT url_hash FROM crawl_log) AS logged") == pages + 2 * odd
    frontier = dict(crawl.rows("SELECT status, count(*) FROM url_frontier GROUP BY status"))
    assert frontier == {"completed": pages + odd, "failed": odd, "blocked": odd}
    refused = {url for (url,) in crawl.rows("SELECT url FROM url_frontier WHERE refusal = 'robots'")}
    assert refused == web.odd_urls("private")
    counted = "SELECT status, pages_crawled, pages_failed, pages_refused, pages_queued FROM crawl_jobs"
    assert crawl.rows(counted) == [("completed", pages, odd, odd, 0)]
    assert crawl.one("SELECT sum(pages_crawled) FROM crawl_runs") == pages
    assert_domains_agree(crawl)


def assert_domains_agree(crawl: CrawlProcesses) -> None:
    """Each domain's counters are what its rows say, and nobody holds it."""
    per_domain = crawl.rows(
        "SELECT d.domain, d.pages_crawled, d.frontier_size, d.claimed_by,"
        " (SELECT count(*) FROM crawled_documents c WHERE c.domain = d.domain),"
        " (SELECT count(*) FROM url_frontier f WHERE f.domain = d.domain AND f.status = 'pending') FROM domains d"
    )
    for name, pages, queued, holder, documents, pending in per_domain:
        assert (pages, queued, holder) == (documents, pending, None), name


def assert_archive_whole(crawl: CrawlProcesses) -> None:
    """Every document's bytes are where its row says, and every file reads from beginning to end."""
    read = open_reader(crawl.archive)
    for url, path in crawl.rows("SELECT url, storage_path FROM crawled_documents"):
        record = read(path)
        assert (record.url, record.status) == (url, 200)
        assert record.body.endswith(b"</body></html>")
    files = list(crawl.archive.glob("*.warc.gz"))
    assert sum(map(records_in, files)) > 0
    assert {path.suffix for path in crawl.archive.iterdir()} <= {".gz"}, "nothing is marked as being written"


def records_in(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in ArchiveIterator(stream))


def assert_polite(log: list[Asked], web: Web, delay_seconds: float) -> None:
    """By the server's own log. A robots.txt may be asked for before the delay that it asks for is known."""
    for gap, asked in gaps(log):
        is_slow = asked.host == web.SLOW_HOST and asked.path != "/robots.txt"
        wanted = max(delay_seconds, web.crawl_delay_seconds) if is_slow else delay_seconds
        assert gap >= wanted, f"{asked.host}{asked.path}: {gap:.4f} s after the answer before"
