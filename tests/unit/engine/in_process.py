"""Crawls of a loopback site by a real worker, in this process and on the test's database.

Waiting costs nothing: whenever the worker has nothing under way, its clock is put forward to the next thing it would
do. `asked_at` has the times at which the site was asked, by that clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from django.db import connection

from crawler.archive import open_archive
from crawler.archive.contract import Archive
from crawler.crawls import actions
from crawler.crawls.models import Crawl, CrawlLog, Document, FrontierURL
from crawler.crawls.store import DatabaseStore
from crawler.engine.limits import Limits
from crawler.engine.progress import Progress
from crawler.engine.worker import Worker
from crawler.fetch.client import Fetcher
from tests.faults.engine_site import Answers, Asked, LoopbackSite, Reply
from tests.unit.fetch.loopback import loopback_fetcher

LIMITS = Limits(batch_seconds=0.2, control_seconds=0.02, full_disk_seconds=0.0, stop_seconds=2.0)
TRACKING = frozenset({"utm_source"})


class SkippingStore(DatabaseStore):
    """A store whose clock can be put forward."""

    def __init__(self, worker: str, only: Collection[int] | None = None) -> None:
        self.skipped = 0.0
        super().__init__(worker, only)

    def now(self) -> float:
        return super().now() + self.skipped


class Served(Protocol):
    @property
    def port(self) -> int: ...

    def url(self, path: str, host: str = ...) -> str: ...


SiteT = TypeVar("SiteT", bound=Served)


class InProcess(Generic[SiteT]):
    """One site, one crawl of it."""

    def __init__(self, site: SiteT, folder: Path) -> None:
        self.site = site
        self.folder = folder
        self.crawl: Crawl
        self.progress = Progress()
        self.store: SkippingStore
        self.worker: Worker
        self.skipped = 0.0
        self.asked_at: list[tuple[float, str]] = []

    def create(self, *seeds: str, filters: dict[str, Any] | None = None, **config: Any) -> Crawl:
        """A running crawl; seeds are paths of the site, or URLs."""
        config = {"crawl_delay_ms": 0, "timeout_seconds": 5} | config
        seeds = tuple(seed if "//" in seed else self.site.url(seed) for seed in seeds or ("/",))
        self.crawl = actions.create_crawl("unit", seeds, config, filters or {})
        actions.start_crawl(self.crawl)
        return self.crawl

    def run(
        self,
        stop: Callable[[], object] = lambda: False,
        *,
        until_done: bool = True,
        limits: Limits = LIMITS,
        store: SkippingStore | None = None,
        archive: Archive | None = None,
        name: str = "worker",
    ) -> None:
        """Until the crawl has nothing left, or `stop` says so. A later run goes on at the time this one ends."""
        self.store = store or SkippingStore(name)
        self.store.skipped = self.skipped
        opened = archive or open_archive(self.folder, sync=False)
        try:
            with loopback_fetcher() as fetcher:
                self.worker = Worker(
                    self.store, fetcher, opened, drop_params=TRACKING, limits=limits, progress=self.progress
                )
                self.worker.run(lambda: bool(stop()) or self._skip(fetcher), until_done=until_done)
        finally:
            self.store.give_back()
            opened.close()
            self.skipped = self.store.skipped

    def _skip(self, fetcher: Fetcher) -> bool:
        """Put the clock forward to what is next. Never stops the worker."""
        ahead = self.worker.rota.next_at() - self.store.now()
        if not fetcher.in_flight and 0 < ahead < float("inf") and not self.worker.committer.paused:
            self.store.skipped += ahead
        return False

    # What came of it.

    def frontier(self, path: str) -> FrontierURL:
        return FrontierURL.objects.get(url=self.site.url(path))

    def statuses(self) -> dict[str, str]:
        """Path -> what became of it; a refusal by its reason."""
        rows = FrontierURL.objects.order_by("id").values_list("url", "status", "refusal")
        return {path_of(url): refusal or status for url, status, refusal in rows}

    def document(self, path: str) -> Document:
        return Document.objects.get(url=self.site.url(path))

    def documents(self) -> set[str]:
        return {path_of(url) for url in Document.objects.values_list("url", flat=True)}

    def outcomes(self, path: str) -> list[str]:
        rows = CrawlLog.objects.filter(page_url=self.site.url(path)).order_by("id")
        return list(rows.values_list("outcome", flat=True))

    def links(self, path: str) -> list[tuple[str, str]]:
        """Where a page's stored links lead, with their types."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT targets, types FROM page_outlinks WHERE source_id = %s", [self.frontier(path).pk])
            row = cursor.fetchone()
        if row is None:
            return []
        targets, types = (json_list(text) for text in row)
        urls = {one.pk: path_of(one.url) for one in FrontierURL.objects.filter(pk__in=targets)}
        return [
            (urls[number], kind) for number, kind in zip(targets, types or ["hyperlink"] * len(targets), strict=True)
        ]

    def times(self, path: str | None = None) -> list[float]:
        return [at for at, asked in self.asked_at if path is None or asked == path]


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def json_list(text: str) -> list[Any]:
    found: list[Any] = json.loads(text) if text else []
    return found


Crawling = InProcess[LoopbackSite]
Replies = Mapping[str, Reply | Callable[[Asked], Reply]]


def page(*links: str, title: str = "", text: str = "", **headers: str) -> Reply:
    """HTML with links: paths, URLs, or whole tags."""
    body = "".join(link if link.startswith("<") else f'<a href="{link}">{link}</a>' for link in links)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(f"<html><head><title>{title}</title></head><body>{body}<p>{text}</p></body></html>", headers=sent)


class Once:
    """Answers so many times with one reply, then with another."""

    def __init__(self, first: Reply, then: Reply, times: int = 1) -> None:
        self.first, self.then, self.left = first, then, times

    def __call__(self, asked: Asked) -> Reply:
        self.left -= 1
        return self.first if self.left >= 0 else self.then


def pages(by_path: Replies) -> Answers:
    """A site by its paths. Without a robots.txt there are no rules; what is not there is a 404."""

    def answer(asked: Asked) -> Reply:
        found = by_path.get(asked.path, Reply("not here", 404))
        return found if isinstance(found, Reply) else found(asked)

    return answer


@contextmanager
def crawling(folder: Path, by_path: Replies | Answers, *hosts: str) -> Iterator[Crawling]:
    """A crawl of a site that is given by its paths, or by a function that answers."""
    answers = by_path if callable(by_path) else pages(by_path)

    def noting(asked: Asked) -> Reply:
        crawl.asked_at.append((crawl.store.now(), asked.path))
        return answers(asked)

    with LoopbackSite(noting, hosts or ("127.0.0.1",)) as site:
        crawl: Crawling = InProcess(site, folder)
        yield crawl
