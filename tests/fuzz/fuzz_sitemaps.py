"""Fuzz sitemaps: ``python tests/fuzz/fuzz_sitemaps.py -max_total_time=60`` (needs atheris).

The first byte of the input says how it is wrapped: as it is, gzipped, or gzipped and cut.
"""

import gzip
import sys
from datetime import UTC
from importlib import import_module

from crawler.web.sitemaps import SitemapEntry, SitemapParse, parse

URL = "https://example.com/maps/sitemap.xml"
MAX_ENTRIES = 20


def one(data: bytes) -> None:
    """Whatever the bytes, entries are usable, limits hold, and nothing raises."""
    body = data[1:]
    if data[:1] < b"\x40":
        packed = gzip.compress(body, 1)
        body = packed if data[:1] < b"\x20" else packed[: len(packed) * 3 // 4]
    found = parse(body, URL, max_entries=MAX_ENTRIES, max_bytes=100_000)
    entries = list(found)
    assert len(entries) + found.skipped <= MAX_ENTRIES
    for entry in entries:
        _check(entry)
    assert (found.kind is None) <= (found.error is not None)
    _check_prefix(body, found, entries)


def _check(entry: SitemapEntry) -> None:
    for url in (entry.loc, *entry.images, *(alternate.url for alternate in entry.alternates)):
        assert url.startswith(("http://", "https://")) and url.isascii() and "#" not in url
    assert entry.lastmod is None or entry.lastmod.tzinfo is UTC
    assert entry.priority is None or 0 <= entry.priority <= 1


def _check_prefix(body: bytes, found: SitemapParse, entries: list[SitemapEntry]) -> None:
    """What is read of a cut file is the beginning of what is read of the whole."""
    if found.error is None and found.kind != "text":
        cut = list(parse(body[: len(body) // 2], URL, max_entries=MAX_ENTRIES))
        assert [entry.loc for entry in cut] == [entry.loc for entry in entries[: len(cut)]]


if __name__ == "__main__":
    atheris = import_module("atheris")  # has no types and is no dependency
    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
