"""What was found on a page, whichever way it was read, and how PageLinks come of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from itertools import islice, repeat
from typing import Final

from crawler.web.directives import UNRESTRICTED
from crawler.web.links.model import Image, Link, PageLinks
from crawler.web.links.resolving import Hrefs

MAX_LINKS: Final = 20_000
MAX_IMAGES: Final = 20_000
_MOST_BASE_CHARACTERS: Final = 32 * 1024 * 1024  # that may be repeated in the URLs of links, and of images
_LONGEST_REMEMBERED: Final = 100

Relations = tuple[str, ...]
FoundLink = tuple[str, str, str, Relations]  # tag, href without fragment, text, rel
FoundImage = tuple[str, str, Mapping[str, str]]  # where it stood, href, attributes of its element

_pixels = re.compile(r"[\t\n\f\r ]*+([0-9]{1,6})(?![0-9%])").match
_new_link = partial(tuple.__new__, Link)


class Findings:
    """What a page holds, in its order and as written.

    ``links`` has one entry per target: under its href for ``a``, under tag and href for the others.
    """

    __slots__ = ("base_href", "canonical", "images", "links", "next", "refreshed", "robots")

    def __init__(self) -> None:
        self.links: dict[object, FoundLink] = {}
        self.images: list[FoundImage] = []
        self.base_href: str | None = None
        self.canonical: str | None = None
        self.next: str | None = None
        self.refreshed = False
        self.robots = UNRESTRICTED

    def add_link(self, tag: str, href: str, text: str, rel: str) -> None:
        reference = href.partition("#")[0]
        relations = relations_of(rel) if rel else ()
        if self.next is None and "next" in relations:
            self.next = reference
        key = reference if tag == "a" else (tag, reference)
        known = self.links.get(key)
        if known is None:
            self.links[key] = (tag, reference, text, relations)
        elif is_improvable(known):
            self.links[key] = _merged(known, text, relations)

    def add_images(self, source: str, hrefs: Iterable[str], attributes: Mapping[str, str]) -> None:
        room = MAX_IMAGES - len(self.images)
        self.images.extend((source, href, attributes) for href in islice(hrefs, room) if href[:5].lower() != "data:")

    def page_links(self, base: str, hrefs: Hrefs) -> PageLinks:
        most = _MOST_BASE_CHARACTERS // (len(base) + 1)
        return PageLinks(
            _links(self, hrefs, min(most, MAX_LINKS)),
            _images(self, hrefs, most) if self.images else (),
            hrefs.url(self.canonical) or None if self.canonical is not None else None,
            hrefs.url(self.next) or None if self.next is not None else None,
            self.robots,
            base,
        )


def is_improvable(known: FoundLink) -> bool:
    """False when another link to the same place has nothing to add: there is a text and leave to follow."""
    return not known[2] or "nofollow" in known[3]


def relations_of(rel: str) -> Relations:
    """The words of a ``rel`` attribute."""
    return _remembered_relations(rel) if len(rel) <= _LONGEST_REMEMBERED else _relations(rel)


def _relations(rel: str) -> Relations:
    return tuple(dict.fromkeys(rel.lower().split()))


_remembered_relations = lru_cache(512)(_relations)


def _merged(known: FoundLink, text: str, relations: Relations) -> FoundLink:
    """Two links to one place: the first text, and nofollow only if both say so."""
    tag, reference, known_text, known_relations = known
    return tag, reference, known_text or text, relations if "nofollow" in known_relations else known_relations


def _links(found: Findings, hrefs: Hrefs, most: int) -> tuple[Link, ...]:
    if not found.links or not most:
        return ()
    tags, references, texts, rels = zip(*islice(found.links.values(), most), strict=True)
    urls = hrefs.urls(references)
    nofollows = repeat(True) if found.robots.nofollow else ["nofollow" in rel for rel in rels]
    links = map(_new_link, zip(urls, texts, rels, nofollows, tags, strict=False))
    distinct = set(urls)
    return tuple(links if len(distinct) == len(urls) and "" not in distinct else _distinct(links))


def _distinct(links: Iterable[Link]) -> Iterable[Link]:
    """Without those that lead nowhere, and one for each target."""
    by_target: dict[tuple[str, str], Link] = {}
    for link in links:
        target = link.url, link.tag
        if link.url:
            by_target[target] = _joined(by_target[target], link) if target in by_target else link
    return by_target.values()


def _joined(first: Link, second: Link) -> Link:
    """As ``_merged``, for hrefs that turned out to mean the same."""
    text = first.text or second.text
    return (second if first.nofollow and not second.nofollow else first)._replace(text=text)


def _images(found: Findings, hrefs: Hrefs, most: int) -> tuple[Image, ...]:
    by_url: dict[str, Image] = {}
    urls = hrefs.urls(href for _, href, _ in found.images[:most])
    for url, (source, _, attributes) in zip(urls, found.images, strict=False):
        if url and url not in by_url:
            alt = " ".join(attributes.get("alt", "").split())
            by_url[url] = Image(url, alt, source, _pixels_of(attributes, "width"), _pixels_of(attributes, "height"))
    return tuple(by_url.values())


def _pixels_of(attributes: Mapping[str, str], name: str) -> int | None:
    found = _pixels(attributes.get(name, ""))
    return int(found[1]) if found else None
