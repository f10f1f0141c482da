"""Which archive a setting means."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from crawler import __version__
from crawler.archive.contract import Archive
from crawler.archive.disk import DiskShelf
from crawler.archive.objects import ObjectShelf, Options
from crawler.archive.writing import ROTATE_BYTES, WarcArchive

ABOUT = {"software": f"Crawlspace/{__version__}"}


def open_archive(
    where: str | Path,
    *,
    prefix: str = "crawl",
    rotate_bytes: int = ROTATE_BYTES,
    sync: bool = True,
    about: Mapping[str, object] = ABOUT,
    options: Options = (),
) -> Archive:
    """A folder (a path, or file:///…), or the URL of an object store: s3://bucket/prefix, gs://…, memory:///.

    `about` goes into every file's warcinfo record (software, operator, robots, http-header-user-agent), `options` to
    the store's client. Raises ArchiveUnavailable when the folder cannot be used.
    """
    folder = folder_of(where)
    shelf = DiskShelf(folder, sync=sync) if folder else ObjectShelf(str(where), options=options)
    return WarcArchive(shelf, prefix=prefix, rotate_bytes=rotate_bytes, about=about)


def folder_of(where: str | Path) -> Path | None:
    """The folder that is meant, or None for an object store."""
    if isinstance(where, Path) or "://" not in where:
        return Path(where)
    parts = urlsplit(where)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None
