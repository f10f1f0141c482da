"""From the bytes of a sitemap to text, piece by piece: gzip undone, size bounded, encoding found.

Nothing here holds more than a few pieces of 64 KiB. Gzip is recognised by its first bytes, whatever the address says; a
stream that ends early or goes wrong gives what came before and then raises Broken.
"""

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from crawler.web.sitemaps.entries import Broken

PIECE: Final = 65_536
_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = zlib.MAX_WBITS | 16
_MAX_GZIP_LAYERS: Final = 3  # Servers that compress what is compressed already are common enough.
_SNIFFED: Final = 1_024
_UNZIPPED_AT_ONCE: Final = 8_192

_declared_encoding = re.compile(rb"""\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""").match
# No codec beside these: some of Python's are slow, and some are no text encodings at all.
_known_encoding = re.compile(
    r"(?:iso[-_]?8859[-_]?\d{1,2}|(?:windows|cp)[-_]?\d{3,4}|koi8[-_][rut]|latin[-_]?\d{1,2}|us[-_]?ascii"
    r"|gb(?:2312|k|18030)|big5(?:[-_]?hkscs)?|euc[-_](?:jp|kr)|shift[-_]?jis|mac[-_]?roman|tis[-_]?620)",
    re.IGNORECASE,
).fullmatch
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)


def text_pieces(body: bytes, max_bytes: int) -> Iterator[str]:
    """The text of the file, piece by piece; raises Broken at the end of what can be had when there should be more."""
    pieces: Iterator[bytes] = (body[start : start + PIECE] for start in range(0, len(body), PIECE))
    for _ in range(_MAX_GZIP_LAYERS):
        head, pieces = _looked_at(pieces, 2)
        if not head.startswith(_GZIP_MAGIC):
            break
        pieces = _bounded(_unzipped(pieces), max_bytes)
    head, pieces = _looked_at(_bounded(pieces, max_bytes), _SNIFFED)
    decoder = codecs.getincrementaldecoder(_encoding(head))("replace")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _looked_at(pieces: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, and all pieces as if nobody had looked; trouble while looking is raised in its turn."""
    seen: list[bytes] = []
    trouble: Broken | None = None
    try:
        while sum(map(len, seen)) < size and (piece := next(pieces, None)) is not None:
            seen.append(piece)
    except Broken as broken:
        trouble = broken
    return b"".join(seen)[:size], _again(seen, trouble, pieces)


def _again(seen: Iterable[bytes], trouble: Broken | None, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from seen
    if trouble:
        raise trouble
    yield from rest


def _unzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    unzip = zlib.decompressobj(_GZIP_WINDOW)
    # Little input at a time: what is left of it is copied on every round.
    for data in (piece[start : start + _UNZIPPED_AT_ONCE] for piece in pieces for start in _starts(piece)):
        while True:
            if unzip.eof:
                data = data.lstrip(b"\0")
                if data[:2] not in (_GZIP_MAGIC, _GZIP_MAGIC[:1]):
                    break  # Junk behind the end is nobody's.
                unzip = zlib.decompressobj(_GZIP_WINDOW)
            out = _unzip_some(unzip, data)
            if out:
                yield out
            data = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
            if not data and len(out) < PIECE:
                break
    if not unzip.eof:
        raise Broken("gzip: the stream ends early")


def _starts(piece: bytes) -> range:
    return range(0, len(piece), _UNZIPPED_AT_ONCE)


def _unzip_some(unzip: "zlib._Decompress", data: bytes) -> bytes:
    try:
        return unzip.decompress(data, PIECE)
    except zlib.error as error:
        raise Broken(f"gzip: {error}") from None


def _bounded(pieces: Iterator[bytes], max_bytes: int) -> Iterator[bytes]:
    left = max_bytes
    for piece in pieces:
        yield piece[:left]
        left -= len(piece)
        if left < 0:
            raise Broken(f"larger than {max_bytes} bytes")


def _encoding(head: bytes) -> str:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    declared = _declared_encoding(head)
    if declared and _known_encoding(label := declared[1].decode("ascii")):
        try:
            return codecs.lookup(label).name
        except LookupError:
            pass
    return "utf-8"
