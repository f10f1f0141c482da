"""A worker put together from the platform's settings."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Collection
from contextlib import suppress

from django.conf import settings

from crawler.archive import ArchiveUnavailable, open_archive
from crawler.crawls.store import DatabaseStore
from crawler.engine.contract import StoreUnavailable
from crawler.engine.progress import Progress
from crawler.engine.worker import Limits, Worker
from crawler.fetch.client import Fetcher
from crawler.fetch.guard import Guard
from crawler.foundation.ids import short_id


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{short_id('w')[-8:]}"


def work(
    stop: Callable[[], bool],
    *,
    only: Collection[int] | None = None,
    until_done: bool = False,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    made: Callable[[Worker], None] | None = None,
) -> None:
    """Crawl until `stop`, or until nothing is left. Claims are given back whatever happens, short of kill -9.

    `name` is what claims are made under; `made` gets the worker before it runs, to look at it, not to touch.
    """
    config = settings.CRAWLSPACE
    store = DatabaseStore(name or worker_name(), only)
    fetcher = Fetcher(Guard(config.fetch_allowed_networks), user_agent=config.user_agent, per_address=8)
    archive = open_archive(config.archive_url)
    try:
        worker = Worker(
            store, fetcher, archive, drop_params=frozenset(config.tracking_params), limits=limits, progress=progress
        )
        if made is not None:
            made(worker)
        worker.run(stop, until_done=until_done)
    finally:
        fetcher.close()
        with suppress(StoreUnavailable):
            store.give_back()
        with suppress(ArchiveUnavailable):
            archive.close()
