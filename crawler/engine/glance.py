"""A glance at a page instead of reading it: what is new on it, and nothing else.

For crawls that do not store links. Most links of a page were met before, and the same words in the same folder lead to
the same place. So for each folder the hrefs are remembered, as written, whose targets are in the frontier for good, or
can never be. Only the others are looked at, each in its own tag; a page without others costs a quarter of reading it.

No link is missed: a page with anything out of the ordinary is left to be read (other spellings of `href`, frames,
images, words to robots, elements whose content is not what it seems). What only looks like a link, such as one written
into another element's attribute, may be taken for one. The number of links is the number of distinct hrefs.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from html import unescape
from typing import Final, NamedTuple

from crawler.engine.known import KnownUrls
from crawler.web import links
from crawler.web.links import Link
from crawler.web.links.resolving import Hrefs

FOLDERS_REMEMBERED: Final = 1_000
HREFS_REMEMBERED: Final = 20_000  # of one folder
MOST_LOOKED_AT: Final = 8  # new links of a page; with more it is cheaper to read it
# In lower case: content that is no markup or does not count, and links that are no hrefs. By their first letters, which
# is how most tags are told apart at once.
_ODD: Final = (
    rb"t(?:extarea|emplate|itle)|s(?:tyle|vg|elect)|xmp|no(?:embed|frames)|plaintext|"
    rb"m(?:eta|ath)|link|base|iframe|frame|object|embed"
)
_odd_tag = re.compile(rb"<(?:%b)" % _ODD).search
_odd_or_image_tag = re.compile(rb"<(?:im(?:g|age)|source|picture|video|audio|%b)" % _ODD).search
ODD_IN_HEAD: Final = (b"<base", b"refresh", b"robots")
IMAGE_IN_HEAD: Final = b":image"

_hrefs = re.compile(rb'href="([^"#]*)').findall
_link_tags = re.compile(rb"<link[^>]*>", re.IGNORECASE).findall
_is_link_tag = re.compile(rb"<(?:a|area)\s[^<>]*>", re.IGNORECASE).fullmatch


class Glimpse(NamedTuple):
    new: tuple[Link, ...]  # without their texts
    links: int


class Folder:
    """What leads nowhere new from the pages of one folder."""

    __slots__ = ("hrefs", "tags")

    def __init__(self) -> None:
        self.hrefs: set[bytes] = {b""}
        self.tags: set[bytes] = set()


class Glance:
    """Of one crawl."""

    __slots__ = ("_folders", "_images_count")

    def __init__(self, *, images_count: bool) -> None:
        self._folders: OrderedDict[str, Folder] = OrderedDict()
        self._images_count = images_count

    def at(self, content: bytes, url: str, known: KnownUrls) -> Glimpse | None:
        """The links that are not known yet, or None when the page has to be read. `content` is UTF-8."""
        low = content.lower()
        end = low.find(b"</head>")
        if end < 0 or self._is_odd(low, end):
            return None
        hrefs = _hrefs(content, end)
        # Written otherwise (another quote, blanks, capitals) it would not be found above.
        if len(hrefs) != low.count(b"href", end):
            return None
        folder = self._folder(folder_of(url))
        tags = _link_tags(content, 0, end)
        if not folder.tags.issuperset(tags) and not _learn_tags(folder, tags, url, known):
            return None
        distinct = set(hrefs)
        new = _learn_hrefs(folder, distinct - folder.hrefs, url, known)
        found = _looked_at(content, end, new, url) if new else ()
        return None if found is None else Glimpse(found, len(distinct))

    def _is_odd(self, low: bytes, end: int) -> bool:
        if any(low.find(word, 0, end) >= 0 for word in ODD_IN_HEAD):
            return True
        if self._images_count:
            return low.find(IMAGE_IN_HEAD, 0, end) >= 0 or _odd_or_image_tag(low, end) is not None
        return _odd_tag(low, end) is not None

    def _folder(self, name: str) -> Folder:
        folder = self._folders.get(name)
        if folder is None:
            folder = self._folders[name] = Folder()
            if len(self._folders) > FOLDERS_REMEMBERED:
                self._folders.popitem(last=False)
        return folder


def _learn_hrefs(folder: Folder, hrefs: set[bytes], url: str, known: KnownUrls) -> list[bytes]:
    """Those that lead somewhere new; the others are remembered, unless they mean another thing on every page."""
    if not hrefs:
        return []
    resolver = Hrefs(url, lambda: "utf-8")
    new, old = [], set()
    for href in hrefs:
        text = href.decode("utf-8", "replace")
        target = resolver.url(unescape(text) if "&" in text else text)
        if target and (known.get(target) or 0) <= 0:
            new.append(href)
        elif text[:1] != "?":
            old.add(href)
    if len(folder.hrefs) < HREFS_REMEMBERED:
        folder.hrefs |= old
    return new


def _learn_tags(folder: Folder, tags: list[bytes], url: str, known: KnownUrls) -> bool:
    """True when no <link> leads to a page that is new; then they are remembered."""
    for tag in tags:
        for link in links.extract(tag, url).links:
            if link.is_page and (known.get(link.url) or 0) <= 0:
                return False
    if len(folder.tags) < HREFS_REMEMBERED:
        folder.tags.update(tags)
    return True


def _looked_at(content: bytes, end_of_head: int, hrefs: list[bytes], url: str) -> tuple[Link, ...] | None:
    """The links with these hrefs, each read from its own tag; None when that is not as simple as it should be."""
    if len(hrefs) > MOST_LOOKED_AT:
        return None
    tags: list[bytes] = []
    for href in hrefs:
        found = _tags_with(content, end_of_head, b'href="' + href)
        if found is None:
            return None
        tags.extend(found)
    return links.extract(b"</a>".join([*tags, b""]), url).links


def _tags_with(content: bytes, start: int, words: bytes) -> list[bytes] | None:
    """The tags of all links in which these words stand; None when they stand anywhere else, or may be hidden."""
    tags, at = [], content.find(words, start)
    while at >= 0:
        end = content.find(b">", at) + 1
        if content[at + len(words) : at + len(words) + 1] in (b'"', b"#"):
            tag = content[content.rfind(b"<", 0, at) : end]
            if not _is_link_tag(tag) or _is_hidden(content, start, at):
                return None
            tags.append(tag)
        at = content.find(words, end) if end else -1
    return tags


def _is_hidden(content: bytes, start: int, at: int) -> bool:
    """Whether a comment or a script may be open there: the last one that began did not end."""
    comment, script = content.rfind(b"<!--", start, at), content.rfind(b"<script", start, at)
    if comment >= 0 and content.find(b"-->", comment + 4, at) < 0:
        return True
    return script >= 0 and content.find(b"</script", script, at) < 0


def folder_of(url: str) -> str:
    path = url.partition("?")[0]
    return path[: path.rfind("/") + 1]
