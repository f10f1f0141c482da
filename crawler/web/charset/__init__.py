"""The text of a page from its bytes, in the encoding browsers would take.

The order is the HTML standard's: byte order mark, then the ``charset`` of the Content-Type header, then the page's own
declaration in its first 1024 bytes, then detection, then windows-1252. As in browsers, a ``<meta>`` further down still
counts when nothing came before it; we look for it in the first 64 KiB. Two additions: UTF-32 is understood with a mark
or a header (browsers refuse it), and undeclared bytes that are valid UTF-8 are taken as UTF-8.

Nothing raises and nothing is longer than the body: what cannot be decoded becomes U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

from crawler.web.charset.decoders import decode_as, python_codec
from crawler.web.charset.detection import detect
from crawler.web.charset.prescan import PRESCAN_BYTES, prescan
from crawler.web.encoding_labels import encoding_from_label
from crawler.web.headers.media_types import combined_content_type

__all__ = ["Decoded", "decode", "decode_as", "detect", "encoding_from_label", "encoding_of", "prescan", "python_codec"]

LATE_META_BYTES = 64 * 1024

# UTF-32 before UTF-16: the little-endian mark of the one begins with that of the other.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32le"),
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_UTF_32 = {
    "utf-32": "utf-32be",
    "utf-32be": "utf-32be",
    "utf-32le": "utf-32le",
}  # big-endian unless marked, as RFC 2781
_LONGEST_REMEMBERED = 200  # characters of a header
_HEADER_NAME = re.compile(r"\s*content-type\s*:", re.IGNORECASE)


class Decoded(NamedTuple):
    """``encoding`` is the name of the Encoding Standard in lower case, such as ``utf-8`` or ``windows-1252``."""

    text: str
    encoding: str


def decode(body: bytes, content_type: str | None = None, *, tld: str | None = None) -> Decoded:
    """The text of a body. ``tld`` is the last label of its host (``hu``) and helps where nothing is declared."""
    mark, marked_encoding = _mark(body)
    encoding = marked_encoding or _from_header(content_type) or _from_page(body) or detect(body, tld)
    return Decoded(decode_as(body[len(mark) :] if mark else body, encoding), encoding)


def encoding_of(body: bytes, content_type: str | None = None, *, tld: str | None = None) -> str:
    """The encoding ``decode`` would take."""
    return _mark(body)[1] or _from_header(content_type) or _from_page(body) or detect(body, tld)


def _mark(body: bytes) -> tuple[bytes, str | None]:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return mark, encoding
    return b"", None


def _from_header(content_type: str | None) -> str | None:
    if not content_type:
        return None
    return _known_charset(content_type) if len(content_type) <= _LONGEST_REMEMBERED else _charset(content_type)


def _charset(content_type: str) -> str | None:
    media_type = combined_content_type(_HEADER_NAME.sub("", content_type, count=1))
    label = media_type.parameters.get("charset") if media_type else None
    return (encoding_from_label(label) or _UTF_32.get(label.strip().lower())) if label else None


_known_charset = lru_cache(1024)(_charset)  # servers send the same few values over and over


def _from_page(body: bytes) -> str | None:
    declared = prescan(body[:PRESCAN_BYTES])
    if declared or len(body) <= PRESCAN_BYTES:
        return declared
    head = body[:LATE_META_BYTES]
    return prescan(head) if b"charset" in head.lower() else None
