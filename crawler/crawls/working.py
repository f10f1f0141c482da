"""A worker put together from the platform's settings."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from django.conf import settings

from crawler.archive import ArchiveUnavailable, open_archive
from crawler.crawls.store import DatabaseStore
from crawler.engine.contract import StoreUnavailable
from crawler.engine.limits import Limits
from crawler.engine.lines import Lines
from crawler.engine.progress import Progress
from crawler.engine.worker import Worker
from crawler.fetch.client import Fetcher
from crawler.fetch.guard import Guard
from crawler.foundation.ids import short_id

if TYPE_CHECKING:  # an optional extra, and slow to load
    from crawler.fetch.browser import Renderer

PER_ADDRESS = 8  # requests in flight to one IP address, whatever names it has


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{short_id('w')[-8:]}"


def collect_seldom() -> None:
    """Pages are trees of tuples without circles: looking for circles so often would only cost time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


def make_renderer() -> Renderer:
    from crawler.fetch.browser import Renderer

    config = settings.CRAWLSPACE
    return Renderer(config.fetch_allowed_networks, user_agent=config.user_agent)


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
    collect_seldom()
    config = settings.CRAWLSPACE
    store = DatabaseStore(name or worker_name(), only)
    lines = Lines(
        Fetcher(Guard(config.fetch_allowed_networks), user_agent=config.user_agent, per_address=PER_ADDRESS),
        make_renderer,
    )
    archive = open_archive(config.archive_url)
    try:
        worker = Worker(
            store, lines, archive, drop_params=frozenset(config.tracking_params), limits=limits, progress=progress
        )
        if made is not None:
            made(worker)
        worker.run(stop, until_done=until_done)
    finally:
        lines.close()
        with suppress(StoreUnavailable):
            store.give_back()
        with suppress(ArchiveUnavailable):
            archive.close()
