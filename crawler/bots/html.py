"""`raw_html` in the archive. Requests hand pages to one writing thread a process and wait until they are safe; those
that come while it writes are secured together."""

from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from crawler.archive import Archive, ArchiveUnavailable, Capture, RecordUnreadable, open_archive, read
from crawler.foundation.errors import NotFound, Unavailable

MOST_AT_ONCE = 256
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"


class Page(NamedTuple):
    captures: list[Capture]
    places: Future[list[str]]


def keep(bot_id: str, pages: Mapping[UUID, tuple[str, str]]) -> dict[UUID, str]:
    """The storage_path of each page, all of them safe. Raises Unavailable when the archive cannot be written now."""
    if not pages:
        return {}
    captures = [_capture(bot_id, job_id, url, text) for job_id, (url, text) in pages.items()]
    try:
        places = _writer(os.getpid()).write(captures)
    except ArchiveUnavailable as error:
        raise Unavailable(f"raw_html cannot be stored now: {error}", headers={"Retry-After": "5"}) from error
    return dict(zip(pages, places, strict=True))


def kept_page(storage_path: str | None) -> str:
    """The page that lies there. Raises NotFound, Unavailable, each with the reason."""
    if not storage_path:
        raise NotFound("No raw_html was sent with this result")
    try:
        record = read(settings.CRAWLSPACE.archive_url, storage_path)
    except RecordUnreadable as error:
        raise NotFound(f"The page cannot be read from the archive: {error}") from error
    except ArchiveUnavailable as error:
        raise Unavailable(f"The archive cannot be reached now: {error}") from error
    return record.body.decode("utf-8", "replace")


def _capture(bot_id: str, job_id: UUID, url: str, text: str) -> Capture:
    """What the bot got and sent on: the page, without the headers that it came with."""
    body = text.encode("utf-8", "replace")
    parts = urlsplit(url)
    request = f"GET {parts.path or '/'}{'?' if parts.query else ''}{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
    return Capture(
        url=url,
        fetched_at=datetime.now(UTC),
        request_block=request.encode("ascii", "replace"),
        response_block=HEAD,
        body=body,
        payload_sha256=hashlib.sha256(body).hexdigest(),
        extra={"submittedBy": bot_id, "job": job_id, "note": "submitted by a bot; headers were not recorded"},
    )


class Writer:
    def __init__(self) -> None:
        self.waiting: queue.SimpleQueue[Page] = queue.SimpleQueue()
        self.archive: Archive | None = None
        threading.Thread(target=self._run, name="raw-html-writer", daemon=True).start()

    def write(self, captures: list[Capture]) -> list[str]:
        page = Page(captures, Future())
        self.waiting.put(page)
        return page.places.result()

    def _run(self) -> None:
        while True:
            batch = [self.waiting.get()]
            while len(batch) < MOST_AT_ONCE and not self.waiting.empty():
                batch.append(self.waiting.get())
            self._secure(batch)

    def _secure(self, batch: list[Page]) -> None:
        try:
            archive = self.archive = self.archive or open_archive(settings.CRAWLSPACE.archive_url, prefix="bots")
            places = [[str(archive.add(capture)) for capture in page.captures] for page in batch]
            archive.secure()
        except Exception as error:  # noqa: BLE001 - whoever waits is told; the next page is tried again
            self.archive = self.archive if isinstance(error, ArchiveUnavailable) else None
            for page in batch:
                page.places.set_exception(error)
            return
        for page, found in zip(batch, places, strict=True):
            page.places.set_result(found)


@lru_cache(maxsize=1)
def _writer(process: int) -> Writer:
    """One a process, also after a fork."""
    return Writer()
