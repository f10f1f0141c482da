"""What a sitemap lists, and how the texts in it become addresses, dates and numbers."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from crawler.web.dates import loose_date
from crawler.web.urls import InvalidURL, Resolver, resolve

Kind = Literal["urlset", "index", "rss", "atom", "text"]

MAX_VALUE_LENGTH: Final = 8_192  # characters of one address or date; the protocol allows 2,048
MAX_EXTRAS: Final = 1_000  # images and alternates kept of one entry

_FREQUENCIES = frozenset(("always", "hourly", "daily", "weekly", "monthly", "yearly", "never"))


class Broken(Exception):
    """Reading cannot go on; the text says why. Ends up in ``SitemapParse.error``."""


class Alternate(NamedTuple):
    """The same page in another language."""

    hreflang: str
    url: str


class SitemapEntry(NamedTuple):
    """One address. What the file does not say, or says in a way that means nothing, is None or empty."""

    loc: str
    lastmod: datetime | None = None  # always aware, in UTC; a bare date means its midnight
    changefreq: str | None = None  # one of the seven words of the protocol, in lower case
    priority: float | None = None  # 0.0 to 1.0
    images: tuple[str, ...] = ()
    alternates: tuple[Alternate, ...] = ()
    is_sitemap: bool = False  # True: another sitemap to read, named by an index


class Draft:
    """An entry being read: texts as they stand in the file."""

    loc = guid = lastmod = changefreq = priority = ""
    images: tuple[str, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()  # hreflang and address


class Editor:
    """Turns drafts into entries: resolves addresses, drops what has none, counts both and stops at the limit."""

    __slots__ = ("_directory", "_left", "_max_entries", "_own_host", "_own_scheme", "_resolve", "skipped")

    def __init__(self, url: str | None, *, max_entries: int, within_location: bool) -> None:
        self.skipped = 0
        self._left = self._max_entries = max_entries
        self._directory: str | None = None
        self._own_scheme = self._own_host = ""
        self._resolve: Callable[[str], str] = resolve
        try:
            self._resolve = Resolver(url or "")
            directory = self._resolve(".")
            self._directory = directory if within_location else None
            scheme, slashes, rest = directory.partition("//")
            self._own_scheme, self._own_host = scheme + slashes, rest.partition("/")[0]
        except InvalidURL:
            pass  # Without an address of the sitemap only absolute ones can be understood.

    def entry(self, draft: Draft, *, is_sitemap: bool) -> SitemapEntry | None:
        """The finished entry; None when its address is missing, invalid or outside the sitemap's location."""
        if self._left <= 0:
            raise Broken(f"more than {self._max_entries} entries")
        self._left -= 1
        loc = self.address(draft.loc)
        if loc is None or (self._directory and not is_sitemap and not loc.startswith(self._directory)):
            self.skipped += 1
            return None
        return SitemapEntry(
            loc,
            moment(draft.lastmod) if draft.lastmod else None,
            _frequency(draft.changefreq) if draft.changefreq else None,
            _priority(draft.priority) if draft.priority else None,
            self._images(draft.images) if draft.images else (),
            self._alternates(draft.alternates) if draft.alternates else (),
            is_sitemap,
        )

    def address(self, text: str) -> str | None:
        """The http(s) URL that the text means, or None."""
        if not text:
            return None
        if self._names_own_host(text):
            text = self._own_scheme + text
        try:
            return self._resolve(text)
        except InvalidURL:
            return None

    def _names_own_host(self, text: str) -> bool:
        """Whether this is ``www.example.com/page`` in the sitemap of www.example.com: no relative path, surely."""
        host = self._own_host
        return bool(host) and text.startswith(host) and text[len(host) : len(host) + 1] in ("", "/", "?", "#")

    def _images(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([image for image in map(self.address, texts) if image])

    def _alternates(self, texts: tuple[tuple[str, str], ...]) -> tuple[Alternate, ...]:
        resolved = [(hreflang, self.address(href)) for hreflang, href in texts]
        return tuple([Alternate(hreflang, href) for hreflang, href in resolved if href])


def moment(text: str) -> datetime | None:
    """A date in any of the usual forms; without a zone it counts as UTC."""
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is UTC:
            return found
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return loose_date(text)


def _frequency(text: str) -> str | None:
    lowered = text.lower()
    return lowered if lowered in _FREQUENCIES else None


def _priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None
