"""Full disks and a database that goes away: the worker says why it waits, keeps what it has, and goes on."""

from __future__ import annotations

import os
import random
import resource
import signal
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.faults.crawl_checks import assert_archive_whole, assert_nothing_lost_or_twice
from tests.faults.crawl_processes import CrawlProcesses
from tests.faults.engine_site import CAME, LoopbackSite, Web
from tests.faults.own_postgres import OwnPostgres
from tests.faults.platform import PATIENCE_SECONDS

MEGABYTE = 1024 * 1024
PAGES = 80


class HeavyWeb(Web):
    """Its pages hardly compress: a megabyte of archive for every ten."""

    def _page(self, page: int) -> str:
        ballast = b64encode(random.Random(page).randbytes(100_000)).decode()
        return super()._page(page).replace("<body>", f"<body><!-- {ballast} -->")


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[CrawlProcesses]:
    with CrawlProcesses(tmp_path) as made:
        yield made


@contextmanager
def served(web: Web) -> Iterator[LoopbackSite]:
    with LoopbackSite(web.answers, web.HOSTS) as site:
        web.port = site.port
        yield site


@pytest.fixture
def heavy_web() -> Iterator[Web]:
    web = HeavyWeb(PAGES)
    with served(web):
        yield web


def let_files_have(pid: int, size: int) -> None:
    """A limit on the size of its files stands for the full disk: a write stops in the middle, the next one fails."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def begin(crawl: CrawlProcesses, web: Web) -> None:
    crawl.prepare(web.url_of(0), allowed=web.domains, crawl_delay_ms=0)


def assert_whole(crawl: CrawlProcesses, web: Web) -> None:
    assert_nothing_lost_or_twice(crawl, web)
    assert_archive_whole(crawl)
    assert archived_urls(crawl.archive) == Counter(web.page_urls), "every page is in the archive once"


def archived_urls(folder: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for file in folder.glob("*.warc.gz"):
        with file.open("rb") as stream:
            records = (record for record in ArchiveIterator(stream) if record.rec_type == "response")
            found.update(record.rec_headers.get_header("WARC-Target-URI") for record in records)
    return found


@pytest.mark.postgresql
def test_a_full_archive(crawl: CrawlProcesses, heavy_web: Web) -> None:
    begin(crawl, heavy_web)
    worker = crawl.work()
    let_files_have(worker, 6 * MEGABYTE)
    crawl.wait_for_log(f"cannot write to the archive folder {crawl.archive}: File too large")
    assert "paused, tried again every" in crawl.log
    stored = crawl.one("SELECT count(*) FROM crawled_documents")
    assert 0 < stored < heavy_web.pages
    let_files_have(worker, resource.RLIM_INFINITY)
    assert crawl.wait(worker) == 0, crawl.log
    assert "going on: what was in the way is gone" in crawl.log
    assert_whole(crawl, heavy_web)


@pytest.mark.postgresql
def test_stopped_while_the_archive_is_full(crawl: CrawlProcesses, heavy_web: Web) -> None:
    begin(crawl, heavy_web)
    worker = crawl.work()
    let_files_have(worker, 6 * MEGABYTE)
    crawl.wait_for_log("File too large")
    os.kill(worker, signal.SIGTERM)
    assert crawl.wait(worker) == 0, crawl.log
    assert crawl.one("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == 0
    assert crawl.wait(crawl.work(frees_claims=False)) == 0, crawl.log
    assert_nothing_lost_or_twice(crawl, heavy_web)
    assert_archive_whole(crawl)


def test_a_full_disk_under_the_database(tmp_path: Path) -> None:
    """SQLite's log may grow no more. The archive's files are smaller and can still be written."""
    pids: list[int] = []
    web, log = Web(PAGES), tmp_path / "crawl.sqlite3-wal"
    with served(web) as site, CrawlProcesses(tmp_path, f"sqlite:///{tmp_path}/crawl.sqlite3") as crawl:
        begin(crawl, web)
        planned = site.plan(40, CAME, lambda: let_files_have(pids[0], log.stat().st_size))
        pids.append(crawl.work())
        assert planned.happened.wait(PATIENCE_SECONDS), crawl.log
        crawl.wait_for_log("the database cannot be used: disk I/O error")
        let_files_have(pids[0], resource.RLIM_INFINITY)
        assert crawl.wait(pids[0]) == 0, crawl.log
        assert_whole(crawl, web)


@pytest.fixture
def postgres() -> Iterator[OwnPostgres]:
    started = OwnPostgres()
    yield started
    started.services.stop()


def test_postgresql_restarts(tmp_path: Path, postgres: OwnPostgres) -> None:
    """Before anything was committed, and in the middle of the work."""
    web = Web(PAGES)
    with served(web) as site, CrawlProcesses(tmp_path, postgres.services.postgres_url) as crawl:
        begin(crawl, web)
        planned = [site.plan(1, CAME, postgres.stop), site.plan(45, CAME, postgres.stop)]
        worker = crawl.work()
        for stopped in planned:
            assert stopped.happened.wait(PATIENCE_SECONDS), crawl.log
            crawl.wait_for_log("the database cannot be used")
            crawl.logged.clear()
            postgres.start()
        assert crawl.wait(worker) == 0, crawl.log
        assert_whole(crawl, web)
