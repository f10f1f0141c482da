"""From bytes to what a page says: text, title, links, digest. Pure, and on the hot path."""

from __future__ import annotations

import html
import re
from typing import Final, NamedTuple

from crawler.fetch.decoding import decode as decode_content
from crawler.fetch.outcome import Response
from crawler.web import charset
from crawler.web.headers import combined_content_type

TITLE_WITHIN_CHARACTERS: Final = 65_536
LONGEST_TITLE: Final = 500
_title = re.compile(r"<title(?:\s[^>]{0,200})?>([^<]{0,5000})", re.IGNORECASE).search
HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})


class Body(NamedTuple):
    """A decoded body. `error` says what was wrong with its content encoding; what came before is kept."""

    content: bytes
    error: str | None
    was_encoded: bool
    is_opaque: bool = False  # encoded in a way that we do not know: there is nothing to read in it


class Reading(NamedTuple):
    text: str
    charset: str
    title: str | None


def body_of(response: Response, max_bytes: int) -> Body:
    encoding = response.headers.get("content-encoding")
    if not encoding or not response.body:
        return Body(response.body, None, False)
    decoded = decode_content(response.body, encoding, max_bytes=max_bytes)
    is_opaque = decoded.error is not None and decoded.body is response.body
    return Body(decoded.body, decoded.error, True, is_opaque)


class ContentTypes:
    """Media types of Content-Type headers; a site uses the same few, so they are parsed once."""

    __slots__ = ("_seen",)
    LIMIT: Final = 1000

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, str | None]] = {}

    def parse(self, value: str) -> tuple[str, str | None]:
        """The essence (`text/html`) and the charset, both in lower case; an empty essence when it is none."""
        found = self._seen.get(value)
        if found is None:
            media = combined_content_type(value)
            found = (media.essence, media.parameters.get("charset")) if media else ("", None)
            if len(self._seen) >= self.LIMIT:
                self._seen.clear()
            self._seen[value] = found
        return found


def read_page(content: bytes, content_type: str | None) -> Reading:
    if content.isascii() and b"\x1b" not in content and b"\0" not in content:
        text, encoding = content.decode("ascii"), "utf-8"
    else:
        decoded = charset.decode(content, content_type)
        text, encoding = decoded.text, decoded.encoding
    return Reading(text, encoding, title_of(text))


def title_of(text: str) -> str | None:
    found = _title(text, 0, TITLE_WITHIN_CHARACTERS)
    if not found:
        return None
    title = " ".join(html.unescape(found[1]).split())[:LONGEST_TITLE]
    return title.replace("\0", "") or None
