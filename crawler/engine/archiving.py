"""Answers into the archive: whole the first time, as a revisit when the same bytes come again."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, NamedTuple

from crawler.archive.contract import Archive, Capture, Location, Original
from crawler.engine.contract import Validators
from crawler.engine.reading import Body
from crawler.fetch.outcome import Response, Truncation
from crawler.frontier.contract import Entry

CONTENTS_REMEMBERED: Final = 50_000
WARC_TRUNCATION: Final = {Truncation.LENGTH: "length", Truncation.INCOMPLETE: "disconnect"}


class Kept(NamedTuple):
    """`document` is where the content can be read, `record` what was written now; a revisit has no content."""

    document: str
    record: str


class Archivist:
    """Remembers the newest contents; older ones are written once more, which costs space and nothing else."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._seen: dict[str, tuple[str, float, Location]] = {}

    def keep(self, entry: Entry, answer: Response, began: float, content_hash: str, body: Body) -> Kept:
        digest = sha256(answer.body).hexdigest() if body.was_encoded else content_hash
        capture = _capture(entry, answer, began, digest)
        seen = self._seen.get(digest)
        if seen is not None and answer.body:
            url, fetched_at, location = seen
            original = Original(url, datetime.fromtimestamp(fetched_at, UTC), location, digest)
            return Kept(str(location), str(self._archive.add_revisit(capture, original)))
        location = self._archive.add(capture)
        self._remember(digest, answer.url, began, location)
        return Kept(str(location), str(location))

    def keep_unchanged(self, entry: Entry, answer: Response, began: float, before: Validators) -> str:
        """A page that is as it was when it was stored last."""
        digest = before.content_hash or ""
        location = _place(before.storage_path)
        original = Original(entry.url, datetime.fromtimestamp(before.crawled_at or 0, UTC), location, digest)
        return str(self._archive.add_revisit(_capture(entry, answer, began, digest), original))

    def _remember(self, digest: str, url: str, began: float, location: Location) -> None:
        if len(self._seen) >= CONTENTS_REMEMBERED:
            self._seen.pop(next(iter(self._seen)))
        self._seen[digest] = (url, began, location)


def _capture(entry: Entry, answer: Response, began: float, digest: str) -> Capture:
    truncated = WARC_TRUNCATION.get(answer.truncated) if answer.truncated else None
    return Capture(
        answer.url, datetime.fromtimestamp(began, UTC), answer.sent, answer.header_block, answer.body, digest,
        answer.address, answer.seconds, truncated, {"hopsFromSeed": entry.depth},
    )  # fmt: skip


def _place(storage_path: str | None) -> Location | None:
    try:
        return Location.parse(storage_path) if storage_path else None
    except ValueError:
        return None
