"""The addresses in a sitemap: XML, sitemap index, RSS, Atom or plain text, gzipped or not, told apart by content.

``parse`` never raises. It returns an iterator that reads as it goes, holding a few pieces of 64 KiB beside the body
itself; after the last entry its ``error`` says whether the file was read to its end, and ``kind`` what it was. A
broken, cut or oversized file gives the entries before the break. Entries with ``is_sitemap`` name further sitemaps.

Bounds: ``max_bytes`` of unpacked content (50 MB, the limit of the protocol), ``max_entries`` (50,000, likewise; skipped
ones count), 100 nested elements, 1,000 images and alternates an entry, 8,192 characters an address. Entities declared
in the file are refused, external ones are never fetched. Addresses are resolved against the sitemap's own, without
fragments; what gives no http(s) URL is left out and counted in ``skipped``. The protocol's rule that a sitemap speaks
only for its own directory is not enforced unless ``within_location`` is set: sites rarely keep to it.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from crawler.web.sitemaps.entries import Alternate, Broken, Editor, Kind, SitemapEntry
from crawler.web.sitemaps.lines import LineReader
from crawler.web.sitemaps.markup import MAX_DEPTH, MarkupReader
from crawler.web.sitemaps.unpacking import text_pieces

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_ENTRIES", "Alternate", "Kind", "SitemapEntry", "SitemapParse", "parse"]

MAX_BYTES: Final = 50 * 1024 * 1024
MAX_ENTRIES: Final = 50_000


class SitemapParse(Iterator[SitemapEntry]):
    """The entries of one sitemap, once; ``kind``, ``error`` and ``skipped`` are final after the last of them."""

    __slots__ = ("_editor", "_entries", "error", "kind")

    def __init__(self, body: bytes, editor: Editor, max_bytes: int) -> None:
        self.kind: Kind | None = None
        self.error: str | None = None
        self._editor = editor
        self._entries = self._read(body, max_bytes)

    @property
    def skipped(self) -> int:
        """Entries left out so far, for want of a usable address."""
        return self._editor.skipped

    def __next__(self) -> SitemapEntry:
        return next(self._entries)

    def _read(self, body: bytes, max_bytes: int) -> Iterator[SitemapEntry]:
        reader: MarkupReader | LineReader | None = None
        try:
            for text in text_pieces(body, max_bytes):
                if reader is None:
                    text = text.lstrip("\ufeff \t\r\n\v\f\0")
                    if not text:
                        continue
                    reader = (MarkupReader if text[0] == "<" else LineReader)(self._editor)
                reader.feed(text)
                self.kind = reader.kind
                yield from reader.ready
                reader.ready.clear()
                if reader.finished:
                    return
            if reader is None:
                raise Broken("empty")
            reader.close()
        except Broken as broken:
            self.error = str(broken)
            if reader:
                with suppress(Broken):
                    reader.salvage()
        if reader:
            self.kind = reader.kind
            yield from reader.ready


def parse(
    body: bytes,
    url: str | None,
    *,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
    within_location: bool = False,
) -> SitemapParse:
    """The entries of the sitemap ``body`` that was fetched from ``url``; see the module's text."""
    editor = Editor(url, max_entries=max_entries, within_location=within_location)
    return SitemapParse(body, editor, max_bytes)
