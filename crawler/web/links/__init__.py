"""The links and images of a page.

``extract`` is what most callers want. A caller may rely on this:

- Every target comes once per kind of element, in the order of the page, as the URL that is fetched: resolved against
  the page's base by the WHATWG and HTML standards, without its fragment, http, https or ftp. What leads elsewhere
  (mailto:, javascript:, data:, ...) or cannot be parsed is left out.
- Two links to one place become one. It takes the first text there is, and is ``nofollow`` only if both are.
- Links and images are those that a browser without scripts would see: not those in comments, scripts and templates.
  The content of <noscript> counts. Forms are not followed.
- Nothing raises, whatever the page holds. Time and memory are bounded: of a page, MAX_CHARACTERS are read and at most
  MAX_LINKS links and MAX_IMAGES images returned.

There are three ways to read a page, and ``extract`` takes the first that gives a sure answer. ``scanning`` needs no
tree and is about as fast as building one without reading it, but needs Python 3.11.5. ``tree`` takes pages that are not
simple enough for that. ``skimming`` takes those on which building a tree would take too long. ``from_tree`` is for
callers who have a tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from crawler.web.charset import decode, encoding_from_label, encoding_of
from crawler.web.links.findings import MAX_IMAGES, MAX_LINKS, Findings
from crawler.web.links.head import head_of
from crawler.web.links.model import Image, Link, PageLinks
from crawler.web.links.refresh import Refresh
from crawler.web.links.refresh import parse as parse_refresh
from crawler.web.links.resolving import Hrefs, base_url
from crawler.web.links.skimming import skim
from crawler.web.links.tree import can_be_built, walk

# The scanner's grammar is made of possessive groups, which Python before 3.11.5 matches wrongly (gh-101955, gh-106052;
# Debian 12 has 3.11.2). There it is never imported, and only the tree can tell.
CAN_SCAN: Final = sys.version_info >= (3, 11, 5)
if CAN_SCAN:
    from crawler.web.links.scanning import scan
else:

    def scan(html: str) -> Findings | None:
        return None


__all__ = [
    "CAN_SCAN",
    "MAX_CHARACTERS",
    "MAX_IMAGES",
    "MAX_LINKS",
    "Image",
    "Link",
    "PageLinks",
    "Refresh",
    "can_be_built",
    "extract",
    "extract_decoded",
    "from_tree",
    "head_of",
    "parse_refresh",
    "scan",
]

MAX_CHARACTERS: Final = 8 * 1024 * 1024
_UTF_8: Final = frozenset(("utf-8", "utf8", "UTF-8", "UTF8"))


def extract(html: bytes | str, url: str, *, charset: str | None = None) -> PageLinks:
    """The links of the page at ``url``. ``charset`` is what its Content-Type header says, if anything."""
    if isinstance(html, str):
        return extract_decoded(_well_formed(html[:MAX_CHARACTERS]), url, charset)
    content_type = f"text/html;charset={charset}" if charset else None
    body = html[:MAX_CHARACTERS]
    text = body.decode("ascii") if _is_plain_ascii(body, charset) else decode(body, content_type).text
    return _page_links(_found(text), url, partial(encoding_of, body, content_type))


def extract_decoded(text: str, url: str, charset: str | None) -> PageLinks:
    """The same from a text that came out of a decoder, which leaves no lone surrogates."""
    return _page_links(_found(text[:MAX_CHARACTERS]), url, partial(_named_encoding, charset))


def from_tree(tree: LexborHTMLParser, url: str, *, charset: str | None = None) -> PageLinks:
    """The same from a page that is parsed already (see ``can_be_built`` before parsing)."""
    return _page_links(walk(tree), url, partial(_named_encoding, charset))


def _found(html: str) -> Findings:
    found = scan(html)
    if found is not None:
        return found
    return walk(_parsed(html)) if can_be_built(html) else skim(html)


def _parsed(html: str) -> LexborHTMLParser:
    # Without events lexbor does not copy the selected <option> into other places.
    return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)


def _page_links(found: Findings, url: str, encoding: Callable[[], str]) -> PageLinks:
    base = base_url(found.base_href, url)
    return found.page_links(base, Hrefs(base, encoding))


def _is_plain_ascii(body: bytes, charset: str | None) -> bool:
    """True for text that is the same in every encoding it may be in (with escapes it might be Japanese)."""
    is_free = charset is None or charset in _UTF_8
    return is_free and body.isascii() and b"\x1b" not in body and b"\0" not in body


def _well_formed(text: str) -> str:
    """Text without lone surrogates, which nothing that stores it could encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _named_encoding(charset: str | None) -> str:
    return (encoding_from_label(charset) if charset else None) or "utf-8"
