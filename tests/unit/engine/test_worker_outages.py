"""A store or an archive that fails now and then, at every single call: everything is done in the end, once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawler.archive import ArchiveUnavailable, open_archive
from crawler.archive.contract import Archive
from crawler.crawls.models import Crawl, CrawlLog, FrontierURL, PageBudget
from crawler.domains.models import Domain
from crawler.engine.contract import Batch, Committed, StoreUnavailable
from tests.faults.engine_site import Asked, Reply
from tests.unit.engine.in_process import LIMITS, Crawling, Once, Replies, SkippingStore, crawling, page

pytestmark = pytest.mark.django_db

HOSTS = ("127.0.0.1", "127.0.0.2")
CALLS = (
    "running_crawls", "claim", "renew", "take", "next_due", "validators", "fingerprints", "reserve", "commit",
    "release", "others_at_work", "finish_idle_crawls",
)  # fmt: skip


class FailingStore(SkippingStore):
    """Asks before every call whether it is to fail."""

    def __init__(self, fails: Callable[[str], bool]) -> None:
        super().__init__("worker")
        for name in CALLS:
            setattr(self, name, self._guarded(name, getattr(self, name), fails))

    def _guarded(self, name: str, call: Callable[..., Any], fails: Callable[[str], bool]) -> Callable[..., Any]:
        def guarded(*arguments: Any, **options: Any) -> Any:
            if fails(name):
                raise StoreUnavailable(f"gone at {name}")
            return call(*arguments, **options)

        return guarded


def site() -> Replies:
    """Two hosts that link to each other, with a failure that passes, one that does not, and a redirect."""
    front = page("/1", "/2", "/moody", "/missing", "/moved", title="front")
    moody = Once(Reply("not now", 500), page(text="well"))
    moved = Reply("", 301, {"Location": "/2"})

    def one(asked: Asked) -> Reply:
        others = [f"http://{host}:{asked.headers['host'].split(':')[1]}/3" for host in HOSTS]
        return page(*others, text="one")

    pages: dict[str, Any] = {"/": front, "/1": one, "/2": page("/3", text="2"), "/3": page(text="3")}
    return pages | {"/moody": moody, "/moved": moved}


PAGES = 5 + 1  # and /3 of the other host


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawling]:
    with crawling(tmp_path, site(), *HOSTS) as made:
        domains = [f"{host}:{made.site.port}" for host in HOSTS]
        made.create(filters={"allowed_domains": domains}, max_pages=20)
        yield made


def assert_done_once(crawl: Crawling) -> None:
    row = Crawl.objects.get()
    assert (row.pages_crawled, row.pages_failed, row.pages_queued, row.status) == (PAGES, 1, 0, "completed")
    logged = CrawlLog.objects.filter(outcome="page").values_list("url_hash", flat=True)
    assert len(logged) == len(set(logged)) == PAGES
    assert not FrontierURL.objects.filter(status="pending").exists()
    assert not Domain.objects.exclude(claimed_by=None).exists()
    assert sum(Domain.objects.values_list("pages_crawled", flat=True)) == PAGES
    assert not PageBudget.objects.exists()


@pytest.mark.parametrize("occurrence", [1, 2, 3])
@pytest.mark.parametrize("name", CALLS)
def test_any_one_call_may_fail(crawl: Crawling, name: str, occurrence: int) -> None:
    calls: list[str] = []

    def fails(called: str) -> bool:
        calls.append(called)
        return called == name and calls.count(name) == occurrence

    crawl.run(store=FailingStore(fails), limits=replace(LIMITS, renew_seconds=0.0))
    assert_done_once(crawl)
    assert name in calls or name == "others_at_work", "that one is asked only while there may be others"


@pytest.mark.parametrize("seed", range(5))
def test_every_third_call_may_fail(crawl: Crawling, seed: int) -> None:
    chance = random.Random(seed)
    crawl.run(store=FailingStore(lambda _: chance.random() < 0.3))
    assert_done_once(crawl)


class DoubtfulStore(SkippingStore):
    """Commits, and then the connection is gone before it could say so."""

    doubts = 2

    def commit(self, batch: Batch) -> Committed:
        done = super().commit(batch)
        self.doubts -= 1
        if self.doubts >= 0:
            raise StoreUnavailable("gone while committing")
        return done


def test_a_commit_whose_end_is_not_known_is_not_done_twice(crawl: Crawling) -> None:
    crawl.run(store=DoubtfulStore("worker"))
    assert_done_once(crawl)


class FullArchive:
    """The real one, on a disk that has no room for a while."""

    def __init__(self, archive: Archive, failures: int) -> None:
        self.archive, self.failures = archive, failures

    def secure(self) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise ArchiveUnavailable("cannot write to the archive folder /x: No space left on device")
        self.archive.secure()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.archive, name)


def test_while_the_archive_is_full_nothing_is_asked_for(
    crawl: Crawling, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive = FullArchive(open_archive(tmp_path, sync=False), failures=20)
    asked: set[int] = set()

    def watch() -> bool:
        if crawl.worker.committer.paused:
            assert crawl.progress.paused == "cannot write to the archive folder /x: No space left on device"
            asked.add(len(crawl.asked_at))
        return False

    crawl.run(watch, archive=archive)
    assert len(asked) <= 2, "what was under way came in, nothing else"
    assert caplog.messages.count("going on: what was in the way is gone") == 1
    assert sum("paused" in message for message in caplog.messages) == 1, "it says so once"
    assert crawl.progress.paused == ""
    assert_done_once(crawl)


def test_stopped_while_the_archive_is_full(crawl: Crawling, tmp_path: Path) -> None:
    archive = FullArchive(open_archive(tmp_path, sync=False), failures=10**9)
    crawl.run(lambda: crawl.progress.paused, archive=archive, limits=LIMITS)
    assert not Domain.objects.exclude(claimed_by=None).exists()
    assert CrawlLog.objects.count() == 0
    crawl.run()
    assert_done_once(crawl)
