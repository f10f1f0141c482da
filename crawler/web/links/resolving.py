"""From hrefs to URLs: the page's base, and two short ways for the plain hrefs that pages are full of.

The pages of a directory repeat the same hrefs (navigation, neighbours), so what plain ones mean is remembered by
directory. What is remembered is bounded: the latest directories, with a number of short hrefs each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Final

from crawler.web.charset import python_codec
from crawler.web.urls import InvalidURL, Resolver, parse, resolve
from crawler.web.urls.parsing import PLAIN_ORIGIN, crawlable, origin

DIRECTORIES_REMEMBERED: Final = 128
HREFS_REMEMBERED: Final = 512
ABSOLUTE_REMEMBERED: Final = 4096
_LONGEST_REMEMBERED: Final = 256
_MOST_PARENTS: Final = 16
_FOREIGN_BASES: Final = ("data:", "javascript:")

# A path in which the standard changes nothing but the dots it begins with: they are looked up in ``_by_dots``.
_plain_path = re.compile(r"([./]*+)([A-Za-z0-9_-][A-Za-z0-9_.~/-]*+)").fullmatch
_plain_page = re.compile(rf"({PLAIN_ORIGIN})(/[A-Za-z0-9_.~/-]*+)").fullmatch
_beyond_ascii = re.compile(r"[^\x00-\x7f]++")


def base_url(href: str | None, document_url: str) -> str:
    """The document base URL, by the HTML standard: ``href`` is that of the first <base> that has one."""
    if href is None:
        return document_url
    try:
        base = parse(href, document_url or None).href
    except InvalidURL:
        return document_url
    return document_url if base.startswith(_FOREIGN_BASES) else base


class Hrefs:
    """Resolves the hrefs of one page. ``encoding`` names the page's encoding, and is asked for only when it matters."""

    __slots__ = ("_base", "_directory", "_encoding", "_page", "_resolve")

    def __init__(self, base: str, encoding: Callable[[], str]) -> None:
        self._base = base
        self._encoding = encoding
        self._page = _serialised(base)
        path = self._page.partition("?")[0]
        self._directory = directory(path[: path.rfind("/") + 1])
        self._resolve: Callable[[str], str] | None = None

    def url(self, href: str) -> str:
        """The absolute URL without fragment, or an empty text where ``href`` leads to nothing that can be fetched."""
        return self._directory.urls.get(href) or self._directory.plain_url(href) or self._other(href)

    def urls(self, hrefs: Iterable[str]) -> list[str]:
        """``url`` of each."""
        known, plain_url, other = self._directory.urls.get, self._directory.plain_url, self._other
        return [known(href) or plain_url(href) or other(href) for href in hrefs]

    def _other(self, href: str) -> str:
        if not href:
            return self._page
        if not href.isascii():
            return self._resolved(self._query_encoded(href))
        if href.startswith(("https://", "http://")) and len(href) <= _LONGEST_REMEMBERED:
            return _absolute(href)
        return self._resolved(href)

    def _resolved(self, href: str) -> str:
        if self._resolve is None:
            self._resolve = _resolver(self._base)
        try:
            return self._resolve(href)
        except InvalidURL:
            return _ftp_url(href) if "ftp:" in href[:16].lower() else ""

    def _query_encoded(self, href: str) -> str:
        """The query of a link is sent in the encoding of the page it stands on."""
        path, mark, query = href.partition("?")
        if query.isascii() or (encoding := self._encoding()).startswith("utf-"):
            return href
        codec = python_codec(encoding)
        return path + mark + _beyond_ascii.sub(lambda run: _escaped(run[0], codec), query) if codec else href


def _resolver(base: str) -> Callable[[str], str]:
    """On a page whose base is no URL (or too long for one), only hrefs that stand on their own lead anywhere."""
    try:
        return Resolver(base)
    except InvalidURL:
        return resolve


def _ftp_url(href: str) -> str:
    """The other scheme we know."""
    try:
        url = parse(href).href
    except InvalidURL:
        return ""
    return url.partition("#")[0] if url.startswith("ftp://") else ""


def _escaped(text: str, codec: str) -> str:
    """Text as the encoding writes it, percent-encoded; characters that it lacks as numeric references."""
    try:
        octets = text.encode(codec)
    except UnicodeEncodeError:
        if len(text) == 1:
            return f"%26%23{ord(text)}%3B"
        return "".join(_escaped(character, codec) for character in text)
    return "".join(chr(octet) if 0x28 <= octet < 0x7F and octet not in b"<>" else f"%{octet:02X}" for octet in octets)


def _serialised(base: str) -> str:
    """The base as a URL that can be fetched, or an empty text."""
    try:
        plain = _plain_page(base) if len(base) <= _LONGEST_REMEMBERED else None
        return origin(plain[1]) + plain[2] if plain and "/." not in plain[2] else crawlable(base)
    except InvalidURL:
        return ""


class Directory:
    """What plain hrefs mean on the pages of a directory: ``urls`` holds those asked for already."""

    __slots__ = ("_by_dots", "urls")

    def __init__(self, url: str) -> None:
        self.urls: dict[str, str] = {}
        self._by_dots = _by_dots(url) if url else {}

    def plain_url(self, href: str) -> str:
        """The URL of a short plain path, and an empty text for every other href."""
        path = _plain_path(href)
        if path is None or len(href) > _LONGEST_REMEMBERED:
            return ""
        dots, rest = path.groups()
        directory = self._by_dots.get(dots)
        if directory is None or "/." in rest:
            return ""
        url = directory + rest
        if len(self.urls) < HREFS_REMEMBERED:
            self.urls[href] = url
        return url


directory = lru_cache(DIRECTORIES_REMEMBERED)(Directory)


def _by_dots(url: str) -> dict[str, str]:
    """Where the dots and slashes lead that an href may begin with. The root is its own parent."""
    root = "/".join(url.split("/", 3)[:3]) + "/"
    found = {"": url, "./": url, "/": root}
    for dots in accumulate(repeat("../", _MOST_PARENTS)):
        url = url[: url.rindex("/", 0, -1) + 1] if len(url) > len(root) else root
        found[dots] = url
    return found


@lru_cache(ABSOLUTE_REMEMBERED)
def _absolute(href: str) -> str:
    """An href with scheme and host means the same everywhere."""
    try:
        return _anywhere(href)
    except InvalidURL:
        return ""


_anywhere: Final = Resolver("https://anywhere.invalid/")
