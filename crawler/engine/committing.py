"""The batch under way, and how it becomes durable: first the archive, then one commit."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from time import monotonic

from crawler.archive.contract import Archive, ArchiveUnavailable
from crawler.engine.contract import Batch, Committed, PageOutcome, RobotsFile, Store, StoreUnavailable
from crawler.engine.site import Site

log = logging.getLogger(__name__)


class Committer:
    """While the archive or the store cannot be written, the batch is kept and `paused` says why."""

    def __init__(
        self, store: Store, archive: Archive, *, batch_pages: int, batch_seconds: float, patience_seconds: float
    ) -> None:
        self.store = store
        self.archive = archive
        self.batch = Batch()
        self.began = monotonic()
        self.paused = ""
        self._batch_pages, self._batch_seconds, self._patience_seconds = batch_pages, batch_seconds, patience_seconds
        self._retry_at = 0.0
        self._securing = ThreadPoolExecutor(1, thread_name_prefix="archive")

    def add_page(self, page: PageOutcome) -> None:
        self._begin()
        self.batch.pages.append(page)

    def add_robots(self, domain: str, file: RobotsFile) -> None:
        self._begin()
        self.batch.robots.append((domain, file))

    def forget(self, domain: str) -> list[PageOutcome]:
        """Its claim is lost, so its pages are no longer ours to commit, not even under a new claim: whoever had it
        meanwhile may have stored them. What they led to stays found."""
        batch = self.batch
        gone = [page for page in batch.pages if page.entry.domain == domain]
        batch.pages = [page for page in batch.pages if page.entry.domain != domain]
        batch.robots = [(name, file) for name, file in batch.robots if name != domain]
        return gone

    def _begin(self) -> None:
        if not self.batch.pages and not self.batch.robots:
            self.began = monotonic()

    @property
    def has_news(self) -> bool:
        return bool(self.batch.pages or self.batch.robots or self.batch.found)

    @property
    def due_in(self) -> float:
        """Seconds until the batch has to be committed, or may be tried again."""
        if self.paused:
            return max(0.0, self._retry_at - monotonic())
        if len(self.batch.pages) >= self._batch_pages:
            return 0.0
        return max(0.0, self.began + self._batch_seconds - monotonic()) if self.has_news else float("inf")

    def commit(self, sites: Mapping[str, Site]) -> tuple[Batch, Committed] | None:
        """None when there was nothing, or it could not be done now."""
        batch = self.batch
        if not self.has_news:
            return None
        names = {page.entry.domain for page in batch.pages} | {domain for domain, _ in batch.robots}
        batch.domains = {name: sites[name].news() for name in names if name in sites}
        # The disk and the database work at the same time; nobody adds to the archive meanwhile.
        securing = self._securing.submit(self.archive.secure)
        batch.secured = securing.result
        try:
            committed = self.store.commit(batch)
        except (ArchiveUnavailable, StoreUnavailable) as error:
            # The connection may have ended after the commit and before its confirmation.
            batch.is_in_doubt |= isinstance(error, StoreUnavailable)
            wait([securing])
            self._pause(str(error))
            return None
        if self.paused:
            log.warning("going on: what was in the way is gone")
        self.paused, self.batch, self.began = "", Batch(), monotonic()
        return batch, committed

    def _pause(self, why: str) -> None:
        if why != self.paused:
            log.error("paused, tried again every %.0f s: %s", self._patience_seconds, why)
        self.paused = why
        self._retry_at = monotonic() + self._patience_seconds
